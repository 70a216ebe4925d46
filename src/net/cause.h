// Why a rank ends that fails while ranks meet. One that has died takes others along, and to whoever comes later these
// look dead too: so each tells its error through the store before it ends, and one that has lost another ends by what
// was told before it.
// Ownership: none; the store's client is the job's. Threading: as the client's.
// Refuses: waiting for longer than a moment; a store that does not answer knows nothing.
#pragma once

#include <optional>
#include <string>

#include "net/store.h"

namespace hocket {

/// An error as ranks tell it through the store.
[[nodiscard]] std::string failure_words(const Error& error);
/// Nothing where they make no sense.
[[nodiscard]] std::optional<Error> read_failure(const std::string& words);

/// The error by which `me` ends that has met this one. Of lost ranks (kPeerFailed): what another has told before, or
/// that rank 0 has died; where nobody has told, this one is told. Any other is the rank's own.
[[nodiscard]] Error told_cause(StoreClient& store, Error error, const std::string& me);

}  // namespace hocket
