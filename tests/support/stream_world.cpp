#include "support/stream_world.h"

#include <algorithm>

#include "base/random.h"
#include "engine/rank_run.h"
#include "support/pipe_rank.h"
#include "verify/one_shot.h"

namespace hocket::test {
namespace {

/// Turns without any movement after which nobody will ever move.
constexpr std::uint32_t kStill = 20'000;

struct Pipe {
  std::deque<std::byte> bytes;
  std::vector<std::byte> begun;  // of a frame, where a planted bug wants to see whole ones
  bool ended = false;            // the writer has gone; what is in the pipe still arrives
};

struct WorldRank {
  WorldRank(const Plan& plan, const Plan& odd_plan, std::uint32_t r, const Streams& streams, const PlantedBug& plant)
      : bug(plant.make ? plant.make() : std::make_unique<StreamBug>()),
        transport(r, streams, *bug),
        run(plan, r, *bug),
        odd(odd_plan, r, *bug) {
    messages.resize(plan.what().collective.ranks);
  }
  /// When the transport has all it works with.
  void load() {
    loaded = transport.load(bug->announced(messages_of(run.program()))).value();
    odd_loaded = transport.load(bug->announced(messages_of(odd.program()))).value();
  }
  std::unique_ptr<StreamBug> bug;
  PipeRank transport;
  RankRun run;
  RankRun odd;  // what a stranger runs in its odd call
  std::unique_ptr<LoadedProgram> loaded;
  std::unique_ptr<LoadedProgram> odd_loaded;
  std::vector<const std::byte*> messages;  // that the others have shown
  RankBytes output;
  std::optional<Error> error;
  std::uint32_t call = 0;  // finished
  bool running = false;
  bool decided = false;
  bool dead = false;
};

class StreamWorld {
 public:
  StreamWorld(StreamScenario scenario, const SimulatedCase& c, const PlantedBug& plant)
      : scenario_(scenario), case_(c), planted_(plant.make != nullptr), random_(c.options.seed) {
    const Plan& odd = c.foreign ? *c.foreign : *c.plan;
    for (std::uint32_t r = 0; r < c.ranks(); ++r) {
      streams_.push_back(streams_of(r, c.ranks(), c.options.seed));
      pipes_.emplace_back(streams_[r].count());
      ranks_.push_back(std::make_unique<WorldRank>(*c.plan, odd, r, streams_[r], plant));
    }
    for (const auto& rank : ranks_) rank->transport.lend_one_of(plant.lend_one_of.value_or(c.options.seed % 4));
    const auto segment = static_cast<std::uint64_t>(c.plan->segment().count);
    if (plant.bounces.value_or(c.options.seed % 5 > 1)) share_areas(segment);
    if (c.options.seed % 3 > 0) share_board();
    for (const auto& rank : ranks_) rank->load();
    most_ = std::max(most_, segment);
    capacity_ = 1 + random_.below(random_.chance(0.5) ? 100 : 5000) * (1 + segment / 256);
    victim_ = static_cast<std::uint32_t>(random_.below(c.ranks()));
    death_ = random_.below(random_.chance(0.5) ? 200 : 3000);
    odd_call_ = static_cast<std::uint32_t>(random_.below(kStreamCalls));
    outcome_.outputs.resize(c.ranks());
  }

  StreamOutcome run() {
    std::uint32_t still = 0;
    for (std::uint64_t turn = 0; still < kStill && !over(); ++turn) {
      if (scenario_ == StreamScenario::kDeath && turn == death_) kill(victim_);
      const auto r = static_cast<std::uint32_t>(random_.below(ranks_.size()));
      still = !ranks_[r]->dead && act(r) ? 0 : still + 1;
    }
    outcome_.hung = std::any_of(ranks_.begin(), ranks_.end(), [](const auto& r) { return !r->decided && !r->dead; });
    for (const auto& rank : ranks_) {
      outcome_.errors.push_back(rank->error);
      outcome_.calls.push_back(rank->call);
      outcome_.fetched += rank->transport.fetched();
      outcome_.bounced += rank->transport.bounce_counts().copied;
      outcome_.bounces_shared += rank->transport.bounce_counts().shared;
      outcome_.bounces_sent += rank->transport.bounce_counts().sent;
      outcome_.bounces_waited += rank->transport.bounce_counts().waits;
      outcome_.told += rank->error && rank->error->text.find("was told") != std::string::npos ? 1 : 0;
    }
    return std::move(outcome_);
  }

