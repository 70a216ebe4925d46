// Text made safe for a page: names come from files and may hold anything.
// Ownership: returns text. Threading: pure functions.
// Refuses: nothing; bytes that are not UTF-8 and characters HTML forbids become U+FFFD.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "base/units.h"
#include "topology/topology.h"

namespace hocket {

/// Safe as element content and inside a quoted attribute.
[[nodiscard]] std::string escape_html(std::string_view text);

/// "64 MiB": the exact size with a blank before the unit.
[[nodiscard]] std::string readable_bytes(Bytes size);

/// "1.12 ms", "640 µs".
[[nodiscard]] std::string readable_time(Seconds time);

/// What the page calls a network: a file without its folders.
[[nodiscard]] std::string network_name(const Topology& topology);

/// "npu 0 → npu 1", escaped.
[[nodiscard]] std::string link_name(const Topology& topology, LinkId link);

/// A document as the content of a script element: no '<' is left in it, so that nothing can close the element.
[[nodiscard]] std::string embed_json(const nlohmann::ordered_json& document);

}  // namespace hocket
