#include "net/host_place.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <fstream>

#include "net/private_file.h"

namespace hocket {
namespace {

/// A file, wherever it is seen.
std::string identity_of(const char* path) {
  struct stat found {};
  return ::stat(path, &found) == 0 ? fmt::format("{}:{}", found.st_dev, found.st_ino) : "unknown";
}

}  // namespace

HostPlace HostPlace::own() {
  HostPlace place;
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  if (std::string boot; file >> boot) place.kernel = boot;
  place.network = identity_of("/proc/self/ns/net");
  place.folder = identity_of(private_base().c_str());
  return place;
}

std::string HostPlace::text() const { return fmt::format("{}/{}/{}", kernel, network, folder); }

HostPlace HostPlace::from(std::string_view text) {
  const std::size_t first = text.find('/');
  const std::size_t second = first == std::string_view::npos ? first : text.find('/', first + 1);
  if (second == std::string_view::npos) return {};
  return {std::string(text.substr(0, first)), std::string(text.substr(first + 1, second - first - 1)),
          std::string(text.substr(second + 1))};
}

std::string_view HostPlace::difference(const HostPlace& other) const {
  if (kernel != other.kernel) return "kernel";
  if (network != other.network) return "network namespace";
  if (folder != other.folder) return "folder for private files";
  return {};
}

}  // namespace hocket
