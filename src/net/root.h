// Root: how a rank knows rank 0: an address, a private file in which rank 0 leaves it, or both. A file holds
// "address:port secret". Ownership: plain values. Threading: pure functions, which may ask the system's resolver.
// Refuses: hosts beyond loopback without a secret or an address, launchers that say neither where rank 0 is nor a job,
// to write over a file of the user's that no rank 0 has left.
#pragma once

#include <optional>
#include <string>

#include "net/address.h"
#include "net/launch.h"
#include "net/private_file.h"

namespace hocket {

struct Root {
  std::optional<Address> address;
  std::string file;  // path; empty when the secret is given and the address known
  PrivateFile::Folder folder = PrivateFile::Folder::kOurs;
};

[[nodiscard]] Result<Root> find_root(const Launch& launch, bool has_secret);

/// What the file holds.
struct RootWords {
  Address address;
  std::string secret;

  [[nodiscard]] std::string text() const { return address.text() + " " + secret; }
};

/// Refuses: anything but what text() gives.
[[nodiscard]] Result<RootWords> parse_root(const std::string& words);

/// An error when rank 0 would destroy what is at the root's file: anything but an empty file or one that a rank 0 left.
[[nodiscard]] Result<void> check_replaceable(const Root& root);

}  // namespace hocket
