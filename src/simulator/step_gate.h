// StepGate: the step counters of network interfaces that inject strictly by step (MultiTree, ISCA 2021, section IV).
// A rank's counter moves on when all messages of its step have been handed to the interfaces and these can take more:
// a packet enters an interface in one cycle (the time of a flit) and at most `buffer_packets` wait in it. A step in
// which the rank sends nothing is a nop of estimated length: the cycles of the step's largest message less what the
// buffer holds, or one cycle per packet when it holds all; twice that after a step in which the rank sent. With a
// global step the counters are one, which moves on when every message of the step has arrived. Events in, actions out.
// Ownership: borrows plan and topology. Threading: one owner.
// Refuses: sends that wait for a message of their own or a later step, and messages in several segments.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "simulator/routes.h"
#include "simulator/simulator.h"

namespace hocket {

class StepGate {
 public:
  struct Timer {
    Picos time;
    std::uint32_t rank = 0;
  };

  [[nodiscard]] static Result<void> check(const Plan& plan);
  StepGate(const Plan& plan, const Topology& topology, const SimulateOptions& options, const FlatRoutes& routes);

  /// Opens the first steps.
  void start(Picos now);
  /// A send whose data are there; false: its step has not come, it is in releases() when it has.
  [[nodiscard]] bool admit(OpId send, Picos now);
  /// A packet of the rank at the link's start has left it.
  void packet_left(LinkId link, Picos now);
  void message_arrived(OpId send, Picos now);
  void timer(std::uint32_t rank, Picos now) { advance(rank, now); }

  /// Actions since the last call: sends to admit again, times at which to call timer().
  [[nodiscard]] std::vector<OpId> take_releases() { return std::exchange(releases_, {}); }
  [[nodiscard]] std::vector<Timer> take_timers() { return std::exchange(timers_, {}); }

 private:
  struct Rank {
    std::uint32_t next = 0;      // index into its steps that send
    std::uint32_t step = 0;      // the counter
    std::uint32_t to_issue = 0;  // messages of the step that were not admitted yet
    bool sending = false;        // the step is one of those that send
    bool sent_before = false;    // so was the one before
    Picos until;                 // the step lasts at least until then
    Picos cycle;
    std::vector<std::uint32_t> steps;     // those that send
    std::vector<std::uint32_t> messages;  // in each of them
    std::vector<OpId> waiting;            // data are there, their step has not come
  };
  void enter_step(Rank& rank, Picos now);
  void advance(std::uint32_t rank, Picos now);
  void advance_all();
  [[nodiscard]] bool interfaces_free(std::uint32_t rank) const;
  [[nodiscard]] std::int64_t packets(std::int64_t bytes) const;
  [[nodiscard]] Picos nop_length(const Rank& rank) const;
  void release(Rank& rank);

  const Plan& plan_;
  const Topology& topology_;
  const SimulateOptions& options_;
  const FlatRoutes& routes_;
  bool global_;
  std::vector<Rank> ranks_;
  std::vector<std::uint32_t> rank_of_;         // per op
  std::vector<std::int64_t> step_bytes_;       // per step: the largest message
  std::vector<std::uint64_t> step_left_;       // per step: messages that have not arrived
  std::vector<std::int64_t> packets_waiting_;  // per link: of its own rank, on it included
  std::uint32_t global_step_ = 0;
  std::vector<OpId> releases_;
  std::vector<Timer> timers_;
};

}  // namespace hocket
