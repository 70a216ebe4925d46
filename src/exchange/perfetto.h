// A timeline as a Perfetto trace in protocol buffers (TracePacket, TrackDescriptor, TrackEvent of Perfetto's public
// schema): a process per group of tracks, a thread per track, a slice per bar. Perfetto counts whole nanoseconds; the
// picoseconds of a slice are its annotations begin_ps and end_ps. Bars of a track that overlap go to further tracks of
// the same name. Ownership: values. Threading: pure functions. Refuses: nothing; what is no UTF-8 is replaced.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"

namespace hocket {

struct PerfettoSlice {
  std::string name;
  Picos begin;
  Picos end;
};

struct PerfettoTrack {
  std::string name;
  std::vector<PerfettoSlice> slices;  // by begin
};

struct PerfettoProcess {
  std::string name;
  std::vector<PerfettoTrack> tracks;
};

[[nodiscard]] std::string write_perfetto(std::span<const PerfettoProcess> processes);

/// Whether a file of that name is to be a Perfetto trace: .pftrace, .perfetto-trace.
[[nodiscard]] bool is_perfetto_name(std::string_view file);

}  // namespace hocket
