// format_named(): the schedule format of a name, for tests that mean one of the table. Ownership: the table's records.
// Threading: pure function.
// Refuses: an unknown name fails the test.
#pragma once

#include <gtest/gtest.h>

#include "exchange/schedule_format.h"

namespace hocket {

inline const ScheduleFormat& format_named(std::string_view name) {
  for (const ScheduleFormat* format : schedule_formats()) {
    if (format->name == name) return *format;
  }
  ADD_FAILURE() << "no format " << name;
  return *schedule_formats().front();
}

}  // namespace hocket
