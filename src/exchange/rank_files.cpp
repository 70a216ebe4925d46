#include "exchange/rank_files.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>

#include "exchange/csv.h"

namespace hocket {
namespace {

constexpr std::array<std::string_view, 4> kEndings{".et", ".et.gz", ".json", ".json.gz"};

bool exists(const std::string& path) {
  std::error_code error;
  return path.find('\0') == std::string::npos && std::filesystem::is_regular_file(path, error);
}

struct RankName {
  std::string prefix;
  std::uint64_t rank = 0;
  std::string_view ending;
};

/// "run.3.et" -> run, 3, .et.
std::optional<RankName> parse(std::string_view path) {
  for (const std::string_view ending : kEndings) {
    if (!path.ends_with(ending)) continue;
    const std::string_view stem = path.substr(0, path.size() - ending.size());
    const std::size_t dot = stem.rfind('.');
    const std::size_t begin = dot == std::string_view::npos ? 0 : dot + 1;
    const auto rank = whole_number(stem.substr(begin));
    if (rank) return RankName{std::string(stem.substr(0, dot == std::string_view::npos ? 0 : dot)), *rank, ending};
  }
  return std::nullopt;
}

std::string path_of(const RankName& name, std::uint64_t rank) {
  return fmt::format("{}{}{}{}", name.prefix, name.prefix.empty() ? "" : ".", rank, name.ending);
}

Result<RankFiles> complete(const RankName& name, std::uint32_t ranks) {
  RankFiles files{{}, name.prefix};
  std::size_t missing = 0;
  std::string first;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    files.paths.push_back(path_of(name, rank));
    if (exists(files.paths.back())) continue;
    if (missing++ == 0) first = files.paths.back();
  }
  if (missing > 0) {
    return fail(Code::kInvalidArgument, "{} is missing: of the traces of {} ranks {} are there", first, ranks,
                ranks - missing);
  }
  const std::string beyond = path_of(name, ranks);
  if (exists(beyond)) return fail(Code::kMismatch, "{} is there too, the platform has {} ranks", beyond, ranks);
  return files;
}

/// The one family of traces in a folder, by the file of its rank 0.
Result<RankFiles> only_one_in(const std::string& folder, std::uint32_t ranks) {
  std::error_code error;
  std::vector<std::string> first;
  for (std::filesystem::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    const std::optional<RankName> name = parse(at->path().string());
    if (name && name->rank == 0) first.push_back(at->path().string());
  }
  if (error) return fail(Code::kIo, "{}: cannot be listed: {}", folder, error.message());
  std::sort(first.begin(), first.end());
  if (first.empty()) return fail(Code::kInvalidArgument, "{}: a folder without a trace named PREFIX.0.et", folder);
  if (first.size() > 1)
    return fail(Code::kInvalidArgument, "{}: a folder with more than one trace of rank 0: {} and {}; name one", folder,
                first[0], first[1]);
  return complete(*parse(first.front()), ranks);
}

}  // namespace

Result<RankFiles> rank_files(std::span<const std::string> names, std::uint32_t ranks) {
  if (names.size() == 1 && exists(names[0])) {
    const auto name = parse(names[0]);
    if (name) return complete(*name, ranks);
    if (ranks == 1) return RankFiles{{names[0]}, {}};
    return fail(Code::kMismatch, "{}: one trace, the platform has {} ranks; name traces PREFIX.<rank>.et", names[0],
                ranks);
  }
  std::error_code error;
  if (names.size() == 1 && std::filesystem::is_directory(names[0], error)) return only_one_in(names[0], ranks);
  if (names.size() == 1) {
    for (const std::string_view ending : kEndings) {
      const RankName name{names[0], 0, ending};
      if (exists(path_of(name, 0))) return complete(name, ranks);
    }
    return fail(Code::kInvalidArgument, "{}: no such trace, and no {}.0.et", names[0], names[0]);
  }
  if (names.size() != ranks)
    return fail(Code::kMismatch, "{} traces are given, the platform has {} ranks", names.size(), ranks);
  RankFiles files{std::vector<std::string>(ranks), {}};
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto name = parse(names[i]);
    const std::uint64_t rank = name ? name->rank : i;
    if (rank >= ranks) return fail(Code::kMismatch, "{}: rank {}, the platform has {}", names[i], rank, ranks);
    if (!files.paths[rank].empty())
      return fail(Code::kMismatch, "{} and {} are both traces of rank {}", files.paths[rank], names[i], rank);
    files.paths[rank] = names[i];
    if (name) files.prefix = name->prefix;
  }
  return files;
}

}  // namespace hocket
