// StreamBug: a place for planted bugs in a StreamWorld, at one rank: between its engine and its protocol in both
// directions, between the protocol and the shell that moves the bytes, and in the frames that leave. As it stands it
// changes nothing; a bug overrides the one function that it breaks.
// Ownership: points to what the world owns. Threading: one owner. Refuses: nothing.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "engine/engine.h"
#include "net/frame.h"
#include "transport/rank_transport.h"

namespace hocket::test {

/// A whole frame on its way out.
struct LeavingFrame {
  FrameHeader header;
  std::vector<std::byte> payload;
};

class StreamBug : public Transport, public TransportEvents {
 public:
  /// Said once before anything, and before every call.
  void stand_before(RankTransport& protocol) { protocol_ = &protocol; }
  void call_begins(Engine& engine, std::byte* output) {
    engine_ = &engine;
    output_ = output;
    ++call_;
    begin();
  }

  // The engine asks, the protocol answers.
  void offer(const MessageEnd& send, SegmentRange segments, const std::byte* memory) override {
    protocol_->offer(send, segments, memory);
  }
  const std::byte* bytes(const MessageEnd& receive, std::uint32_t segment) override {
    return protocol_->bytes(receive, segment);
  }
  void acknowledge(const MessageEnd& receive, std::uint32_t segment) override {
    protocol_->acknowledge(receive, segment);
  }
  bool poll(TransportEvents& /*engine*/) override { return protocol_->poll(*this); }

  // The protocol reports, the engine hears.
  void arrived(OpId receive, std::uint32_t segments) override { engine_->arrived(receive, segments); }
  void acknowledged(OpId send, std::uint32_t segments) override { engine_->acknowledged(send, segments); }
  void failed(const Error& error) override { engine_->failed(error); }
  std::byte* landing(OpId receive, std::uint32_t segment) override { return engine_->landing(receive, segment); }

  // The shell and whoever drives the call.
  /// What is loaded for a plan.
  virtual MessageProgram announced(MessageProgram program) { return program; }
  [[nodiscard]] virtual bool call_may_end(bool flushed, bool /*all_sent*/) const { return flushed; }
  [[nodiscard]] virtual bool resumes(std::uint32_t /*stream*/) const { return true; }
  [[nodiscard]] virtual bool sees_the_end(std::uint32_t /*stream*/) const { return true; }
  /// Who has died is decided before all that has come is heard.
  [[nodiscard]] virtual bool judges_at_once() const { return false; }
  /// Bytes for which a write of `moved` of `wanted` is taken.
  [[nodiscard]] virtual std::size_t written(std::size_t moved, std::size_t /*wanted*/) const { return moved; }
  /// Where a lent segment is read.
  [[nodiscard]] virtual const std::byte* lent_from(const std::byte* where, std::uint32_t /*segment*/,
                                                   std::size_t /*bytes*/) const {
    return where;
  }
  /// May a call whose messages are shown end?
  [[nodiscard]] virtual bool have_shown(bool all) const { return all; }
  [[nodiscard]] virtual bool looks_at_boards() const { return true; }
  /// Whose bounce area is taken for that of a rank.
  [[nodiscard]] virtual std::uint32_t area_of(std::uint32_t rank) const { return rank; }

  // The frames that leave on a stream; `wire` takes what goes out instead of it.
  virtual void leave(std::uint32_t /*stream*/, LeavingFrame frame, std::vector<LeavingFrame>& wire) {
    wire.push_back(std::move(frame));
  }

 protected:
  virtual void begin() {}
  RankTransport* protocol_ = nullptr;
  Engine* engine_ = nullptr;
  std::byte* output_ = nullptr;
  std::uint32_t call_ = 0;  // of the one under way, from 1
};

/// Without `make` no frame is looked at.
struct PlantedBug {
  std::function<std::unique_ptr<StreamBug>()> make;  // one for every rank
  std::optional<std::uint64_t> lend_one_of{};        // one segment of so many is lent, whatever the seed says; 0: none
  std::optional<bool> bounces{};                     // the others are bounced, whatever the seed says
};

}  // namespace hocket::test
