#include "net/root.h"

#include <algorithm>

#include "net/secret.h"

namespace hocket {
namespace {

/// Why ranks that may be on several hosts cannot meet. How many hosts there are the launcher has said, or nobody knows.
tl::unexpected<Error> cannot_meet(const Launch& launch, const std::optional<Address>& address) {
  if (address)
    return fail(Code::kInvalidArgument,
                "rank {}: rank 0 is at {}, which is not loopback: that needs HOCKET_SECRET, the same words everywhere",
                launch.rank, address->text());
  if (launch.local_size == 0)
    return fail(
        Code::kInvalidArgument,
        "rank {}: {} does not say how many of the {} ranks are on this host: set HOCKET_ROOT=host:port of rank 0",
        launch.rank, launch.source, launch.size);
  return fail(Code::kInvalidArgument,
              "rank {}: ranks on several hosts ({}: {} of {} are on this one) need HOCKET_ROOT=host:port of rank 0",
              launch.rank, launch.source, launch.local_size, launch.size);
}

/// Rank 0 leaves numbers: a name would be asked of the system's resolver.
bool is_number(const std::string& host) {
  return host.find(':') != std::string::npos || host.find_first_not_of("0123456789.") == std::string::npos;
}

std::optional<Address> left_address(const std::string& text) {
  const Result<Endpoint> endpoint = parse_endpoint(text);
  if (!endpoint || !is_number(endpoint->host)) return std::nullopt;
  const Result<Address> address = resolve(*endpoint);
  if (!address || address->text() != text) return std::nullopt;
  return *address;
}

}  // namespace

Result<Root> find_root(const Launch& launch, bool has_secret) {
  Root root;
  if (launch.root.starts_with(kRootFile)) {
    HOCKET_TRY_ASSIGN(root.file, path_of_root(launch.root));
    root.folder = PrivateFile::Folder::kOfUser;
    return root;
  }
  if (!launch.root.empty()) {
    HOCKET_TRY_ASSIGN(const Endpoint endpoint, parse_endpoint(launch.root));
    const Result<Address> address = resolve(endpoint);
    if (!address)
      return fail(address.error().code, "rank {}: {}{}{}", launch.rank, launch.root_name,
                  launch.root_name.empty() ? "" : ": ", address.error().text);
    root.address = *address;
  }
  const bool near = root.address ? root.address->is_loopback() : launch.one_host();
  if (near && launch.local_size != 0 && !launch.one_host())
    return fail(Code::kInvalidArgument, "rank {}: rank 0 is at loopback {}, but {} of {} ranks are on this host",
                launch.rank, root.address->text(), launch.local_size, launch.size);
  if (has_secret && root.address) return root;
  if (!near) return cannot_meet(launch, root.address);
  const std::string job = root.address ? fmt::format("port-{}", root.address->port()) : launch.job;
  if (job.empty())
    return fail(Code::kInvalidArgument, "rank {}: {} does not say where rank 0 is: set HOCKET_ROOT=host:port",
                launch.rank, launch.source);
  HOCKET_TRY_ASSIGN(root.file, private_path(job));
  return root;
}

Result<RootWords> parse_root(const std::string& words) {
  const std::string place = words.substr(0, words.find(' '));
  const std::string secret = words.substr(std::min(words.size(), place.size() + 1));
  const std::optional<Address> address = left_address(place);
  if (!address || !Secret::from_text(secret))
    return fail(Code::kMalformed, "it does not hold what rank 0 leaves, an address and a secret");
  return RootWords{*address, secret};
}

Result<void> check_replaceable(const Root& root) {
  if (root.file.empty()) return {};
  HOCKET_TRY_ASSIGN(const std::optional<std::string> words, read_private(root.file));
  if (!words || words->empty() || root.folder == PrivateFile::Folder::kOurs) return {};
  const Result<RootWords> named = parse_root(*words);
  if (named) return {};
  return fail(named.error().code, "'{}' stays as it is: {}", root.file, named.error().text);
}

}  // namespace hocket
