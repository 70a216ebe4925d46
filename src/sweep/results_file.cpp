#include "sweep/results_file.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "base/file.h"
#include "base/hash.h"
#include "exchange/text_place.h"
#include "simulator/step_metrics.h"

namespace hocket {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kCheck = "check";
constexpr std::string_view kCapacity = "memory_capacity_bytes";
constexpr std::uintmax_t kResultsBytesMax = std::uintmax_t{1} << 30;

std::string text_of(const Json& line) { return line.dump(-1, ' ', false, Json::error_handler_t::replace); }

/// Of all that stands in a line beside it.
std::string check_of(const Json& line) { return Hasher().add(text_of(line)).finish().text(); }

std::string line_text(const std::string& key, const std::vector<SweepSetting>& at, const PointOutcome& outcome) {
  Json line{{"key", key}, {"point", Json::object()}};
  for (const SweepSetting& setting : at) line["point"][setting.key] = setting.value;
  if (outcome.figures.empty()) {
    line["error"] = outcome.error;
  } else {
    for (std::size_t i = 0; i < outcome.figures.size(); ++i)
      line["result"][std::string(step_metrics()[i].name)] = outcome.figures[i];
    line["result"][std::string(kCapacity)] = outcome.memory_capacity;
  }
  line[std::string(kCheck)] = check_of(line);
  return text_of(line) + "\n";
}

/// The bytes up to the last complete line; a file that is not there has none.
Result<std::string> whole_lines(const std::string& file) {
  std::error_code error;
  if (!std::filesystem::exists(file, error)) return std::string();
  const std::uintmax_t bytes = std::filesystem::file_size(file, error);
  if (error || bytes > kResultsBytesMax)
    return fail(Code::kIo, "{}: {}", file, error ? error.message() : "more than 1 GiB");
  std::string text(bytes, '\0');
  std::ifstream stream(file, std::ios::binary);
  stream.read(text.data(), static_cast<std::streamsize>(bytes));
  if (stream.gcount() != static_cast<std::streamsize>(bytes)) return fail(Code::kIo, "{}: cannot be read", file);
  const std::size_t end = text.rfind('\n');
  text.resize(end == std::string::npos ? 0 : end + 1);
  return text;
}

}  // namespace

Result<ResultsFile> ResultsFile::open(const std::string& path, std::uint32_t rank) {
  ResultsFile results(path, rank == 0 ? path : fmt::format("{}.rank{}", path, rank));
  HOCKET_TRY(results.refresh());
  // What a crash left of a line would run into the next one.
  HOCKET_TRY_ASSIGN(const std::string own, whole_lines(results.own_));
  std::error_code error;
  if (std::filesystem::exists(results.own_, error) && std::filesystem::file_size(results.own_, error) != own.size()) {
    std::filesystem::resize_file(results.own_, own.size(), error);
    if (error) return fail(Code::kIo, "{}: {}", results.own_, error.message());
  }
  return results;
}

const PointOutcome* ResultsFile::find(const std::string& key) const {
  const auto found = lines_.find(key);
  return found == lines_.end() ? nullptr : &found->second.outcome;
}

Result<void> ResultsFile::append(const std::string& key, const std::vector<SweepSetting>& at,
                                 const PointOutcome& outcome) {
  std::string text = line_text(key, at, outcome);
  std::ofstream stream(own_, std::ios::binary | std::ios::app);
  stream.write(text.data(), static_cast<std::streamsize>(text.size()));
  stream.flush();
  if (!stream) return fail(Code::kIo, "{}: cannot be written", own_);
  lines_[key] = {std::move(text), outcome};
  return {};
}

Result<std::vector<std::string>> ResultsFile::files() const {
  std::vector<std::string> found{path_};
  const std::filesystem::path path(path_);
  const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
  const std::string begin = path.filename().string() + ".rank";
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (entry.path().filename().string().starts_with(begin))
      found.push_back((folder / entry.path().filename()).string());
  }
  if (error) return fail(Code::kIo, "{}: {}", folder.string(), error.message());
  std::sort(found.begin() + 1, found.end());
  return found;
}

Result<void> ResultsFile::refresh() {
  HOCKET_TRY_ASSIGN(const std::vector<std::string> all, files());
  for (const std::string& file : all) HOCKET_TRY(read(file));
  return {};
}

Result<void> ResultsFile::read(const std::string& file) {
  HOCKET_TRY_ASSIGN(const std::string text, whole_lines(file));
  std::size_t number = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    HOCKET_TRY(read_line(std::string_view(text).substr(begin, end - begin), fmt::format("{}:{}", file, ++number)));
    begin = end + 1;
  }
  return {};
}

Result<void> ResultsFile::read_line(std::string_view text, const std::string& place) {
  Json line = Json::parse(text, nullptr, false);
  const auto refuse = [&](std::string_view what) {
    return fail(Code::kMalformed, "{}: {}; not a results file of a sweep", printable(place), what);
  };
  if (!line.is_object() || !line.contains("key") || !line["key"].is_string()) return refuse("no object with a 'key'");
  const Json check = line.value(kCheck, Json());
  line.erase(std::string(kCheck));
  if (!check.is_string() || check != check_of(line)) {
    return fail(Code::kMismatch,
                "{}: its check value is {}, its content gives {}: the line was changed, or is of another version; "
                "delete it, or --fresh forgets all",
                printable(place), printable(check.dump().substr(0, 40)), check_of(line));
  }
  PointOutcome outcome;
  if (line.contains("error") && line["error"].is_string()) {
    outcome.error = line["error"];
  } else {
    const auto number = [&](std::string_view name) -> Result<double> {
      const auto value = line.contains("result") ? line["result"].find(name) : line.end();
      if (!line.contains("result") || value == line["result"].end() || !value->is_number())
        return refuse(fmt::format("no number '{}'", name));
      const double figure = *value;
      if (std::isfinite(figure) && figure >= 0) return figure;
      return refuse(fmt::format("'{}' is {}, not from 0 on", name, figure));
    };
    for (const StepMetric& metric : step_metrics()) {
      HOCKET_TRY_ASSIGN(const double figure, number(metric.name));
      outcome.figures.push_back(figure);
    }
    HOCKET_TRY_ASSIGN(outcome.memory_capacity, number(kCapacity));
  }
  lines_[line["key"]] = {std::string(text) + "\n", std::move(outcome)};
  return {};
}

Result<void> ResultsFile::gather(const std::vector<std::string>& keys) {
  std::string text;
  std::set<std::string> written;
  for (const std::string& key : keys) {
    if (lines_.contains(key) && written.insert(key).second) text += lines_[key].text;
  }
  for (const auto& [key, line] : lines_) {
    if (!written.contains(key)) text += line.text;
  }
  HOCKET_TRY_ASSIGN(const std::vector<std::string> all, files());
  HOCKET_TRY(write_file(path_, text));
  for (std::size_t i = 1; i < all.size(); ++i) {
    std::error_code error;
    std::filesystem::remove(all[i], error);
  }
  return {};
}

}  // namespace hocket
