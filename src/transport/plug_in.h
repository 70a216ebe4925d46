// A transport that is no part of this program: a shared library libhocket-NAME.so that was built with it, found by its
// name in the folder HOCKET_PLUGIN_PATH, else where the loader looks. It defines hocket_transport (TransportPlugIn).
// Ownership: a library stays loaded for good. Threading: find() from one thread.
// Refuses: names that are no names of files, libraries that are not there or belong to another build of hocket.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "net/rendezvous.h"
#include "transport/rank_transport.h"

namespace hocket {

struct TransportPlugIn {
  /// As build_text() says it: objects are passed between the two, so both must be made alike.
  const char* build = nullptr;
  Result<std::unique_ptr<RankTransport>> (*open)(Job& job, SteadyTime deadline) = nullptr;
};

/// Of all headers that this was built with: objects of two builds are laid out alike when it is the same.
[[nodiscard]] std::string_view headers_hash();

/// "0.1.0 Release g++ 12.2.0, headers 5a0c7d1e92b4f638"
[[nodiscard]] std::string build_text();

[[nodiscard]] Result<const TransportPlugIn*> find_plug_in(const std::string& name);

}  // namespace hocket
