#include "exchange/perfetto.h"

#include <algorithm>

#include "exchange/wire.h"

namespace hocket {
namespace {

/// Field numbers of Perfetto's schema.
enum PacketField : std::uint32_t { kTimestamp = 8, kSequence = 10, kTrackEvent = 11, kTrackDescriptor = 60 };
enum DescriptorField : std::uint32_t { kUuid = 1, kDescriptorName = 2, kProcess = 3, kThread = 4, kParent = 5 };
enum ProcessField : std::uint32_t { kPid = 1, kProcessName = 6 };
enum ThreadField : std::uint32_t { kThreadPid = 1, kTid = 2, kThreadName = 5 };
enum EventField : std::uint32_t { kAnnotation = 4, kType = 9, kTrack = 11, kEventName = 23 };
enum AnnotationField : std::uint32_t { kUnsigned = 3, kAnnotationName = 10 };
constexpr std::uint32_t kPacket = 1;  // of a trace
constexpr std::uint64_t kSliceBegin = 1, kSliceEnd = 2;
constexpr std::uint64_t kOneSequence = 1;

void append_number(std::string& out, std::uint32_t field, std::uint64_t value) {
  append_tag(out, field, WireType::kVarint);
  append_varint(out, value);
}

std::size_t continuation_bytes(unsigned char lead) {
  if (lead < 0x80) return 0;
  if (lead >= 0xC2 && lead < 0xE0) return 1;
  if (lead >= 0xE0 && lead < 0xF0) return 2;
  if (lead >= 0xF0 && lead < 0xF5) return 3;
  return SIZE_MAX;
}

/// Bytes that are no UTF-8 as '?': readers refuse strings that hold any.
std::string utf8(std::string_view text) {
  std::string clean;
  clean.reserve(text.size());
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t more = continuation_bytes(static_cast<unsigned char>(text[i]));
    const bool whole = more < text.size() - i;
    const auto continues = [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80; };
    const std::string_view rest = whole ? text.substr(i + 1, more) : std::string_view();
    if (whole && std::all_of(rest.begin(), rest.end(), continues)) {
      clean += text.substr(i, more + 1);
      i += more + 1;
    } else {
      clean += '?';
      ++i;
    }
  }
  return clean;
}

class TraceWriter {
 public:
  void add(const PerfettoProcess& process) {
    ++pid_;
    const std::uint64_t process_uuid = next_uuid_++;
    std::string description;
    append_number(description, kPid, pid_);
    append_bytes(description, kProcessName, utf8(process.name));
    std::string descriptor;
    append_number(descriptor, kUuid, process_uuid);
    append_bytes(descriptor, kProcess, description);
    describe(descriptor);
    for (const PerfettoTrack& track : process.tracks) add(track, process_uuid);
  }

  [[nodiscard]] std::string take() { return std::move(trace_); }

 private:
  /// Each slice on the first lane that is free again.
  void add(const PerfettoTrack& track, std::uint64_t parent) {
    struct Lane {
      std::uint64_t uuid = 0;
      Picos free;
    };
    std::vector<Lane> lanes{{begin_track(track.name, parent), {}}};
    for (const PerfettoSlice& slice : track.slices) {
      auto lane = std::find_if(lanes.begin(), lanes.end(), [&](const Lane& l) { return l.free <= slice.begin; });
      if (lane == lanes.end()) lane = lanes.insert(lane, {begin_track(track.name, parent), {}});
      lane->free = slice.end;
      add(slice, lane->uuid);
    }
  }

  std::uint64_t begin_track(const std::string& name, std::uint64_t parent) {
    const std::uint64_t uuid = next_uuid_++;
    std::string thread;
    append_number(thread, kThreadPid, pid_);
    append_number(thread, kTid, uuid);
    append_bytes(thread, kThreadName, utf8(name));
    std::string descriptor;
    append_number(descriptor, kUuid, uuid);
    append_bytes(descriptor, kThread, thread);
    append_number(descriptor, kParent, parent);
    describe(descriptor);
    return uuid;
  }

  void describe(std::string_view descriptor) {
    std::string packet;
    append_number(packet, kSequence, kOneSequence);
    append_bytes(packet, kTrackDescriptor, descriptor);
    append_bytes(trace_, kPacket, packet);
  }

  void add(const PerfettoSlice& slice, std::uint64_t track) {
    std::string begin;
    append_number(begin, kType, kSliceBegin);
    append_number(begin, kTrack, track);
    append_bytes(begin, kEventName, utf8(slice.name));
    annotate(begin, "begin_ps", slice.begin);
    annotate(begin, "end_ps", slice.end);
    add_event(begin, slice.begin);
    std::string end;
    append_number(end, kType, kSliceEnd);
    append_number(end, kTrack, track);
    add_event(end, slice.end);
  }

  static void annotate(std::string& event, std::string_view name, Picos time) {
    std::string annotation;
    append_bytes(annotation, kAnnotationName, name);
    append_number(annotation, kUnsigned, static_cast<std::uint64_t>(time.count));
    append_bytes(event, kAnnotation, annotation);
  }

  void add_event(std::string_view event, Picos time) {
    std::string packet;
    append_number(packet, kTimestamp, static_cast<std::uint64_t>(time.count / 1000));
    append_number(packet, kSequence, kOneSequence);
    append_bytes(packet, kTrackEvent, event);
    append_bytes(trace_, kPacket, packet);
  }

  std::string trace_;
  std::uint64_t pid_ = 0;
  std::uint64_t next_uuid_ = 1;
};

}  // namespace

std::string write_perfetto(std::span<const PerfettoProcess> processes) {
  TraceWriter writer;
  for (const PerfettoProcess& process : processes) writer.add(process);
  return writer.take();
}

bool is_perfetto_name(std::string_view file) { return file.ends_with(".pftrace") || file.ends_with(".perfetto-trace"); }

}  // namespace hocket
