#include "rank_lines.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>

#include "net/socket.h"

namespace hocket {
namespace {

constexpr std::size_t kRememberedMax = 64;

}  // namespace

Result<RankLines> RankLines::make() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0)
    return fail(Code::kResourceExhausted, "no pipe for what ranks say: {}", system_words(errno));
  RankLines lines;
  lines.reader_.reset(ends[0]);
  lines.writer_.reset(ends[1]);
  ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
  return lines;
}

void RankLines::pass_on(bool last) {
  std::array<char, 4096> bytes{};
  for (;;) {
    const ssize_t got = ::read(reader_.get(), bytes.data(), bytes.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    text_.append(bytes.data(), static_cast<std::size_t>(got));
  }
  std::size_t begin = 0;
  for (std::size_t end = text_.find('\n'); end != std::string::npos; end = text_.find('\n', begin)) {
    print(std::string_view(text_).substr(begin, end + 1 - begin));
    begin = end + 1;
  }
  text_.erase(0, begin);
  if (!last || text_.empty()) return;
  print(text_);
  text_.clear();
}

void RankLines::print(std::string_view line) {
  if (silent_) return;
  if (line.starts_with("hocket")) {
    if (std::find(printed_.begin(), printed_.end(), line) != printed_.end()) return;
    if (printed_.size() == kRememberedMax) printed_.pop_front();
    printed_.emplace_back(line);
  }
  std::fwrite(line.data(), 1, line.size(), stderr);
}

}  // namespace hocket
