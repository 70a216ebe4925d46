// Member: what a rank leaves of itself for the others of its job, in one line of the rendezvous:
// "address:port process ranks connections lines hash place host", lines and hash being the mark of its cables.
// Ownership: plain values. Threading: pure functions.
// Refuses: lines that are none, and ranks that take the job for another than we do (an Error with both and what they
// take it for).
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "net/address.h"
#include "net/host_place.h"
#include "net/link_addresses.h"

namespace hocket {

struct Member {
  std::uint32_t rank = 0;
  std::string host;
  std::int64_t process = 0;
  Address address;
  HostPlace place{};

  [[nodiscard]] std::string text() const;  // "rank 2 (host a, pid 17)"
};

/// This host as its ranks call it; "?" when it does not say.
[[nodiscard]] std::string host_name();

/// What all ranks must have been told alike, as rank `rank` was.
struct JobTerms {
  std::uint32_t rank = 0;
  std::uint32_t ranks = 1;
  std::uint32_t connections = 1;
  LinkAddresses::Mark cables{};
};

[[nodiscard]] std::string member_words(const Member& member, const JobTerms& terms);
/// `ours`: what this rank was told.
[[nodiscard]] Result<Member> parse_member(std::uint32_t rank, const std::string& words, const JobTerms& ours);

}  // namespace hocket
