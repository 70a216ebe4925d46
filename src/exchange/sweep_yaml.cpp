#include "exchange/sweep_yaml.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/spelling.h"
#include "exchange/file_text.h"
#include "exchange/text_place.h"
#include "exchange/yaml_text.h"

namespace hocket {
namespace {

constexpr std::size_t kSweepTextMax = std::size_t{1} << 20;
constexpr std::size_t kWordLengthMax = 4096;

class SweepReader {
 public:
  SweepReader(std::string_view text, std::string_view file_name) : text_(text), file_name_(file_name) {}

  Result<Sweep> read() {
    if (text_.size() > kSweepTextMax)
      return fail(Code::kResourceExhausted, "{}: more than {} bytes", file_name_, kSweepTextMax);
    HOCKET_TRY_ASSIGN(const YAML::Node root, parse_yaml_map(text_, file_name_));
    HOCKET_TRY(check_keys(root, {"hocket", "name", "description", "set", "vary", "plot"}));
    HOCKET_TRY_ASSIGN(const std::string kind, word(root, "hocket", ""));
    if (kind != "sweep")
      return fail(Code::kMalformed, "{}: 'hocket: {}' where 'hocket: sweep' is wanted", file_name_, kind.substr(0, 80));
    sweep_.file_name = file_name_;
    HOCKET_TRY_ASSIGN(sweep_.name, word(root, "name", file_name_));
    HOCKET_TRY_ASSIGN(sweep_.description, word(root, "description", ""));
    HOCKET_TRY(read_fixed(root));
    HOCKET_TRY(read_axes(root));
    HOCKET_TRY(read_plot(root));
    return std::move(sweep_);
  }

 private:
  template <class... Args>
  tl::unexpected<Error> error_at(const YAML::Node& node, fmt::format_string<Args...> format, Args&&... args) const {
    return fail(Code::kMalformed, "{}: {}", yaml_place(node, file_name_),
                fmt::format(format, std::forward<Args>(args)...));
  }

  Result<void> check_keys(const YAML::Node& map, const std::vector<std::string_view>& known) const {
    std::set<std::string> seen;
    for (const auto& entry : map) {
      const std::string key = entry.first.Scalar();
      if (!seen.insert(key).second) return error_at(entry.first, "key '{}' stands twice", key.substr(0, 80));
      if (std::find(known.begin(), known.end(), key) != known.end()) continue;
      return error_at(entry.first, "unknown key '{}'{} (known here: {})", key.substr(0, 80), spelling_hint(key, known),
                      fmt::join(known, ", "));
    }
    return {};
  }

  Result<std::string> word(const YAML::Node& map, const std::string& key, std::string_view otherwise) const {
    const YAML::Node value = map[key];
    if (!value) return std::string(otherwise);
    if (!value.IsScalar() || value.Scalar().size() > kWordLengthMax) return error_at(value, "'{}' is not a word", key);
    return value.Scalar();
  }

  /// The key of an entry, which no other entry may have set.
  Result<std::string> new_key(const YAML::Node& node) {
    if (!node.IsScalar() || node.Scalar().empty()) return error_at(node, "a key is not a word");
    std::string key = node.Scalar();
    const auto [known, is_new] = places_.emplace(key, yaml_place(node, file_name_));
    if (is_new) return key;
    return error_at(node, "key '{}' stands twice, first at {}", key.substr(0, 80), known->second);
  }

  Result<SweepSetting> setting(const std::string& key, const YAML::Node& value) const {
    if (!value.IsScalar() || value.Scalar().empty() || value.Scalar().size() > kWordLengthMax)
      return error_at(value, "{}: not a word or a number", key.substr(0, 80));
    return SweepSetting{key, value.Scalar(), yaml_place(value, file_name_)};
  }

  Result<void> read_fixed(const YAML::Node& root) {
    const YAML::Node map = root["set"];
    if (!map) return {};
    if (!map.IsMap()) return error_at(map, "'set' is not a map of keys and values");
    for (const auto& entry : map) {
      HOCKET_TRY_ASSIGN(const std::string key, new_key(entry.first));
      HOCKET_TRY_ASSIGN(SweepSetting fixed, setting(key, entry.second));
      sweep_.fixed.push_back(std::move(fixed));
    }
    return {};
  }

  Result<void> read_axes(const YAML::Node& root) {
    const YAML::Node vary = root["vary"];
    if (!vary) return error_at(root, "key 'vary' is missing");
    if (vary.IsSequence()) {
      for (const YAML::Node& map : vary) {
        if (!map.IsMap()) return error_at(map, "an entry of 'vary' is not a map of keys and lists");
        HOCKET_TRY(add_axis(map));
      }
    } else if (vary.IsMap()) {
      for (const auto& entry : vary) {
        SweepAxis axis;
        HOCKET_TRY(add_list(axis, entry.first, entry.second));
        HOCKET_TRY(keep(vary, std::move(axis)));
      }
    } else {
      return error_at(vary, "'vary' is neither a map of keys and lists nor a list of such maps");
    }
    if (sweep_.axes.empty()) return error_at(vary, "'vary' is empty: nothing varies");
    return {};
  }

