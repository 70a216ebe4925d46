#include "support/left_behind.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace hocket::test {
namespace {

/// /proc/net/tcp's states of a socket that somebody holds: connected, waiting for its owner to close it, listening.
constexpr const char* kHeld[] = {"01", "08", "0A"};

void append_sockets(const char* table, const std::string& port, std::vector<std::string>& found) {
  std::ifstream file(table);
  std::string line;
  std::getline(file, line);  // the headings
  while (std::getline(file, line)) {
    std::istringstream words(line);
    std::string number;
    std::string local;
    std::string remote;
    std::string state;
    words >> number >> local >> remote >> state;
    const bool ours = local.ends_with(port) || remote.ends_with(port);
    const bool held = std::any_of(std::begin(kHeld), std::end(kHeld), [&](const char* each) { return state == each; });
    if (ours && held) found.push_back(fmt::format("{} {} {}", local, remote, state));
  }
}

}  // namespace

std::vector<std::string> sockets_at(std::uint16_t port) {
  std::vector<std::string> found;
  for (const char* table : {"/proc/net/tcp", "/proc/net/tcp6"})
    append_sockets(table, fmt::format(":{:04X}", port), found);
  return found;
}

std::set<std::string> shared_memory() {
  std::set<std::string> names;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/dev/shm", error))
    names.insert(entry.path().filename().string());
  return names;
}

std::vector<std::string> shared_memory_since(const std::set<std::string>& before) {
  const std::set<std::string> now = shared_memory();
  std::vector<std::string> more;
  std::set_difference(now.begin(), now.end(), before.begin(), before.end(), std::back_inserter(more));
  // Other programs use this folder at the same time; ours would be named after hocket.
  std::erase_if(more, [](const std::string& name) { return name.find("hocket") == std::string::npos; });
  return more;
}

}  // namespace hocket::test
