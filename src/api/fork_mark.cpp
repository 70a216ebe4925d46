#include "api/fork_mark.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>

namespace hocket {
namespace {

constexpr std::size_t kPageBytes = 4096;

}  // namespace

ForkMark::ForkMark() : owner_(::getpid()) {
  void* page = ::mmap(nullptr, kPageBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return;
  if (::madvise(page, kPageBytes, MADV_WIPEONFORK) != 0) {
    ::munmap(page, kPageBytes);
    return;
  }
  page_ = static_cast<unsigned char*>(page);
  *page_ = 1;
}

ForkMark::~ForkMark() {
  if (page_ != nullptr) ::munmap(page_, kPageBytes);
}

bool ForkMark::is_child() const { return page_ != nullptr ? *page_ == 0 : ::getpid() != owner_; }

}  // namespace hocket
