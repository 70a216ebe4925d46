#include "exchange/loss.h"

#include <algorithm>

#include "exchange/text_place.h"

namespace hocket {

std::string_view name_of(LossKind kind) {
  switch (kind) {
    case LossKind::kIgnored:
      return "ignored";
    case LossKind::kAssumed:
      return "assumed";
    case LossKind::kRepaired:
      return "repaired";
  }
  return "ignored";
}

std::string text_of(const Loss& loss) {
  const std::string where = loss.where.empty() ? "" : loss.where + ": ";
  const std::string why = loss.why.empty() ? "" : fmt::format(" ({})", loss.why);
  return fmt::format("{}{} {}{}", where, name_of(loss.kind), loss.what, why);
}

void LossReport::add(Loss loss) {
  for (std::string* text : {&loss.where, &loss.what, &loss.why}) *text = printable(*text);
  ++counts_[static_cast<std::size_t>(loss.kind)];
  if (entries_.size() < kLossesMax) {
    entries_.push_back(std::move(loss));
    return;
  }
  // A repair decides what --strict does, so that the first one is kept in place of the last entry.
  const auto is_repair = [](const Loss& kept) { return kept.kind == LossKind::kRepaired; };
  if (is_repair(loss) && std::none_of(entries_.begin(), entries_.end(), is_repair)) entries_.back() = std::move(loss);
}

void LossReport::append(const LossReport& other) {
  for (const Loss& loss : other.entries_) add(loss);
  for (std::size_t kind = 0; kind < counts_.size(); ++kind) {
    const auto kept = std::count_if(other.entries_.begin(), other.entries_.end(),
                                    [&](const Loss& loss) { return static_cast<std::size_t>(loss.kind) == kind; });
    counts_[kind] += other.counts_[kind] - static_cast<std::size_t>(kept);
  }
}

std::size_t LossReport::total() const { return counts_[0] + counts_[1] + counts_[2]; }

std::vector<std::string> LossReport::lines() const {
  std::vector<std::string> result;
  result.reserve(entries_.size() + 1);
  for (const Loss& loss : entries_) result.push_back(text_of(loss));
  if (total() > entries_.size()) result.push_back(fmt::format("{} more of the same kinds", total() - entries_.size()));
  return result;
}

Result<void> LossReport::refuse_repairs(std::string_view file_name) const {
  for (const Loss& loss : entries_) {
    if (loss.kind != LossKind::kRepaired) continue;
    const std::size_t others = count(LossKind::kRepaired) - 1;
    return fail(Code::kMalformed, "{}: --strict refuses a repair: {}{}", file_name, text_of(loss),
                others == 0 ? std::string() : fmt::format(" (and {} more)", others));
  }
  return {};
}

}  // namespace hocket
