// Witness: what ranks know of a failure beside the connections of their messages. A rank that fails says why before its
// process may end; one that finds connections ended without a word asks before it says who has died. A connection whose
// receiver is busy elsewhere is full, so that words can get lost there; those of the store are quiet.
// Ownership: the store's client is the job's, which outlives its witnesses. Threading: any thread.
// Refuses: waiting for longer than a moment; a store that does not answer knows nothing.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "net/rendezvous.h"

namespace hocket {

struct Testimony {
  std::optional<Error> told;  // by a rank that has failed
  std::string died;           // name of a rank that has ended and would have told, had it failed; empty: none known
};

class Witness {
 public:
  virtual ~Witness() = default;
  virtual void tell(const Error& error) = 0;
  [[nodiscard]] virtual Testimony ask() = 0;
};

/// Through the store of rank 0, which sends what it is told to all ranks, so that it lies there when rank 0 has ended
/// too: one that ends without such words has died of itself. Null in a job without a store.
[[nodiscard]] std::shared_ptr<Witness> make_witness(Job& job);

}  // namespace hocket
