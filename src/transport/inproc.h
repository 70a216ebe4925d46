// InprocWorld: ranks that are threads of one process. Single copy: the receiver reads the sender's memory.
// Each rank has a ProgressQueue with a counter per op: the peer adds offered segments to a receive's counter and
// consumed ones to a send's. Nothing else crosses threads, except the first error of the group.
// Ownership: the executor; endpoints point into the world. Threading: one thread per endpoint; report() from any.
// Refuses: nothing; it trusts the engines, which run one proved plan.
#pragma once

#include <memory>
#include <vector>

#include "base/queue.h"
#include "schedule/schedule.h"
#include "transport/transport.h"

namespace hocket {

class InprocWorld {
 public:
  explicit InprocWorld(const Schedule& schedule);
  ~InprocWorld();

  [[nodiscard]] Transport& endpoint(std::uint32_t rank);
  [[nodiscard]] bool idle(std::uint32_t rank) const { return queues_[rank]->empty() && !failure_.set(); }
  /// The thread that polls the rank's endpoint sleeps there. Before any rank starts.
  void set_parker(std::uint32_t rank, Parker* parker);

  /// Ends the run of every rank with this error; the first report counts.
  void report(Error error);
  [[nodiscard]] const Failure& failure() const { return failure_; }
  /// After a run that failed, while no rank runs.
  void reset();

 private:
  class Endpoint;
  const Schedule* schedule_;
  Failure failure_;
  std::vector<Parker*> parkers_;
  std::vector<std::unique_ptr<ProgressQueue>> queues_;
  std::vector<std::unique_ptr<Endpoint>> endpoints_;
};

}  // namespace hocket
