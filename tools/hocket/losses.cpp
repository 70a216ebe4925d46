#include "losses.h"

#include <fmt/format.h>

namespace hocket {

void print_losses(std::string_view word, const LossReport& losses) {
  for (const std::string& line : losses.lines()) fmt::print("{}: {}\n", word, line);
}

nlohmann::ordered_json losses_json(const LossReport& losses) {
  auto list = nlohmann::ordered_json::array();
  for (const Loss& loss : losses.entries()) {
    list.push_back({{"kind", name_of(loss.kind)}, {"where", loss.where}, {"what", loss.what}, {"why", loss.why}});
  }
  return list;
}

}  // namespace hocket
