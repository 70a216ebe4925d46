#include "lab/frame_loss.h"

#include <linux/bpf.h>
#include <linux/if_link.h>
#include <net/if.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "net/socket.h"

namespace hocket {
namespace {

constexpr const char* kLicense = "Apache-2.0";

int bpf(bpf_cmd command, bpf_attr& what) { return static_cast<int>(::syscall(SYS_bpf, command, &what, sizeof(what))); }

tl::unexpected<Error> refused(std::string_view step, int error) {
  return fail(Code::kUnsupported, "a loss on links needs BPF in the kernel, which {}: {}", step, system_words(error));
}

std::uint64_t address_of(const void* place) { return reinterpret_cast<std::uintptr_t>(place); }

bpf_insn instruction(int code, int target, int source, int offset, std::int64_t value) {
  bpf_insn made{};
  made.code = static_cast<std::uint8_t>(code);
  made.dst_reg = static_cast<std::uint8_t>(target) & 0xfU;
  made.src_reg = static_cast<std::uint8_t>(source) & 0xfU;
  made.off = static_cast<std::int16_t>(offset);
  made.imm = static_cast<std::int32_t>(value);
  return made;
}

/// `if (random() >= limit) return pass; ++counters[link]; return drop;`
std::array<bpf_insn, 15> lossy_program(int counters, LinkId link, std::uint32_t limit) {
  constexpr int kToPass = 11;
  constexpr int kToDrop = 2;
  return {
      instruction(BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_get_prandom_u32),
      instruction(BPF_JMP32 | BPF_JGE | BPF_K, BPF_REG_0, 0, kToPass, limit),
      instruction(BPF_ST | BPF_MEM | BPF_W, BPF_REG_10, 0, -4, link),
      instruction(BPF_ALU64 | BPF_MOV | BPF_X, BPF_REG_2, BPF_REG_10, 0, 0),
      // NOLINTNEXTLINE(misc-redundant-expression): two names of 0
      instruction(BPF_ALU64 | BPF_ADD | BPF_K, BPF_REG_2, 0, 0, -4),
      instruction(BPF_LD | BPF_IMM | BPF_DW, BPF_REG_1, BPF_PSEUDO_MAP_FD, 0, counters),
      instruction(0, 0, 0, 0, 0),  // the other half of the one before
      instruction(BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_map_lookup_elem),
      instruction(BPF_JMP | BPF_JEQ | BPF_K, BPF_REG_0, 0, kToDrop, 0),
      instruction(BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_1, 0, 0, 1),
      instruction(BPF_STX | BPF_ATOMIC | BPF_DW, BPF_REG_0, BPF_REG_1, 0, BPF_ADD),
      instruction(BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_0, 0, 0, XDP_DROP),
      instruction(BPF_JMP | BPF_EXIT, 0, 0, 0, 0),
      instruction(BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_0, 0, 0, XDP_PASS),
      instruction(BPF_JMP | BPF_EXIT, 0, 0, 0, 0),
  };
}

}  // namespace

Result<FrameLoss> FrameLoss::make(std::size_t links) {
  bpf_attr what{};
  what.map_type = BPF_MAP_TYPE_ARRAY;
  what.key_size = sizeof(std::uint32_t);
  what.value_size = sizeof(std::uint64_t);
  what.max_entries = static_cast<std::uint32_t>(links);
  Descriptor counters(bpf(BPF_MAP_CREATE, what));
  if (!counters.open()) return refused("makes no counters", errno);
  return FrameLoss(std::move(counters), links);
}

Result<void> FrameLoss::add(LinkId link, double share, const std::string& device, const NetworkNamespace& there,
                            const NetworkNamespace& home) {
  const auto program = lossy_program(counters_.get(), link, static_cast<std::uint32_t>(share * 4294967296.0));
  bpf_attr load{};
  load.prog_type = BPF_PROG_TYPE_XDP;
  load.insns = address_of(program.data());
  load.insn_cnt = static_cast<std::uint32_t>(program.size());
  load.license = address_of(kLicense);
  const Descriptor loaded(bpf(BPF_PROG_LOAD, load));
  if (!loaded.open()) return refused("takes no program", errno);
  const NetworkNamespace::Inside inside(there, home);
  bpf_attr attach{};
  attach.link_create.prog_fd = static_cast<std::uint32_t>(loaded.get());
  attach.link_create.target_ifindex = ::if_nametoindex(device.c_str());
  attach.link_create.attach_type = BPF_XDP;
  attach.link_create.flags = XDP_FLAGS_SKB_MODE;  // the device's own mode would have every frame cut into packets
  Descriptor attached(bpf(BPF_LINK_CREATE, attach));
  if (!attached.open()) return refused("puts no program on a device", errno);
  attached_.push_back(std::move(attached));
  return {};
}

Result<std::vector<std::uint64_t>> FrameLoss::lost() const {
  std::vector<std::uint64_t> counts(links_);
  for (std::uint32_t link = 0; link < links_; ++link) {
    bpf_attr what{};
    what.map_fd = static_cast<std::uint32_t>(counters_.get());
    what.key = address_of(&link);
    what.value = address_of(&counts[link]);
    if (bpf(BPF_MAP_LOOKUP_ELEM, what) != 0) return refused("does not say what it has counted", errno);
  }
  return counts;
}

}  // namespace hocket
