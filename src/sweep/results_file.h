// ResultsFile: what points of sweeps came to, one JSON line each, so that a sweep that was interrupted goes on where it
// was and another one reuses what they share, under a hash of what it says. Lines are appended whole as points end; a
// line cut by a crash is dropped. Ranks of a launcher append to files of their own, PATH.rank1 ..., which every reader
// sees beside PATH until they are gathered. Ownership: owns what it has read. Threading: one owner, who may lock around
// it. Refuses: lines that are not of this kind or were changed (file and line), places that cannot be written.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "exchange/sweep_yaml.h"

namespace hocket {

struct PointOutcome {
  std::vector<double> figures;  // in the order of step_metrics(); empty when refused
  std::string error;            // why the point cannot be simulated
  double memory_capacity = 0;   // bytes of the rank with least; 0: not known
};

class ResultsFile {
 public:
  /// Reads PATH and the files of ranks beside it. `rank`: whose file append() writes; 0: PATH itself.
  [[nodiscard]] static Result<ResultsFile> open(const std::string& path, std::uint32_t rank);

  [[nodiscard]] const PointOutcome* find(const std::string& key) const;
  [[nodiscard]] Result<void> append(const std::string& key, const std::vector<SweepSetting>& at,
                                    const PointOutcome& outcome);
  /// Reads again what others have written.
  [[nodiscard]] Result<void> refresh();
  /// All in one file: those of `keys` in that order, then what else was there; the files of ranks are removed.
  [[nodiscard]] Result<void> gather(const std::vector<std::string>& keys);

 private:
  struct Line {
    std::string text;
    PointOutcome outcome;
  };
  ResultsFile(std::string path, std::string own) : path_(std::move(path)), own_(std::move(own)) {}
  [[nodiscard]] Result<std::vector<std::string>> files() const;
  [[nodiscard]] Result<void> read(const std::string& file);
  [[nodiscard]] Result<void> read_line(std::string_view text, const std::string& place);

  std::string path_, own_;
  std::map<std::string, Line> lines_;  // by key
};

}  // namespace hocket
