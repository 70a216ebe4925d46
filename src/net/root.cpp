#include "net/root.h"

namespace hocket {

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
  if (!near)
    return fail(Code::kInvalidArgument, "rank {}: ranks on several hosts ({}) need {}", launch.rank, launch.source,
                root.address ? "HOCKET_SECRET, the same words everywhere" : "HOCKET_ROOT=host:port of rank 0");
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
