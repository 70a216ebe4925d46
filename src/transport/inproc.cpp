#include "transport/inproc.h"

namespace hocket {

class InprocWorld::Endpoint final : public Transport {
 public:
  Endpoint(InprocWorld& world, std::uint32_t rank)
      : world_(&world), queue_(world.queues_[rank].get()), first_op_(world.schedule_->first_op(rank)) {}

  void offer(const MessageEnd& send, SegmentRange segments, const std::byte* memory) override {
    ProgressQueue& theirs = *world_->queues_[send.peer];
    const std::uint32_t counter = send.match - world_->schedule_->first_op(send.peer);
    if (segments.first == 0) theirs.set_note(counter, memory);
    theirs.add(counter, segments.count);
  }

  const std::byte* bytes(const MessageEnd& receive, std::uint32_t segment) override {
    return static_cast<const std::byte*>(queue_->note(receive.op - first_op_)) + receive.cut.begin(segment);
  }

  void acknowledge(const MessageEnd& receive, std::uint32_t /*segment*/) override {
    world_->queues_[receive.peer]->add(receive.match - world_->schedule_->first_op(receive.peer), 1);
  }

  bool poll(TransportEvents& events) override {
    if (world_->failure_.set()) {
      events.failed(world_->failure_.error());
      return true;
    }
    return queue_->drain([&](std::uint32_t counter, std::uint32_t amount) {
      const OpId op = first_op_ + counter;
      if (world_->schedule_->op(op).sends()) {
        events.acknowledged(op, amount);
      } else {
        events.arrived(op, amount);
      }
    });
  }

 private:
  InprocWorld* world_;
  ProgressQueue* queue_;
  OpId first_op_;
};

InprocWorld::InprocWorld(const Schedule& schedule) : schedule_(&schedule), parkers_(schedule.rank_count(), nullptr) {
  for (std::uint32_t rank = 0; rank < schedule.rank_count(); ++rank) {
    queues_.push_back(std::make_unique<ProgressQueue>(schedule.first_op(rank + 1) - schedule.first_op(rank)));
  }
  for (std::uint32_t rank = 0; rank < schedule.rank_count(); ++rank) {
    endpoints_.push_back(std::make_unique<Endpoint>(*this, rank));
  }
}

InprocWorld::~InprocWorld() = default;

Transport& InprocWorld::endpoint(std::uint32_t rank) { return *endpoints_[rank]; }

void InprocWorld::set_parker(std::uint32_t rank, Parker* parker) {
  parkers_[rank] = parker;
  queues_[rank]->set_parker(parker);
}

void InprocWorld::report(Error error) {
  if (!failure_.report(std::move(error))) return;
  for (Parker* parker : parkers_) {
    if (parker != nullptr) parker->wake();
  }
}

void InprocWorld::reset() {
  failure_.clear();
  for (const auto& queue : queues_) queue->reset();
}

}  // namespace hocket
