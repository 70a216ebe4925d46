// chain_text() and circle_text(): how waiters are written: "rank 0 waits for rank 2, that for rank 1", and in a circle
// also "that for rank 0". For whoever finds out that ranks wait for each other, over connections or through the store.
// Long ones name the first few and the last. Ownership: values. Threading: pure functions. Refuses: nothing; no names
// give no text.
#pragma once

#include <span>
#include <string>

#include "base/listing.h"

namespace hocket {

[[nodiscard]] inline std::string chain_text(std::span<const std::string> names) {
  const std::size_t left_out = names.size() > kListedMax + 1 ? names.size() - kListedMax - 1 : 0;
  std::string text = names.empty() ? std::string() : names.front() + " waits for ";
  for (std::size_t i = 1; i < names.size(); ++i) {
    if (left_out > 0 && i == kListedMax) {
      text += ", and so on over " + std::to_string(left_out) + " more";
      i += left_out;
    }
    text += (i == 1 ? "" : ", that for ") + names[i];
  }
  return text;
}

[[nodiscard]] inline std::string circle_text(std::span<const std::string> names) {
  return names.empty() ? std::string() : chain_text(names) + ", that for " + names.front();
}

}  // namespace hocket
