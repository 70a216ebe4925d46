// Network-interface tables as JSON, one entry a line, complete and read back. Version 1:
//   {"opcode":"gather","flow":3,"parent":2,"children":[7],"step":6,"start":3,"size":1,"via":[[19]]}
// `start` and `size` are the flow's address and length: in pieces ("unit": "piece"), or, written for a vector of known
// length, in bytes ("unit": "byte", with `elements` and `dtype`). `parent` is null at a flow's root; `via` lists the
// links of each message and is left out where routes are open. Ownership: returns text or tables.
// Threading: pure functions. Refuses: unknown members, numbers out of range, addresses that are not the flow's: named
// by rank and entry; text over 64 MiB.
#pragma once

#include <string>
#include <string_view>

#include "exchange/ni_table.h"

namespace hocket {

[[nodiscard]] bool is_ni_tables(std::string_view text);
/// `amount`: writes addresses in bytes of that vector; nullptr: in pieces.
[[nodiscard]] Result<std::string> write_ni_tables(const NiTables& tables, const BoundCollective* amount = nullptr);
/// Checks each line for itself; schedule_of() checks how they fit together.
[[nodiscard]] Result<NiTables> read_ni_tables(std::string_view text, std::string_view file_name);

}  // namespace hocket