  Result<void> add_axis(const YAML::Node& map) {
    SweepAxis axis;
    for (const auto& entry : map) HOCKET_TRY(add_list(axis, entry.first, entry.second));
    if (axis.steps.empty()) return error_at(map, "an entry of 'vary' is empty");
    return keep(map, std::move(axis));
  }

  /// The values of one key, beside those that the axis has.
  Result<void> add_list(SweepAxis& axis, const YAML::Node& name, const YAML::Node& list) {
    HOCKET_TRY_ASSIGN(const std::string key, new_key(name));
    if (!list.IsSequence() || list.size() == 0)
      return error_at(list, "{}: not a list of one value or more", key.substr(0, 80));
    if (list.size() > kSweepPointsMax)
      return error_at(list, "{}: {} values, at most {}", key.substr(0, 80), list.size(), kSweepPointsMax);
    if (axis.steps.empty()) axis.steps.resize(list.size());
    if (axis.steps.size() != list.size()) {
      return error_at(list, "{} has {} values, {} beside it has {}: keys of one entry move together", key.substr(0, 80),
                      list.size(), axis.steps[0][0].key.substr(0, 80), axis.steps.size());
    }
    std::size_t step = 0;
    for (const YAML::Node& value : list) {
      HOCKET_TRY_ASSIGN(SweepSetting one, setting(key, value));
      axis.steps[step++].push_back(std::move(one));
    }
    return {};
  }

  Result<void> keep(const YAML::Node& node, SweepAxis axis) {
    sweep_.axes.push_back(std::move(axis));
    if (sweep_.points() <= kSweepPointsMax) return {};
    return error_at(node, "the grid has more than {} points", kSweepPointsMax);
  }

  Result<void> read_plot(const YAML::Node& root) {
    const YAML::Node plot = root["plot"];
    if (!plot) return {};
    if (!plot.IsMap()) return error_at(plot, "'plot' is not {{x: a key that varies, y: a figure}}");
    HOCKET_TRY(check_keys(plot, {"x", "y"}));
    HOCKET_TRY_ASSIGN(sweep_.plot.x, word(plot, "x", ""));
    HOCKET_TRY_ASSIGN(sweep_.plot.y, word(plot, "y", ""));
    sweep_.plot.place = yaml_place(plot, file_name_);
    const std::vector<std::string> varied = sweep_.varied();
    if (sweep_.plot.x.empty() || std::find(varied.begin(), varied.end(), sweep_.plot.x) != varied.end()) return {};
    return error_at(plot["x"], "x '{}' does not vary{}; what varies: {}", sweep_.plot.x.substr(0, 80),
                    spelling_hint(sweep_.plot.x, varied), fmt::join(varied, ", "));
  }

  std::string_view text_, file_name_;
  std::map<std::string, std::string> places_;
  Sweep sweep_;
};

}  // namespace

std::uint64_t Sweep::points() const {
  std::uint64_t count = 1;
  for (const SweepAxis& axis : axes) count = std::min(count * axis.steps.size(), kSweepPointsMax + 1);
  return count;
}

std::vector<std::string> Sweep::varied() const {
  std::vector<std::string> keys;
  for (const SweepAxis& axis : axes) {
    for (const SweepSetting& setting : axis.steps.front()) keys.push_back(setting.key);
  }
  return keys;
}

std::vector<SweepSetting> Sweep::at(std::uint64_t point) const {
  std::vector<const std::vector<SweepSetting>*> chosen(axes.size());
  for (std::size_t i = axes.size(); i-- > 0;) {
    chosen[i] = &axes[i].steps[point % axes[i].steps.size()];
    point /= axes[i].steps.size();
  }
  std::vector<SweepSetting> settings;
  for (const std::vector<SweepSetting>* step : chosen) settings.insert(settings.end(), step->begin(), step->end());
  return settings;
}

bool looks_like_sweep(std::string_view text) {
  text = text.substr(0, 4096);
  if (!has_yaml_key(text, "hocket")) return false;
  text.remove_prefix(std::min(text.find(':', text.find("hocket")), text.size() - 1) + 1);
  text.remove_prefix(std::min(text.find_first_not_of(" \"'"), text.size()));
  return text.starts_with("sweep");
}

Result<Sweep> read_sweep(std::string_view text, std::string_view file_name) {
  return with_printable_error(guard_yaml(file_name, [&] { return SweepReader(text, file_name).read(); }));
}

Result<Sweep> load_sweep(const std::string& path) {
  HOCKET_TRY_ASSIGN(const FileText text, read_file_text(path, kSweepTextMax));
  HOCKET_TRY(text.losses.refuse_repairs(path));
  return read_sweep(text.bytes, path);
}

}  // namespace hocket
