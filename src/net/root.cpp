#include "net/root.h"

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
  const std::size_t space = words.find(' ');
  HOCKET_TRY_ASSIGN(const Endpoint endpoint, parse_endpoint(words.substr(0, space)));
  HOCKET_TRY_ASSIGN(const Address address, resolve(endpoint));
  return RootWords{address, space == std::string::npos ? "" : words.substr(space + 1)};
}

}  // namespace hocket
