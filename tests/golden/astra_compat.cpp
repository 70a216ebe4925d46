// ASTRA-sim's rules against its closed form and its figures, to the nanosecond. The closed form is the oracle only: the
// simulator runs every message. Figures: the front end of March 2026 with the analytical network of November 2024.
#include <gtest/gtest.h>

#include <cmath>

#include "simulator/astra_compat.h"

namespace hocket {
namespace {

constexpr double kGibi = 1024.0 * 1024 * 1024;
constexpr std::int64_t kMiB = 1 << 20;

struct Setting {
  std::uint32_t ranks = 8;
  std::int64_t size = kMiB;  // as ASTRA-sim counts: of an all_gather one rank's share
  std::uint32_t chunks = 4;
  double latency_ns = 500;
  double rate_GiBps = 50;
  std::int64_t endpoint_ns = 10;
  double memory_GBps = 1600;
};

ProductDimension ring(std::uint32_t ranks, double rate_GiBps, double latency_ns) {
  return {ProductShape::kRing, ranks, {{rate_GiBps * kGibi}, {latency_ns / 1e9}}};
}

/// T of one chunk: steps of floor(L + m / B) + e, of which some reduce in 3 floor(m / M), and e at the end.
std::int64_t closed_form(const Setting& s, CollectiveKind kind) {
  const bool gathers = kind == CollectiveKind::kAllGather;
  const auto share = static_cast<double>(s.size / s.chunks / (gathers ? 1 : s.ranks));
  const double bytes_per_ns = s.rate_GiBps * kGibi / 1e9;
  const auto message = static_cast<std::int64_t>(std::floor(s.latency_ns + share / bytes_per_ns)) + s.endpoint_ns;
  const auto reduction = 3 * static_cast<std::int64_t>(std::floor(share / s.memory_GBps));
  const std::int64_t steps = s.ranks - 1;
  const std::int64_t sends = kind == CollectiveKind::kAllReduce ? 2 * steps : steps;
  return s.chunks * (sends * message + (gathers ? 0 : steps * reduction) + s.endpoint_ns);
}

std::int64_t simulated_ns(std::span<const ProductDimension> dimensions, CollectiveKind kind, const Setting& s) {
  const std::int64_t whole = kind == CollectiveKind::kAllGather ? s.size * s.ranks : s.size;
  const auto result = simulate_astra({dimensions, kind, {whole}, s.chunks, {s.endpoint_ns, {s.memory_GBps * 1e9}}});
  EXPECT_TRUE(result) << result.error().text;
  if (!result) return -1;
  EXPECT_EQ(result->time.count % 1000, 0);
  return result->time.count / 1000;
}

void expect_closed_form(const Setting& s) {
  const ProductDimension line = ring(s.ranks, s.rate_GiBps, s.latency_ns);
  for (const CollectiveKind kind :
       {CollectiveKind::kAllReduce, CollectiveKind::kReduceScatter, CollectiveKind::kAllGather}) {
    EXPECT_EQ(simulated_ns(std::span(&line, 1), kind, s), closed_form(s, kind))
        << name_of(kind) << " ranks " << s.ranks << " size " << s.size << " chunks " << s.chunks << " latency "
        << s.latency_ns << " rate " << s.rate_GiBps << " endpoint " << s.endpoint_ns << " memory " << s.memory_GBps;
  }
}

/// Every latency and rate for one cut of the bytes.
std::size_t expect_closed_form_on_links(std::uint32_t ranks, std::uint32_t chunks, std::int64_t piece) {
  std::size_t settings = 0;
  for (const double latency : {0.0, 1.0, 500.0, 12345.5}) {
    for (const double rate : {0.5, 12.5, 50.0, 450.0}) {
      expect_closed_form({.ranks = ranks,
                          .size = piece * ranks * chunks,
                          .chunks = chunks,
                          .latency_ns = latency,
                          .rate_GiBps = rate});
      ++settings;
    }
  }
  return settings;
}

TEST(AstraRules, MatchTheClosedFormOfARingToTheNanosecond) {
  std::size_t settings = 0;
  for (const std::uint32_t ranks : {2U, 3U, 4U, 5U, 8U, 16U}) {
    for (const std::uint32_t chunks : {1U, 2U, 4U, 7U, 64U}) {
      for (const std::int64_t piece : {1, 3, 1000, 4096, 65537, 33554432})
        settings += expect_closed_form_on_links(ranks, chunks, piece);
    }
  }
  EXPECT_EQ(settings, 2880U);
}

TEST(AstraRules, MatchTheClosedFormForEveryEndpointAndMemory) {
  for (const std::int64_t endpoint : {0, 1, 10, 1000}) {
    for (const double memory : {0.5, 50.0, 1600.0, 8000.0}) {
      for (const std::uint32_t ranks : {2U, 6U, 32U, 64U}) {
        expect_closed_form(
            {.ranks = ranks, .size = 12288 * ranks * 4, .chunks = 4, .endpoint_ns = endpoint, .memory_GBps = memory});
      }
    }
  }
}

struct Row {
  std::vector<std::uint32_t> shape;
  std::vector<std::int64_t> ns;  // of 1, 16, 64, 256 and 1024 MiB
};

// all_reduce, 50 "GB/s", 500 ns, 4 splits, one active chunk, localBWAware, rings in every dimension.
TEST(AstraRules, GiveItsFiguresOnRingsAndTori) {
  const std::vector<Row> rows{{{8}, {64440, 602908, 2326112, 9218928, 36790164}},
                              {{64}, {296896, 902200, 2840836, 10595884, 41613556}},
                              {{512}, {2121712}},
                              {{8, 8}, {64480, 602948, 2326152, 9218968, 36790204}},
                              {{4, 4, 4}, {43040, 504644, 1981676, 7889780, 31522268}},
                              {{8, 8, 8}, {64480, 602948, 2326152, 9218968, 36790204}},
                              {{16, 16, 16}, {104455, 676460, 2522900, 9908060, 39448580}},
                              {{64, 64}, {331818, 902240, 2840876, 10595924, 41613596}}};
  constexpr std::array<std::int64_t, 5> kSizes{1, 16, 64, 256, 1024};
  for (const Row& row : rows) {
    std::vector<ProductDimension> dimensions;
    for (const std::uint32_t extent : row.shape) dimensions.push_back(ring(extent, 50, 500));
    for (std::size_t i = 0; i < row.ns.size(); ++i) {
      EXPECT_EQ(simulated_ns(dimensions, CollectiveKind::kAllReduce, {.size = kSizes[i] * kMiB}), row.ns[i])
          << row.shape.size() << " dimension(s) of " << row.shape[0] << ", " << kSizes[i] << " MiB";
    }
  }
}

TEST(AstraRules, AreRefusedWhereTheyAreNotKnown) {
  const ProductDimension line = ring(8, 50, 500);
  const std::vector<ProductDimension> torus{line, line};
  ProductDimension star = line;
  star.shape = ProductShape::kSwitch;
  const auto refused = [](const AstraCase& work, std::string_view words) {
    const auto result = simulate_astra(work);
    ASSERT_FALSE(result) << words;
    EXPECT_NE(result.error().text.find(words), std::string::npos) << result.error().text;
    EXPECT_EQ(exit_code(result.error().code), 2);
  };
  const std::span<const ProductDimension> one(&line, 1);
  refused({one, CollectiveKind::kAllReduce, {100}, 4, {}}, "100 bytes do not divide into 4 chunks");
  refused({one, CollectiveKind::kAllReduce, {kMiB}, 0, {}}, "0 chunks");
  refused({one, CollectiveKind::kAllToAll, {kMiB}, 1, {}}, "all_to_all over 1 dimension(s)");
  refused({torus, CollectiveKind::kAllGather, {kMiB}, 1, {}}, "all_gather over 2 dimension(s)");
  refused({std::span(&star, 1), CollectiveKind::kAllReduce, {kMiB}, 1, {}}, "shape switch");
  refused({{}, CollectiveKind::kAllReduce, {kMiB}, 1, {}}, "without dimensions");
  refused({one, CollectiveKind::kAllReduce, {kMiB}, 1, {-1, {1e12}}}, "endpoint delay of -1 ns");
  refused({one, CollectiveKind::kAllReduce, {kMiB}, 1, {1, {0}}}, "memory rate of 0");
}

}  // namespace
}  // namespace hocket
