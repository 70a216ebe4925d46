// circle_text(): how a circle of waiters is written: "rank 0 waits for rank 2, that for rank 1, that for rank 0".
// For whoever finds out that ranks wait for each other, over connections or through the store.
// Ownership: values. Threading: pure function. Refuses: nothing; no names give no text.
#pragma once

#include <span>
#include <string>

namespace hocket {

[[nodiscard]] inline std::string circle_text(std::span<const std::string> names) {
  if (names.empty()) return {};
  std::string text = names.front() + " waits for ";
  for (const std::string& name : names.subspan(1)) text += name + ", that for ";
  return text + names.front();
}

}  // namespace hocket
