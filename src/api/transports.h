// open_transport(): the one place that chooses how the ranks of a communicator talk: a name, and what makes it.
// Ownership: takes the connections of the job. Threading: one owner.
// Refuses: unknown names, listing those known.
#pragma once

#include <memory>
#include <string_view>

#include "net/rendezvous.h"
#include "transport/rank_transport.h"

namespace hocket {

/// `names`: how errors call each rank.
[[nodiscard]] Result<std::unique_ptr<RankTransport>> open_transport(std::string_view name, std::uint32_t rank,
                                                                    std::vector<std::string> names,
                                                                    std::vector<Descriptor> links);
/// An error for a name that open_transport() does not know.
[[nodiscard]] Result<void> check_transport(std::string_view name);

}  // namespace hocket
