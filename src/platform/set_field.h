// set_field(): one field of a platform by its full name, as `hocket info platform` prints it
// ("endpoint.memory_bandwidth", "engines.ace.sram", "network.links.0.latency"), set from the text that a platform file
// would hold. Also the words of the network and of an engine ("network.topology", "engines.ace.order"). What is set so
// has no source. Ownership: changes the caller's platform. Threading: one owner. Refuses: unknown names (kUnsupported,
// suggesting the nearest), wrong units and words. Relations between fields are validate()'s.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "platform/platform.h"

namespace hocket {

[[nodiscard]] Result<void> set_field(Platform& platform, std::string_view name, std::string_view text);

/// Every name that set_field() takes for this platform.
[[nodiscard]] std::vector<std::string> field_names(const Platform& platform);

}  // namespace hocket
