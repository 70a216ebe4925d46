#include "lab/program.h"

#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "lab/memory_file.h"
#include "net/socket.h"

namespace hocket {
namespace {

constexpr int kNotThere = 127;  // as shells have it

/// The last line that is not empty.
std::string last_words(const std::string& text) {
  std::string_view words(text);
  while (words.ends_with('\n')) words.remove_suffix(1);
  // `ip -batch` ends with a line that only counts: "Command failed -:3".
  words = words.substr(0, words.rfind("\nCommand failed"));
  return std::string(words.substr(words.rfind('\n') + 1));
}

[[noreturn]] void become(char* const* arguments, int input, int errors, pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);
  ::dup2(input, STDIN_FILENO);
  ::dup2(errors, STDOUT_FILENO);
  ::dup2(errors, STDERR_FILENO);
  ::execvp(arguments[0], arguments);
  ::_exit(errno == ENOENT ? kNotThere : 1);
}

/// The wait status, after SIGKILL when the limit has passed.
Result<int> end_of(pid_t child, const std::string& name, std::chrono::milliseconds limit) {
  const Descriptor handle(static_cast<int>(::syscall(SYS_pidfd_open, child, 0)));
  pollfd ended{handle.get(), POLLIN, 0};
  const bool late = !handle.open() || wait_for({&ended, 1}, std::chrono::steady_clock::now() + limit) == 0;
  if (late) ::kill(child, SIGKILL);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (late) return fail(Code::kTimeout, "'{}' has not ended after {} ms", name, limit.count());
  return status;
}

}  // namespace

Result<void> run_program(const std::vector<std::string>& arguments, const std::string& input,
                         std::chrono::milliseconds limit) {
  HOCKET_TRY_ASSIGN(const MemoryFile lines, MemoryFile::make(input));
  HOCKET_TRY_ASSIGN(const MemoryFile errors, MemoryFile::make());
  std::vector<std::string> words = arguments;
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child < 0) return fail(Code::kResourceExhausted, "cannot start '{}': {}", words[0], system_words(errno));
  if (child == 0) become(pointers.data(), lines.descriptor(), errors.descriptor(), parent);
  HOCKET_TRY_ASSIGN(const int status, end_of(child, words[0], limit));
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  if (WIFEXITED(status) && WEXITSTATUS(status) == kNotThere)
    return fail(Code::kUnsupported, "the lab needs the program '{}' (of iproute2), which is not there", words[0]);
  return fail(Code::kUnsupported, "{}: {}", words[0], last_words(errors.text()));
}

}  // namespace hocket
