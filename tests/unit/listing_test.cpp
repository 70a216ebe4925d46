// Lists of ranks in errors: the first few, and how many more.
#include <gtest/gtest.h>

#include "base/circle.h"
#include "transport/stream_rank.h"

namespace hocket {
namespace {

std::vector<std::string> names_of(std::size_t count) {
  std::vector<std::string> names;
  for (std::size_t r = 0; r < count; ++r) names.push_back(fmt::format("rank {}", r));
  return names;
}

std::size_t count_of(std::string_view word, const std::string& text) {
  std::size_t count = 0;
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++count;
  return count;
}

struct LastError final : TransportEvents {
  void arrived(OpId /*receive*/, std::uint32_t /*segments*/) override {}
  void acknowledged(OpId /*send*/, std::uint32_t /*segments*/) override {}
  void failed(const Error& error) override { text = error.text; }
  std::string text;
};

/// Rank 0 of many, in a call.
class Crowd final : public StreamRank {
 public:
  explicit Crowd(std::size_t ranks) : StreamRank(0, names_of(ranks)) {
    MessageProgram program;
    program.what = {{CollectiveKind::kAllReduce, rank_count(), 0}, 1, DataType::kF32, ReduceOp::kSum};
    program_ = load(std::move(program)).value();
    begin(*program_);
  }
  bool poll(TransportEvents& events) override { return report_failure(events); }
  void rest(SteadyTime /*until*/) override {}
  void interrupt() override {}
  [[nodiscard]] std::string text_when_all_are_lost() {
    for (std::uint32_t peer = 1; peer < rank_count(); ++peer) closed(peer, "it closed the connection");
    LastError last;
    while (!failure()) poll(last);
    return last.text;
  }

 private:
  std::unique_ptr<LoadedProgram> program_;
};

TEST(Listing, SaysHowManyMoreThereAre) {
  EXPECT_EQ(and_more(0), "");
  EXPECT_EQ(and_more(8), "");
  EXPECT_EQ(and_more(50), " and 42 more");
}

TEST(Listing, ALongCircleNamesItsFirstRanksAndItsLast) {
  EXPECT_EQ(chain_text(names_of(3)), "rank 0 waits for rank 1, that for rank 2");
  EXPECT_EQ(count_of("rank ", chain_text(names_of(9))), 9U);
  EXPECT_EQ(
      circle_text(names_of(60)),
      "rank 0 waits for rank 1, that for rank 2, that for rank 3, that for rank 4, that for rank 5, that for rank "
      "6, that for rank 7, and so on over 51 more, that for rank 59, that for rank 0");
}

TEST(Listing, ManyLateRanksAndManyLostOnesAreCounted) {
  Crowd crowd(60);
  const std::string late = crowd.late_ranks(1, std::chrono::seconds(1));
  EXPECT_EQ(count_of("never heard", late), 8U) << late;
  EXPECT_TRUE(late.ends_with("no progress from rank 8: never heard and 51 more")) << late;
  const std::string lost = crowd.text_when_all_are_lost();
  EXPECT_EQ(count_of("lost rank ", lost), 8U) << lost;
  EXPECT_TRUE(lost.ends_with(" lost rank 8: it closed the connection and 51 more")) << lost;
  Crowd few(4);
  EXPECT_EQ(few.text_when_all_are_lost(),
            "rank 0 lost rank 1: it closed the connection; lost rank 2: it closed the connection; lost rank 3: it "
            "closed the connection");
}

}  // namespace
}  // namespace hocket
