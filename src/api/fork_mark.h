// ForkMark: tells whether this process is the one that made it, without a system call: its page is wiped in children.
// Sockets of a job are its ranks' alone; a child that used them would break the stream of its parent.
// Ownership: one page. Threading: immutable after construction.
// Refuses: nothing; where the kernel cannot wipe, process numbers are compared.
#pragma once

#include <sys/types.h>

namespace hocket {

class ForkMark {
 public:
  ForkMark();
  ~ForkMark();
  ForkMark(const ForkMark&) = delete;
  ForkMark& operator=(const ForkMark&) = delete;

  [[nodiscard]] bool is_child() const;
  [[nodiscard]] pid_t owner() const { return owner_; }

 private:
  pid_t owner_;
  unsigned char* page_ = nullptr;
};

}  // namespace hocket
