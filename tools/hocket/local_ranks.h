// Starts the ranks of a job as child processes of this one: the same program, told by variables which rank each is.
// Rank 0 inherits the socket it will listen on, so that no port can be taken in between.
// Ownership: the children; they die with this process (PR_SET_PDEATHSIG) and with its Ctrl-C; signals that are ignored
// on entry stay so. Threading: one owner, no other thread. Refuses: nothing; returns the worst exit status: 4, then 2
// (a rank that refuses its input is why the others lose it), 3 (also for a child that a signal ended), 1. What ranks
// say on standard error is passed on, a line that several say once.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "net/descriptor.h"
#include "net/port_range.h"

namespace hocket {

/// Plus the number of a signal: the status when that signal (Ctrl-C) was to end all of them, or SIGPIPE when nobody
/// reads any more what they print. Nothing is said then; main() ends by the same signal.
inline constexpr int kSignalled = 128;

/// The ranks with this process's own arguments, all on this host; rank 0 is found at one of these ports.
[[nodiscard]] Result<int> run_local_ranks(std::uint32_t ranks, const PortRange& ports);

/// Ranks that are not simply here. Descriptors stay the caller's, apart from the listener, which is rank 0's alone once
/// that runs: when rank 0 ends, whoever looks for it learns at once.
struct PlacedRanks {
  std::vector<std::string> arguments;   // of each, with the name of the program
  std::vector<std::string> variables;   // "NAME=value", beside those that say who a rank is
  std::vector<int> namespaces;          // by rank: the network namespace it runs in
  Descriptor listener;                  // of rank 0, reachable for all
  int output = -1;                      // their standard output
  std::function<Result<void>()> check;  // an error when they cannot reach each other any more: all are ended at once
};
[[nodiscard]] Result<int> run_placed_ranks(PlacedRanks placed);

/// An error when one of them is a pipe: this process and every rank read them, and a pipe can be read once.
[[nodiscard]] Result<void> check_read_again(const std::vector<std::string>& files);

/// The command line this process was started with.
[[nodiscard]] std::vector<std::string> own_arguments();

}  // namespace hocket
