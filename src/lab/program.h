// run_program(): runs a program of the system with lines on its standard input and waits for its end. It runs in the
// network namespace of the calling thread and dies with this process.
// Ownership: the child, until it has ended. Threading: blocks the caller, at most for the time given.
// Refuses: programs that are not there, that end badly (the Error holds the last line of what they said) or not at all.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "base/result.h"

namespace hocket {

[[nodiscard]] Result<void> run_program(const std::vector<std::string>& arguments, const std::string& input,
                                       std::chrono::milliseconds limit);

}  // namespace hocket