 private:
  /// A third of the seeds has one way per pair; otherwise a pair has one to three. One seed of seven has two streams of
  /// every way.
  static Streams streams_of(std::uint32_t rank, std::uint32_t ranks, std::uint64_t seed) {
    std::vector<std::vector<std::uint32_t>> lanes(ranks);
    for (std::uint32_t peer = 0; peer < ranks && seed % 3 > 0; ++peer) {
      if (peer == rank) continue;
      const std::uint64_t streams = 1 + (seed / 3 + rank + peer) % kLanes;
      for (std::uint32_t lane = 0; lane < kLanes; ++lane) lanes[peer].push_back(lane % streams);
    }
    std::vector<std::uint32_t> each(ranks, 1 + static_cast<std::uint32_t>(seed % 7 == 0));
    each[rank] = 1;
    return Streams(ranks, lanes, std::move(each));
  }
  /// Room for four of the longest segments, or eight: less than ranks could use.
  void share_areas(std::uint64_t segment) {
    const std::uint64_t lines = segment / 64 + 2;
    areas_.resize(ranks_.size());
    for (auto& area : areas_) area.resize(lines * 64 * (case_.options.seed % 2 == 0 ? 4 : 8));
    for (const auto& rank : ranks_) rank->transport.bounce_through(areas_);
  }
  void share_board() {
    board_ = std::vector<BoardSlots>(ranks_.size());
    for (std::uint32_t r = 0; r < ranks_.size(); ++r) ranks_[r]->transport.set_board(Board(board_, r));
  }
  /// The pipe that leads out of a rank's stream, and the one that leads into it.
  Pipe& out_of(std::uint32_t rank, std::uint32_t stream) { return pipes_[rank][stream]; }
  Pipe& into(std::uint32_t rank, std::uint32_t stream) {
    const std::uint32_t peer = streams_[rank].peer(stream);
    const std::vector<std::uint32_t> here = streams_[rank].to(peer);
    const auto which = std::find(here.begin(), here.end(), stream) - here.begin();
    return pipes_[peer][streams_[peer].to(rank)[static_cast<std::size_t>(which)]];
  }
  [[nodiscard]] bool over() const {
    return std::all_of(ranks_.begin(), ranks_.end(), [](const auto& r) { return r->decided || r->dead; });
  }

  [[nodiscard]] bool is_stranger(std::uint32_t r) const {
    const bool odd = scenario_ == StreamScenario::kMismatch || scenario_ == StreamScenario::kOtherPlan;
    return r == case_.stranger && odd && ranks_[r]->call == odd_call_;
  }
  [[nodiscard]] std::uint32_t calls_of(std::uint32_t r) const {
    return scenario_ == StreamScenario::kSkip && r == case_.stranger ? kStreamCalls - 1 : kStreamCalls;
  }

  bool act(std::uint32_t r) {
    switch (random_.below(3)) {
      case 0:
        return advance(r);
      case 1:
        return write(r, static_cast<std::uint32_t>(random_.below(streams_[r].count())));
      default:
        return read(r, static_cast<std::uint32_t>(random_.below(streams_[r].count())));
    }
  }

  bool advance(std::uint32_t r) {
    WorldRank& rank = *ranks_[r];
    if (rank.decided) return false;
    RankRun& run = is_stranger(r) ? rank.odd : rank.run;
    if (!rank.running) {
      if (random_.chance(0.8)) return true;  // the caller computes
      start(r, run);
    }
    if (rank.transport.in_doubt() && (rank.bug->judges_at_once() || has_read_all(r))) rank.transport.conclude();
    bool moved = rank.bug->poll(run.engine());
    moved = run.engine().step() || moved;
    if (run.engine().error()) {
      rank.error = run.engine().error();
      rank.transport.fail(*rank.error);
      rank.transport.end();
      leave(r);
      if (scenario_ == StreamScenario::kDeath && random_.chance(0.3)) vanish(r);
      return true;
    }
    if (rank.transport.on_board()) return take_shown(r, run) || moved;
    const bool may_end = rank.bug->call_may_end(rank.transport.flushed(), rank.transport.all_sent());
    if (run.engine().done() && may_end) finish(r);
    return moved || !rank.running;
  }

  bool take_shown(std::uint32_t r, RankRun& run) {
    WorldRank& rank = *ranks_[r];
    if (!rank.bug->have_shown(rank.transport.all_shown())) return false;
    for (std::uint32_t peer = 0; peer < ranks_.size(); ++peer) rank.messages[peer] = rank.transport.shown(peer);
    run.engine().finish_one_shot(rank.messages);
    ++outcome_.one_shots;
    finish(r);
    return true;
  }

