// NCCL and RCCL topology XML (NCCL_TOPO_FILE, NCCL_TOPO_DUMP_FILE): cpu > pci > gpu | nic, nvlink, xgmi, c2c.
// Reading and its assumptions: exchange/nccl_system.h. Writing: exchange/nccl_write.h.
#include <algorithm>
#include <span>

#include "exchange/nccl_system.h"
#include "exchange/nccl_write.h"
#include "exchange/text_place.h"
#include "exchange/topology_format.h"

namespace hocket {
namespace {

bool recognise(std::string_view text) { return root_element(text) == "system"; }

Result<ReadTopology> read(std::string_view text, std::string_view file_name) {
  HOCKET_TRY_ASSIGN(NcclSystem system, read_nccl_system(text, file_name));
  if (system.ranks.empty()) {
    const std::string hint =
        R"(a device list is needed: add class="0x030200" (or vendor="0x10de") to the <pci> elements of the GPUs)";
    if (system.unknown_devices.empty()) return fail(Code::kUnsupported, "{}: no GPU in the file; {}", file_name, hint);
    return fail(
        Code::kUnsupported, "{}: {} devices of unknown class ({}) and no GPU; {}", file_name,
        system.unknown_devices.size(),
        fmt::join(std::span(system.unknown_devices).first(std::min<std::size_t>(system.unknown_devices.size(), 16)),
                  " "),
        hint);
  }
  TopologyBuilder builder{std::string(file_name), "file"};
  for (Vertex& v : system.vertices) builder.add_vertex(std::move(v.name), v.kind);
  for (const NcclSystem::Cable& cable : system.cables) {
    builder.add_link(cable.from, cable.to, cable.bandwidth, cable.latency);
    if (cable.both_ways) builder.add_link(cable.to, cable.from, cable.bandwidth, cable.latency);
  }
  if (system.gpu_links > 0 && system.gpu_components.size() > 1) {
    builder.add_note(fmt::format("{} GPU-link components, joined over PCIe only", system.gpu_components.size()));
  }
  builder.set_ranks(std::move(system.ranks));
  return build_with_losses(std::move(builder), std::move(system.losses));
}

Result<std::string> describe_text(std::string_view text, std::string_view file_name) {
  HOCKET_TRY_ASSIGN(const NcclSystem system, read_nccl_system(text, file_name));
  return describe(system);
}

}  // namespace

extern const TopologyFormat topology_format_nccl_xml{
    .name = "nccl-xml",
    .extensions = ".xml",
    .description = "NCCL or RCCL topology XML",
    .recognise = recognise,
    .read = read,
    .write = write_nccl_xml,
    .describe = describe_text,
};

}  // namespace hocket
