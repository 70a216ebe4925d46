#include "transport/shm/shm_segment.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>

#include "net/socket.h"
#include "transport/sealed_memory.h"

namespace hocket {
namespace {

constexpr std::uint64_t kMagic = 0x686f636b65740002ULL;
constexpr std::size_t kPage = 4096;
constexpr std::size_t kHugePage = std::size_t{2} << 20;
/// With few ranks one ring is as long as a second-level cache, for what bounce_slots.h says of memory written again;
/// all those of a rank together stay in the caches that cores share. One ring takes a small message at least.
constexpr std::size_t kRingBytesMax = std::size_t{1} << 20;
constexpr std::size_t kRingBytesMin = std::size_t{16} << 10;
constexpr std::size_t kRingBytesOfRank = std::size_t{2} << 20;
/// More than the second-level cache of a core (bounce_slots.h says why); those of all ranks together less than what
/// cores share, unless there are many.
constexpr std::size_t kBounceBytesMax = std::size_t{2} << 20;
constexpr std::size_t kBounceBytesMin = std::size_t{1} << 20;
constexpr std::size_t kBounceBytesOfAll = std::size_t{16} << 20;
/// All of it below a huge page, which the first byte would take.
constexpr std::size_t kRingBytesOfMessages = std::size_t{128} << 10;
constexpr std::size_t kBounceBytesOfMessages = std::size_t{512} << 10;

std::size_t round_up(std::size_t bytes, std::size_t unit) { return (bytes + unit - 1) / unit * unit; }

std::size_t ring_size_for(std::uint32_t ranks) {
  const std::size_t each = std::bit_floor(kRingBytesOfRank / std::max<std::size_t>(ranks, 1));
  return std::clamp(each, kRingBytesMin, kRingBytesMax);
}

std::size_t bounce_size_for(std::uint32_t ranks) {
  const std::size_t each = std::bit_floor(kBounceBytesOfAll / std::max<std::size_t>(ranks, 1));
  return std::clamp(each, kBounceBytesMin, kBounceBytesMax);
}

}  // namespace

struct ShmSegment::Head {
  std::uint64_t magic = 0;
  std::uint64_t size = 0;
  Nonce token{};
};

ShmSegment::ShmSegment(std::uint32_t ranks, Use use)
    : ranks_(ranks),
      use_(use),
      ring_size_(use == Use::kMessages ? kRingBytesOfMessages : ring_size_for(ranks)),
      bounce_bytes_(use == Use::kMessages ? kBounceBytesOfMessages : bounce_size_for(ranks)),
      states_begin_(kPage),
      board_begin_(round_up(states_begin_ + ranks * sizeof(RankState), kPage)),
      rings_begin_(round_up(board_begin_ + ranks * sizeof(BoardSlots), kPage)),
      bytes_begin_(round_up(rings_begin_ + std::size_t{ranks} * ranks * sizeof(Ring), kPage)),
      bounce_begin_(
          round_up(bytes_begin_ + std::size_t{ranks} * ranks * ring_size_, use == Use::kMessages ? kPage : kHugePage)),
      size_(bounce_begin_ + std::size_t{ranks} * bounce_bytes_) {}

ShmSegment::~ShmSegment() {
  if (base_ != nullptr) ::munmap(base_, size_);
}

ShmSegment::Head& ShmSegment::head() const { return *reinterpret_cast<Head*>(base_); }
ShmSegment::RankState* ShmSegment::states() const { return reinterpret_cast<RankState*>(base_ + states_begin_); }
ShmSegment::Ring* ShmSegment::rings() const { return reinterpret_cast<Ring*>(base_ + rings_begin_); }
const Nonce& ShmSegment::token() const { return head().token; }

void ShmSegment::touch(std::uint32_t rank) {
  if (use_ == Use::kMessages) return;
#ifdef MADV_POPULATE_WRITE
  for (std::uint32_t peer = 0; peer < ranks_; ++peer) {
    if (peer != rank) ::madvise(ring_bytes(rank, peer).data(), ring_size_, MADV_POPULATE_WRITE);
  }
  ::madvise(bounce_memory(rank), bounce_bytes_, MADV_POPULATE_WRITE);
#endif
}

std::string ShmSegment::where() const { return fmt::format("/proc/{}/fd/{}", ::getpid(), file_.get()); }

Result<void> ShmSegment::attach() {
  void* memory = ::mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_SHARED, file_.get(), 0);
  if (memory == MAP_FAILED)
    return fail(Code::kResourceExhausted, "cannot map {} bytes of shared memory: {}", size_, system_words(errno));
  base_ = static_cast<std::byte*>(memory);
  if (size_ >= kHugePage) ::madvise(base_, size_, MADV_HUGEPAGE);  // where the system has them for shared memory
  return {};
}

Result<std::shared_ptr<ShmSegment>> ShmSegment::create(std::uint32_t ranks, Use use) {
  if (ranks > kRanksMax)
    return fail(Code::kUnsupported, "{} ranks in shared memory: {} are the most", ranks, kRanksMax);
  HOCKET_TRY_ASSIGN(const Nonce token, fresh_nonce());
  std::shared_ptr<ShmSegment> made(new ShmSegment(ranks, use));
  HOCKET_TRY_ASSIGN(made->file_, sealed_memory("hocket", made->size_, made->bytes_begin_));
  HOCKET_TRY(made->attach());
  made->head() = {kMagic, made->size_, token};
  return made;
}

Result<std::shared_ptr<ShmSegment>> ShmSegment::map(const std::string& where, const Nonce& token, std::uint32_t ranks,
                                                    Use use) {
  if (ranks > kRanksMax)
    return fail(Code::kUnsupported, "{} ranks in shared memory: {} are the most", ranks, kRanksMax);
  Descriptor file(::open(where.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK));
  if (!file.open()) return fail(Code::kUnsupported, "cannot open '{}': {}", where, system_words(errno));
  std::shared_ptr<ShmSegment> made(new ShmSegment(ranks, use));
  made->file_ = std::move(file);
  struct stat status {};
  const bool known = ::fstat(made->file_.get(), &status) == 0 && S_ISREG(status.st_mode) &&
                     static_cast<std::size_t>(status.st_size) == made->size_ &&
                     (::fcntl(made->file_.get(), F_GET_SEALS) & F_SEAL_SHRINK) != 0;
  if (!known) return fail(Code::kMismatch, "'{}' is not shared memory of a job of {} ranks", where, ranks);
  HOCKET_TRY(made->attach());
  made->close_door();
  if (made->head().magic != kMagic || made->head().size != made->size_ || made->token() != token)
    return fail(Code::kMismatch, "'{}' is shared memory of another job", where);
  return made;
}

}  // namespace hocket