  void start(std::uint32_t r, RankRun& run) {
    WorldRank& rank = *ranks_[r];
    rank.running = true;
    rank.output.assign(static_cast<std::size_t>(case_.plan->output_bytes().count), std::byte{0xee});
    const auto bound = run.bind({case_.inputs[r].data(), rank.output.data()});
    rank.bug->call_begins(run.engine(), rank.output.data());
    LoadedProgram& loaded = is_stranger(r) ? *rank.odd_loaded : *rank.loaded;
    const auto shown = one_shot_bytes(run.program().plan(), rank.transport.shown_bytes_max());
    if (bound && !board_.empty() && shown) {
      const std::byte* message = run.start_one_shot();
      rank.transport.begin_shown(loaded, {message, message == nullptr ? 0 : *shown});
      return;
    }
    rank.transport.begin(loaded);
    if (bound) run.start();
  }

  void finish(std::uint32_t r) {
    WorldRank& rank = *ranks_[r];
    rank.transport.end();
    rank.running = false;
    rank.output.resize(
        static_cast<std::size_t>(output_count(case_.plan->what(), r) * size_of(case_.plan->what().type)));
    outcome_.outputs[r].push_back(rank.output);
    if (++rank.call == calls_of(r)) leave(r);
  }

  void leave(std::uint32_t r) {
    ranks_[r]->decided = true;
    ranks_[r]->transport.take_leave();
  }

  /// All that had been said when a rank began to doubt; the rest would come too late for the real shells, which wait a
  /// moment for it.
  [[nodiscard]] bool has_read_all(std::uint32_t r) {
    for (std::uint32_t stream = 0; stream < streams_[r].count(); ++stream) {
      if (stream == r || !ranks_[r]->transport.is_open(stream)) continue;
      if (into(r, stream).ended || !into(r, stream).bytes.empty()) return false;
    }
    return true;
  }

  /// The process of a rank that has failed ends at once. On some streams its words have left, on others they are lost.
  void vanish(std::uint32_t r) {
    outcome_.vanished.insert(r);
    for (std::uint32_t stream = 0; stream < streams_[r].count(); ++stream) {
      if (stream != r && random_.chance(0.5)) write_all(r, stream);
    }
    end_pipes(r);
  }

  void write_all(std::uint32_t r, std::uint32_t stream) {
    PipeRank& transport = ranks_[r]->transport;
    while (!out_of(r, stream).ended && transport.has_outgoing(stream)) {
      std::array<std::span<const std::byte>, 8> parts;
      const std::size_t count = transport.gather(stream, parts);
      std::size_t bytes = 0;
      for (std::size_t i = 0; i < count; bytes += parts[i++].size()) put(r, stream, parts[i]);
      transport.sent(stream, bytes, nullptr);
    }
  }

  bool write(std::uint32_t r, std::uint32_t stream) {
    WorldRank& rank = *ranks_[r];
    Pipe& out = out_of(r, stream);
    if (stream == r || out.ended) return false;
    if (!rank.transport.has_outgoing(stream)) {
      out.ended = rank.decided;
      return out.ended;
    }
    if (out.bytes.size() >= capacity_) {
      ++outcome_.full_pipes;
      return false;
    }
    std::array<std::span<const std::byte>, 8> parts;
    const std::size_t count = rank.transport.gather(stream, parts);
    std::size_t left = 1 + random_.below(std::min<std::uint64_t>(capacity_ - out.bytes.size(), most_));
    std::size_t moved = 0;
    std::size_t wanted = 0;
    for (std::size_t i = 0; i < count; ++i) {
      wanted += parts[i].size();
      const std::size_t part = std::min(left, parts[i].size());
      if (part < parts[i].size()) ++outcome_.partial_writes;
      put(r, stream, parts[i].first(part));
      left -= part;
      moved += part;
    }
    rank.transport.sent(stream, rank.bug->written(moved, wanted), events_of(r));
    if (stream >= ranks_.size() && !rank.decided) outcome_.by_further += moved;
    return moved > 0;
  }

  void put(std::uint32_t r, std::uint32_t stream, std::span<const std::byte> bytes) {
    Pipe& out = out_of(r, stream);
    if (!planted_) {
      out.bytes.insert(out.bytes.end(), bytes.begin(), bytes.end());
      return;
    }
    out.begun.insert(out.begun.end(), bytes.begin(), bytes.end());
    while (cut_frame(r, stream, out)) {
    }
  }

