// Obituary: a communicator that has lost a rank tells those that were split off or duplicated from the same one, where
// that rank is in them too, through their stores, for whoever asks there why ranks have gone (transport/witness.h). Its
// process may end next, without a word to those others: there it would look as dead as the rank that has died.
// Ownership: the job is the core's, which outlives this. Threading: any thread; all of a family take turns.
// Refuses: errors that do not name one lost rank alone; communicators of a parent process; waiting for more than a
// moment for each store.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "api/fork_mark.h"
#include "net/rendezvous.h"

namespace hocket {

class Obituary {
 public:
  /// The communicators of this process that come from one.
  struct Family {
    std::mutex mutex;
    std::vector<Obituary*> members;
  };

  /// `family`: null: it founds one.
  Obituary(std::shared_ptr<Family>& family, Job& job, const ForkMark& mark);
  ~Obituary();
  Obituary(const Obituary&) = delete;
  Obituary& operator=(const Obituary&) = delete;

  /// Once; returns when all stores that answer have heard.
  void tell_others(const Error& error);

 private:
  void hear(const Member& lost);

  std::shared_ptr<Family> family_;
  Job* job_;
  const ForkMark* mark_;
  bool told_ = false;
};

}  // namespace hocket
