#include "base/available_memory.h"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <fstream>
#include <sstream>
#include <string_view>
#include <vector>

namespace hocket {
namespace {

constexpr double kGiB = 1 << 30;
/// Version 1 writes "none" as the largest multiple of a page.
constexpr double kNoLimit = 1LL << 60;

/// How a version of control groups spells what is read here.
struct Version {
  std::string_view file_system;
  std::string_view controller;  // its name in /proc/self/cgroup and in the options of the mount
  const char* limit;
  const char* usage;
  std::array<std::string_view, 2> caches;  // of memory.stat
};
constexpr std::array kVersions{
    Version{"cgroup2", "", "memory.max", "memory.current", {"inactive_file", "active_file"}},
    Version{"cgroup",
            "memory",
            "memory.limit_in_bytes",
            "memory.usage_in_bytes",
            {"total_inactive_file", "total_active_file"}},
};

/// The number after a word at the beginning of a line, or the only one for an empty word.
std::optional<double> number_in(const std::string& path, std::string_view key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string word;
    if (!key.empty() && (!(words >> word) || word != key)) continue;
    double number = 0;
    if (words >> number) return number;
    return std::nullopt;
  }
  return std::nullopt;
}

bool lists(std::string_view words, std::string_view word) {
  return ("," + std::string(words) + ",").find("," + std::string(word) + ",") != std::string::npos;
}

/// "4:memory:/job": the path of the group that this process is in.
std::optional<std::string> group_path(const std::string& root, const Version& version) {
  std::ifstream file(root + "/proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string_view controllers = std::string_view(line).substr(first + 1, second - first - 1);
    const bool ours = version.controller.empty() ? controllers.empty() : lists(controllers, version.controller);
    if (ours) return line.substr(second + 1);
  }
  return std::nullopt;
}

struct Mount {
  std::string root;  // the group that is seen at
  std::string point;
};

/// "32 31 0:29 ROOT POINT options [fields] - cgroup source options".
std::optional<Mount> mount_of(const std::string& root, const Version& version) {
  std::ifstream file(root + "/proc/self/mountinfo");
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string word;
    Mount mount;
    for (int i = 0; i < 3; ++i) words >> word;
    words >> mount.root >> mount.point;
    while (words >> word && word != "-") continue;
    std::string type;
    std::string options;
    words >> type >> word >> options;
    if (words && type == version.file_system && (version.controller.empty() || lists(options, version.controller)))
      return mount;
  }
  return std::nullopt;
}

/// Folders of the group and of those above it, as far as they are to be seen.
std::vector<std::string> group_folders(const std::string& root, const Version& version) {
  const std::optional<std::string> path = group_path(root, version);
  const std::optional<Mount> mount = mount_of(root, version);
  if (!path || !mount) return {};
  std::string below = mount->root == "/" ? *path : "";
  if (path->starts_with(mount->root + "/")) below = path->substr(mount->root.size());
  if (below == "/" || below.find("..") != std::string::npos) below.clear();
  std::vector<std::string> folders;
  for (; !below.empty(); below.resize(below.rfind('/'))) folders.push_back(mount->point + below);
  folders.push_back(mount->point);
  return folders;
}

/// What one group leaves, nothing where it has no limit.
std::optional<AvailableMemory> left_in(const std::string& root, const std::string& folder, const Version& version) {
  const std::string path = fmt::format("{}/{}", folder, version.limit);
  const std::optional<double> limit = number_in(root + path, "");
  const std::optional<double> usage = number_in(fmt::format("{}{}/{}", root, folder, version.usage), "");
  if (!limit || !usage || *limit >= kNoLimit) return std::nullopt;
  double left = *limit - *usage;
  for (const std::string_view cache : version.caches)
    left += number_in(fmt::format("{}{}/memory.stat", root, folder), cache).value_or(0);
  return AvailableMemory{std::clamp(left, 0.0, *limit), fmt::format("{} is {:.1f} GiB", path, *limit / kGiB)};
}

}  // namespace

std::string AvailableMemory::text() const {
  return fmt::format("{:.1f} GiB are available{}", bytes / kGiB, limit.empty() ? "" : fmt::format(" ({})", limit));
}

std::optional<AvailableMemory> available_memory(const std::string& root) {
  std::optional<AvailableMemory> least;
  if (const std::optional<double> kib = number_in(root + "/proc/meminfo", "MemAvailable:"))
    least = AvailableMemory{*kib * 1024, {}};
  for (const Version& version : kVersions) {
    for (const std::string& folder : group_folders(root, version)) {
      std::optional<AvailableMemory> left = left_in(root, folder, version);
      if (left && (!least || left->bytes < least->bytes)) least = std::move(left);
    }
  }
  return least;
}

}  // namespace hocket
