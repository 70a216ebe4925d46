// What reading or writing a file drops or assumes, as lines of text and as JSON.
// Ownership: borrows the report. Threading: prints to stdout, one owner.
// Refuses: nothing.
#pragma once

#include <nlohmann/json.hpp>
#include <string_view>

#include "exchange/loss.h"

namespace hocket {

/// One line an entry, "note: ..." or "lost: ..." by `word`.
void print_losses(std::string_view word, const LossReport& losses);

[[nodiscard]] nlohmann::ordered_json losses_json(const LossReport& losses);

}  // namespace hocket
