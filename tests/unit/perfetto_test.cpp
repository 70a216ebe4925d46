// Perfetto traces parsed back by the field numbers of Perfetto's schema: processes, tracks, slices, and every time to
// the picosecond.
#include "exchange/perfetto.h"

#include <gtest/gtest.h>

#include <map>

#include "exchange/wire.h"
#include "simulator/step_timeline.h"
#include "simulator/timeline.h"
#include "support/small_schedules.h"

namespace hocket {
namespace {

using Fields = std::vector<WireField>;

Fields fields_of(std::string_view bytes) {
  Fields fields;
  WireReader reader(bytes);
  while (!reader.at_end()) {
    const auto field = reader.field();
    EXPECT_TRUE(field) << field.error().text;
    if (!field) return fields;
    fields.push_back(*field);
  }
  return fields;
}

const WireField& one(const Fields& fields, std::uint32_t number) {
  const auto found = std::find_if(fields.begin(), fields.end(), [&](const WireField& f) { return f.number == number; });
  static const WireField kNone;
  EXPECT_NE(found, fields.end()) << number;
  return found == fields.end() ? kNone : *found;
}

bool has(const Fields& fields, std::uint32_t number) {
  return std::any_of(fields.begin(), fields.end(), [&](const WireField& f) { return f.number == number; });
}

struct ReadTrack {
  std::string process, name;
  std::vector<PerfettoSlice> slices;
  std::optional<std::uint64_t> open_since;  // nanoseconds
};

/// What Perfetto's trace processor would see.
class ReadTrace {
 public:
  explicit ReadTrace(std::string_view bytes) {
    for (const WireField& packet : fields_of(bytes)) {
      EXPECT_EQ(packet.number, 1U);
      const Fields fields = fields_of(packet.bytes);
      EXPECT_EQ(one(fields, 10).value, 1U);
      if (has(fields, 60)) {
        describe(fields_of(one(fields, 60).bytes));
      } else {
        take(fields_of(one(fields, 11).bytes), one(fields, 8).value);
      }
    }
    for (const auto& entry : tracks) EXPECT_FALSE(entry.second.open_since);
  }

  [[nodiscard]] std::vector<ReadTrack> in_order() const {
    std::vector<ReadTrack> list;
    for (const auto& entry : tracks) list.push_back(entry.second);
    return list;
  }

  std::map<std::uint64_t, std::string> processes;
  std::map<std::uint64_t, ReadTrack> tracks;

 private:
  void describe(const Fields& descriptor) {
    const std::uint64_t uuid = one(descriptor, 1).value;
    EXPECT_FALSE(tracks.contains(uuid) || processes.contains(uuid));
    if (has(descriptor, 3)) {
      processes[uuid] = one(fields_of(one(descriptor, 3).bytes), 6).bytes;
      return;
    }
    const std::uint64_t parent = one(descriptor, 5).value;
    ASSERT_TRUE(processes.contains(parent));
    tracks[uuid] = {processes[parent], std::string(one(fields_of(one(descriptor, 4).bytes), 5).bytes), {}, {}};
  }

