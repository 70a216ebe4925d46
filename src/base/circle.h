// chain_text() and circle_text(): how waiters are written: "rank 0 waits for rank 2, that for rank 1", and in a circle
// also "that for rank 0". For whoever finds out that ranks wait for each other, over connections or through the store.
// Ownership: values. Threading: pure functions. Refuses: nothing; no names give no text.
#pragma once

#include <span>
#include <string>

namespace hocket {

[[nodiscard]] inline std::string chain_text(std::span<const std::string> names) {
  std::string text;
  for (const std::string& name : names) {
    if (text.empty()) {
      text = name + " waits for ";
    } else {
      text += (&name == &names[1] ? "" : ", that for ") + name;
    }
  }
  return text;
}

[[nodiscard]] inline std::string circle_text(std::span<const std::string> names) {
  return names.empty() ? std::string() : chain_text(names) + ", that for " + names.front();
}

}  // namespace hocket