  /// Gives the first whole frame to the planted bug; false when there is none.
  bool cut_frame(std::uint32_t r, std::uint32_t stream, Pipe& out) {
    if (out.begun.size() < kFrameHeaderBytes) return false;
    const auto header = decode_header(ConstHeaderBytes(out.begun.data(), kFrameHeaderBytes));
    const std::size_t whole = kFrameHeaderBytes + (header ? header->length : 0);
    if (!header || out.begun.size() < whole) return false;
    const auto at = [&out](std::size_t i) { return out.begun.begin() + static_cast<std::ptrdiff_t>(i); };
    std::vector<LeavingFrame> wire;
    ranks_[r]->bug->leave(stream, {*header, {at(kFrameHeaderBytes), at(whole)}}, wire);
    out.begun.erase(at(0), at(whole));
    for (LeavingFrame& frame : wire) {
      std::array<std::byte, kFrameHeaderBytes> head;
      frame.header.length = static_cast<std::uint32_t>(frame.payload.size());
      encode_header(frame.header, head);
      out.bytes.insert(out.bytes.end(), head.begin(), head.end());
      out.bytes.insert(out.bytes.end(), frame.payload.begin(), frame.payload.end());
    }
    return true;
  }

  bool read(std::uint32_t r, std::uint32_t stream) {
    WorldRank& rank = *ranks_[r];
    if (stream == r || !rank.transport.is_open(stream)) return false;
    Pipe& in = into(r, stream);
    if (!rank.transport.readable(stream)) {
      ++outcome_.held;
      return false;
    }
    if (rank.decided) {  // drained, as the shell does
      const bool any = !in.bytes.empty();
      in.bytes.clear();
      return any;
    }
    if (in.bytes.empty()) {
      if (!in.ended || !rank.bug->sees_the_end(stream)) return false;
      rank.transport.closed(stream, "it closed the connection");
      return true;
    }
    return deliver(r, stream, in);
  }

  bool deliver(std::uint32_t r, std::uint32_t stream, Pipe& in) {
    WorldRank& rank = *ranks_[r];
    std::size_t left = 1 + random_.below(std::min<std::uint64_t>(in.bytes.size(), most_));
    std::size_t moved = 0;
    for (const std::span<std::byte> room : rank.transport.room(stream)) {
      const std::size_t part = std::min(left, room.size());
      std::copy_n(in.bytes.begin(), part, room.begin());
      in.bytes.erase(in.bytes.begin(), in.bytes.begin() + static_cast<std::ptrdiff_t>(part));
      left -= part;
      moved += part;
    }
    if (moved % kFrameHeaderBytes != 0) ++outcome_.split_headers;
    rank.transport.received(stream, moved, events_of(r), {});
    return moved > 0;
  }

  TransportEvents* events_of(std::uint32_t r) {
    WorldRank& rank = *ranks_[r];
    return rank.running && !rank.decided ? rank.bug.get() : nullptr;
  }

  void kill(std::uint32_t r) {
    WorldRank& rank = *ranks_[r];
    if (rank.decided) return;
    rank.dead = true;
    outcome_.dead = r;
    end_pipes(r);
  }

  void end_pipes(std::uint32_t r) {
    for (std::uint32_t stream = 0; stream < streams_[r].count(); ++stream) {
      if (stream == r) continue;
      out_of(r, stream).ended = true;
      into(r, stream).bytes.clear();
      into(r, stream).ended = true;
      if (random_.chance(0.3)) out_of(r, stream).bytes.clear();  // a reset drops what was on its way
    }
  }

  StreamScenario scenario_;
  const SimulatedCase& case_;
  bool planted_;
  Random random_;
  std::vector<Streams> streams_;               // by rank
  std::vector<std::vector<Pipe>> pipes_;       // by rank and its stream
  std::vector<std::vector<std::byte>> areas_;  // by rank
  std::vector<BoardSlots> board_;              // by rank, in some worlds
  std::vector<std::unique_ptr<WorldRank>> ranks_;
  std::uint64_t most_ = 350;  // bytes that move at once
  std::size_t capacity_ = 1;
  std::uint32_t victim_ = 0;
  std::uint64_t death_ = 0;
  std::uint32_t odd_call_ = 0;
  StreamOutcome outcome_;
};

}  // namespace

StreamOutcome run_streams(StreamScenario scenario, const SimulatedCase& c, const PlantedBug& plant) {
  return StreamWorld(scenario, c, plant).run();
}

}  // namespace hocket::test