  void take(const Fields& event, std::uint64_t nanoseconds) {
    ASSERT_TRUE(tracks.contains(one(event, 11).value));
    ReadTrack& track = tracks[one(event, 11).value];
    if (one(event, 9).value == 2) {
      ASSERT_TRUE(track.open_since);
      EXPECT_GE(nanoseconds, *track.open_since);
      EXPECT_EQ(static_cast<std::uint64_t>(track.slices.back().end.count / 1000), nanoseconds);
      track.open_since.reset();
      return;
    }
    ASSERT_EQ(one(event, 9).value, 1U);
    ASSERT_FALSE(track.open_since) << "slices overlap";
    track.open_since = nanoseconds;
    PerfettoSlice slice{std::string(one(event, 23).bytes), {}, {}};
    for (const WireField& field : event) {
      if (field.number != 4) continue;
      const Fields annotation = fields_of(field.bytes);
      Picos& time = one(annotation, 10).bytes == "begin_ps" ? slice.begin : slice.end;
      time = Picos{static_cast<std::int64_t>(one(annotation, 3).value)};
    }
    EXPECT_EQ(static_cast<std::uint64_t>(slice.begin.count / 1000), nanoseconds);
    track.slices.push_back(slice);
  }
};

TEST(Perfetto, StepsComeBackToThePicosecond) {
  const std::vector<StepInterval> bars{{"forward", true, Picos{0}, Picos{1999}},
                                       {"communication", false, Picos{500}, Picos{2500}},
                                       {"backward", true, Picos{1999}, Picos{(std::int64_t{1} << 61) + 7}}};
  const std::vector<StepTrack> endpoints{{"ace", bars}, {"id\xff\"eal\xc3\xa9", {}}};
  const ReadTrace trace(step_timeline(endpoints, "a.pftrace"));
  const std::vector<ReadTrack> tracks = trace.in_order();
  ASSERT_EQ(tracks.size(), 4U);
  EXPECT_EQ(tracks[0].process, "ace");
  EXPECT_EQ(tracks[0].name, "compute");
  EXPECT_EQ(tracks[1].name, "communication");
  EXPECT_EQ(tracks[3].process, "id?\"eal\xc3\xa9");
  ASSERT_EQ(tracks[0].slices.size(), 2U);
  EXPECT_EQ(tracks[0].slices[1].name, "backward");
  EXPECT_EQ(tracks[0].slices[1].begin.count, 1999);
  EXPECT_EQ(tracks[0].slices[1].end.count, (std::int64_t{1} << 61) + 7);
  ASSERT_EQ(tracks[1].slices.size(), 1U);
  EXPECT_EQ(tracks[1].slices[0].end.count, 2500);
}

TEST(Perfetto, SlicesThatOverlapGoToFurtherTracks) {
  const PerfettoProcess process{
      "links",
      {{"a", {{"1", Picos{0}, Picos{10}}, {"2", Picos{5}, Picos{20}}, {"3", Picos{10}, Picos{30}}}}, {"b", {}}}};
  const std::vector<ReadTrack> tracks = ReadTrace(write_perfetto(std::span(&process, 1))).in_order();
  ASSERT_EQ(tracks.size(), 3U);
  EXPECT_EQ(tracks[0].slices.size(), 2U);
  EXPECT_EQ(tracks[1].name, "a");
  EXPECT_EQ(tracks[1].slices.size(), 1U);
  EXPECT_EQ(tracks[2].name, "b");
}

TEST(Perfetto, LinksOfASimulationHaveAllTheirBars) {
  const Topology topology = *[] {
    TopologyBuilder builder("ring");
    for (const char* name : {"a", "b", "c", "d"}) builder.add_vertex(name, VertexKind::kNpu);
    for (VertexId v = 0; v < 4; ++v) builder.add_link(v, (v + 1) % 4, {1e9}, {123e-12});
    return std::move(builder).build();
  }();
  const VerifiedSchedule verified = prove(test::ring_all_reduce(4, 1).value()).value();
  const Plan plan =
      Plan::bind(verified, {verified.schedule().collective(), 4096, DataType::kF32, ReduceOp::kSum}, {2048}).value();
  const SimulationResult result = simulate(plan, topology, {.timeline = true}).value();
  const ReadTrace trace(perfetto_timeline(result, plan, topology));
  std::size_t bars = 0;
  Picos held{};
  for (const auto& entry : trace.tracks) {
    bars += entry.second.slices.size();
    for (const PerfettoSlice& slice : entry.second.slices) held = held + (slice.end - slice.begin);
  }
  EXPECT_EQ(trace.tracks.size(), 4U);
  EXPECT_EQ(bars, result.timeline.size());
  Picos busy{};
  for (const Picos link : result.link_busy) busy = busy + link;
  EXPECT_EQ(held.count, busy.count);
}

TEST(Perfetto, IsChosenByTheNameOfTheFile) {
  EXPECT_TRUE(is_perfetto_name("x.pftrace"));
  EXPECT_TRUE(is_perfetto_name("a/b.perfetto-trace"));
  EXPECT_FALSE(is_perfetto_name("pftrace.json"));
  EXPECT_EQ(step_timeline({}, "x.json").front(), '{');
}

}  // namespace
}  // namespace hocket
