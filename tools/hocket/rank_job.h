// Flags of verbs that run on real ranks, and the job they open: who we are, the connections, and words that all ranks
// share. Without a launcher, `--ranks N` makes this process the parent of N local ranks.
// Ownership: a RankJob owns its transport and, on rank 0, the store. Threading: one owner.
// Refuses: `--ranks` or a file that contradicts the launcher, and every setting that the library refuses.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "api/settings.h"
#include "engine/rank_driver.h"
#include "net/rendezvous.h"
#include "transport/choice.h"

namespace hocket {

struct JobFlags {
  std::uint32_t ranks = 0;
  std::string transport;
  std::string timeout;
  std::string spin;
  std::string ports;
  std::string interfaces;
  std::string cables;
  std::string connections;
  std::string topology;  // of verbs that have --topo

  void declare(CLI::App& app);
  void declare_network(CLI::App& app);
  /// What flags and variables say; a flag wins.
  [[nodiscard]] SettingWords words() const;
  [[nodiscard]] Result<std::chrono::nanoseconds> limit() const;
  /// Which rank this process is; nothing when it has to start them: `ranks`, else what `by` (a file) needs.
  [[nodiscard]] Result<std::optional<Launch>> launch(std::uint32_t needed = 0, const std::string& by = {}) const;
  /// Everything that a rank will read, before any is started. The launch of this rank, or of rank 0 where all start
  /// here.
  [[nodiscard]] Result<Launch> check(const std::optional<Launch>& launch, std::uint32_t size) const;
  /// Starts that many ranks here, which read these files too, and returns their status.
  [[nodiscard]] Result<int> start(std::uint32_t size, std::vector<std::string> files = {}) const;
  [[nodiscard]] Result<Settings> settings(const Launch& launch) const;
};

/// What all ranks must be given alike: a flag and its words, or, where words may differ and mean the same, the meaning.
struct SharedFlag {
  std::string flag;
  std::string words;
  std::string meaning;
};

/// join(); a signal that comes while rank 0 has left word where it is ends it when that file is gone again.
[[nodiscard]] Result<Job> join_and_put_away(RendezvousOptions options);

class RankJob {
 public:
  [[nodiscard]] static Result<std::unique_ptr<RankJob>> open(const Launch& launch, const JobFlags& flags);

  [[nodiscard]] std::uint32_t rank() const { return job_.launch.rank; }
  [[nodiscard]] std::uint32_t size() const { return job_.launch.size; }
  [[nodiscard]] const Job& job() const { return job_; }
  [[nodiscard]] RankTransport& transport() { return *talk_.transport; }
  /// "shm", "tcp" or a plug-in's
  [[nodiscard]] std::string_view transport_name() const { return talk_.name; }
  /// HOCKET_DEBUG, of which verbs print the first level.
  [[nodiscard]] bool tells() const { return tells_; }
  [[nodiscard]] const DriverOptions& driver_options() const { return driver_options_; }

  /// Every rank's value, by rank. Also a barrier.
  [[nodiscard]] Result<std::vector<double>> share(double mine);
  /// Once, before anything else: an error on all ranks when one was given something else than rank 0.
  [[nodiscard]] Result<void> compare(const std::vector<SharedFlag>& flags);
  /// What rank 0 says, on all ranks. `key` is new each time.
  [[nodiscard]] Result<std::string> agree(const std::string& key, const std::function<Result<std::string>()>& at_root);

 private:
  RankJob(Job job, const DriverOptions& options) : job_(std::move(job)), driver_options_(options) {}
  [[nodiscard]] Result<void> prepare();

  Job job_;
  DriverOptions driver_options_;
  bool tells_ = false;
  OpenTransport talk_;
  std::unique_ptr<RankDriver> sharing_;
  std::vector<double> shared_;
};

}  // namespace hocket
