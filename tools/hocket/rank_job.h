// Flags of verbs that run on real ranks, and the job they open: who we are, the connections, and words that all ranks
// share. Without a launcher, `--ranks N` makes this process the parent of N local ranks.
// Ownership: a RankJob owns its transport and, on rank 0, the store. Threading: one owner.
// Refuses: `--ranks` that contradicts the launcher, unknown transports.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/rank_driver.h"
#include "net/rendezvous.h"
#include "transport/choice.h"

namespace hocket {

struct JobFlags {
  std::uint32_t ranks = 0;
  std::string transport = "auto";
  std::string timeout = "30s";
  std::string spin;
  std::string ports;
  std::string interfaces;
  std::string cables;

  void declare(CLI::App& app);
  void declare_network(CLI::App& app);
  [[nodiscard]] Result<std::chrono::nanoseconds> limit() const;
  /// Which rank this process is; nothing when it has to start `ranks` of them.
  [[nodiscard]] Result<std::optional<Launch>> launch() const;
};

class RankJob {
 public:
  [[nodiscard]] static Result<std::unique_ptr<RankJob>> open(const Launch& launch, const JobFlags& flags);

  [[nodiscard]] std::uint32_t rank() const { return job_.launch.rank; }
  [[nodiscard]] std::uint32_t size() const { return job_.launch.size; }
  [[nodiscard]] const Job& job() const { return job_; }
  [[nodiscard]] RankTransport& transport() { return *talk_.transport; }
  /// "shm", "tcp" or a plug-in's
  [[nodiscard]] std::string_view transport_name() const { return talk_.name; }
  [[nodiscard]] const DriverOptions& driver_options() const { return driver_options_; }

  /// Every rank's value, by rank. Also a barrier.
  [[nodiscard]] Result<std::vector<double>> share(double mine);
  /// What rank 0 says, on all ranks. `key` is new each time.
  [[nodiscard]] Result<std::string> agree(const std::string& key, const std::function<Result<std::string>()>& at_root);

 private:
  RankJob(Job job, const DriverOptions& options) : job_(std::move(job)), driver_options_(options) {}
  [[nodiscard]] Result<void> prepare();

  Job job_;
  DriverOptions driver_options_;
  OpenTransport talk_;
  std::unique_ptr<RankDriver> sharing_;
  std::vector<double> shared_;
};

}  // namespace hocket
