#include "lost_rank.h"

#include <unistd.h>

#include <cstring>
#include <fstream>

#include "net/launch.h"
#include "net/rendezvous.h"

namespace hocket {
namespace {

constexpr const char* kVariable = "HOCKET_LOST";

}  // namespace

Result<LostRank> LostRank::make() {
  LostRank made;
  HOCKET_TRY_ASSIGN(made.file_, MemoryFile::make());
  return made;
}

std::string LostRank::variable() const { return fmt::format("{}={}", kVariable, file_->path()); }

void LostRank::note(std::uint32_t rank, pid_t process, int signal) {
  if (noted_) return;
  noted_ = true;
  const std::string words =
      fmt::format("{} before all ranks were connected: signal {} ({}) ended it\n",
                  Member{rank, host_name(), process, {}, {}}.text(), signal, ::sigdescr_np(signal));
  [[maybe_unused]] const ssize_t put = ::pwrite(file_->descriptor(), words.data(), words.size(), 0);
}

bool LostRank::started_here() { return environment(kVariable) != nullptr; }

Result<void> LostRank::check(std::uint32_t me) {
  const char* const path = environment(kVariable);
  std::ifstream file(path == nullptr ? "" : path);
  std::string words;
  if (!std::getline(file, words) || words.empty()) return {};
  return fail(Code::kPeerFailed, "rank {} lost {}", me, words);
}

}  // namespace hocket
