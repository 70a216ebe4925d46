// PlanCache: a folder of chosen plans that later runs, and other machines, need not look for again. An entry is a .hkt
// file, which every verb reads, and a .json beside it with the key: topology fingerprint, collective, size class (a
// power of two of bytes), what the choice depends on (options, scores), version and table of algorithms.
// An entry is used only after its key was compared word for word, its schedule has the fingerprint that the key states
// and is proved again; anything else is named and planned anew. Files are written whole or not at all; two writers of
// one entry leave that of the last. Ownership: keeps the folder's name. Threading: one owner per object.
// Refuses: folders that cannot be made or read.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "planner/planner.h"

namespace hocket {

class PlanCache {
 public:
  /// Makes the folder where it is missing.
  [[nodiscard]] static Result<PlanCache> open(const std::string& folder);

  /// The entry as a planning of one candidate, simulated for `what`; nothing when there is none or it is damaged, which
  /// `damage` then says.
  [[nodiscard]] Result<std::optional<Planning>> find(const Topology& topology, const BoundCollective& what,
                                                     const PlanningOptions& options, std::string& damage) const;
  /// Returns the entry's path.
  [[nodiscard]] Result<std::string> store(const Topology& topology, const BoundCollective& what,
                                          const PlanningOptions& options, const Planning& planning) const;

 private:
  explicit PlanCache(std::string folder) : folder_(std::move(folder)) {}
  std::string folder_;
};

struct CacheEntry {
  std::string path;
  std::string collective, topology, algorithm;
  std::uint32_t ranks = 0;
  std::int64_t from = 0, to = 0;  // sizes of its class, both included
  bool spread = false;            // planned with messages spread over the links where that is faster
  std::string damage;             // empty: it is whole and of this version
};

/// Every entry of a folder in the order of names; schedules are read and compared with their keys, not proved.
[[nodiscard]] Result<std::vector<CacheEntry>> list_cache(const std::string& folder);

}  // namespace hocket
