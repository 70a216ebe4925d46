// FrameLoss: links that lose a random share of the frames they carry. A program of eleven instructions (BPF, at the
// device where a link ends, before the kernel's network stack) drops and counts them; a frame is what TCP handed to the
// device at once, at most 16 KiB. Ownership: descriptors; with them programs and counters go. Threading: one owner.
// Refuses: kernels that take no such program (an Error with their words).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lab/namespace.h"
#include "topology/topology.h"

namespace hocket {

class FrameLoss {
 public:
  /// Counters for that many links.
  [[nodiscard]] static Result<FrameLoss> make(std::size_t links);

  /// From now on `link`, which ends at `device` in `there`, loses `share` of its frames, above 0 and below 1.
  [[nodiscard]] Result<void> add(LinkId link, double share, const std::string& device, const NetworkNamespace& there,
                                 const NetworkNamespace& home);
  /// By link: frames lost so far.
  [[nodiscard]] Result<std::vector<std::uint64_t>> lost() const;

 private:
  FrameLoss(Descriptor counters, std::size_t links) : counters_(std::move(counters)), links_(links) {}

  Descriptor counters_;  // a map of BPF
  std::size_t links_;
  std::vector<Descriptor> attached_;
};

}  // namespace hocket
