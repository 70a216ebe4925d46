// SlowCables: cables with a latency that the kernel cannot give them (it has no netem everywhere): each end is a TAP
// device, and a process of ours holds every frame for the latency of its link before it hands it to the other end. The
// rate is still the token bucket's. For small networks: frames pass through one process, which adds some tens of
// microseconds.
// Ownership: the process, which dies with this one; the devices go with it. Threading: one owner.
// Refuses: systems without /dev/net/tun.
#pragma once

#include <sys/types.h>

#include <vector>

#include "lab/namespace.h"
#include "lab/wiring.h"

namespace hocket {

class SlowCables {
 public:
  /// Latencies below are the kernel's own (some 10 us), however small the one that was asked for.
  static constexpr Seconds kLeast{0.5e-3};

  SlowCables() = default;
  SlowCables(const SlowCables&) = delete;
  SlowCables& operator=(const SlowCables&) = delete;
  ~SlowCables();

  /// A device for an end, in the namespace where it is.
  [[nodiscard]] Result<void> add_end(const CableEnd& end, const NetworkNamespace& there, const NetworkNamespace& home);
  /// Ends two by two, in the order in which they were added, become cables; from now on frames move.
  [[nodiscard]] Result<void> start();
  /// An error when that process has ended: nothing passes these cables any more.
  [[nodiscard]] Result<void> check() const;
  [[nodiscard]] std::size_t count() const { return ends_.size() / 2; }

 private:
  struct End {
    Descriptor device;
    Seconds latency;
  };
  [[noreturn]] void carry(pid_t parent);

  std::vector<End> ends_;
  pid_t carrier_ = 0;
};

}  // namespace hocket
