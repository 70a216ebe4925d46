#include "transport/plug_in.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>

#include "base/version.h"

namespace hocket {
namespace {

constexpr const char* kSymbol = "hocket_transport";

bool is_name(const std::string& name) {
  const auto fits = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; };
  return !name.empty() && name.size() <= 32 && std::all_of(name.begin(), name.end(), fits);
}

std::string path_of(const std::string& name) {
  const char* folder = std::getenv("HOCKET_PLUGIN_PATH");  // NOLINT(concurrency-mt-unsafe): nobody writes it
  const std::string file = fmt::format("libhocket-{}.so", name);
  return folder == nullptr || *folder == '\0' ? file : fmt::format("{}/{}", folder, file);
}

}  // namespace

std::string build_text() {
  const BuildStamp stamp = build_stamp();
  return fmt::format("{} {} {}, headers {}", stamp.version, stamp.build_type, stamp.compiler, headers_hash());
}

Result<const TransportPlugIn*> find_plug_in(const std::string& name) {
  if (!is_name(name)) return fail(Code::kInvalidArgument, "unknown transport '{}'; known: auto, shm, tcp", name);
  void* library = ::dlopen(path_of(name).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    return fail(Code::kInvalidArgument, "unknown transport '{}'; known: auto, shm, tcp, and no plug-in: {}", name,
                ::dlerror());  // NOLINT(concurrency-mt-unsafe): of this thread
  }
  const auto* const found = static_cast<const TransportPlugIn*>(::dlsym(library, kSymbol));
  if (found == nullptr || found->open == nullptr || found->build == nullptr)
    return fail(Code::kInvalidArgument, "{} has no {}", path_of(name), kSymbol);
  if (build_text() != found->build) {
    return fail(Code::kMismatch, "{} belongs to hocket {}, this is hocket {}", path_of(name), found->build,
                build_text());
  }
  return found;
}

}  // namespace hocket
