#include "platform/network_fit.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "base/median.h"

namespace hocket {
namespace {

/// A measured time as x times the first unknown and y times the second.
struct Term {
  double x = 1;
  double y = 0;
  double time = 0;
  std::int64_t size = 0;

  [[nodiscard]] double error(double a, double b) const { return (a * x + b * y) / time - 1; }
};

struct Line {
  double a = 0;
  double b = 0;
};

/// Weighted least squares of relative errors; both unknowns are 0 or more.
Line solve(const std::vector<Term>& terms, const std::vector<double>& weights) {
  double xx = 0, xy = 0, yy = 0, x1 = 0, y1 = 0;
  for (std::size_t i = 0; i < terms.size(); ++i) {
    const double x = terms[i].x / terms[i].time;
    const double y = terms[i].y / terms[i].time;
    xx += weights[i] * x * x;
    xy += weights[i] * x * y;
    yy += weights[i] * y * y;
    x1 += weights[i] * x;
    y1 += weights[i] * y;
  }
  const double determinant = xx * yy - xy * xy;
  if (determinant > 1e-12 * xx * yy) {
    const Line line{(x1 * yy - y1 * xy) / determinant, (y1 * xx - x1 * xy) / determinant};
    if (line.a >= 0 && line.b >= 0) return line;
  }
  // One of them is 0: whichever leaves the smaller error.
  const Line no_a{0, yy > 0 ? y1 / yy : 0};
  const Line no_b{xx > 0 ? x1 / xx : 0, 0};
  return y1 * no_a.b >= x1 * no_b.a ? no_a : no_b;
}

std::vector<double> sizes_of_errors(const std::vector<Term>& terms, const Line& line) {
  std::vector<double> errors;
  errors.reserve(terms.size());
  for (const Term& term : terms) errors.push_back(std::abs(term.error(line.a, line.b)));
  return errors;
}

/// Huber's weights first, which cannot lose their way, then Tukey's, which take outliers out altogether.
Line fit_line(const std::vector<Term>& terms) {
  constexpr int kRounds = 20;
  constexpr double kHuber = 1.345, kTukey = 4.685, kDeviation = 1.4826, kLeastScale = 1e-9;
  std::vector<double> weights(terms.size(), 1);
  Line line = solve(terms, weights);
  for (int round = 0; round < 2 * kRounds; ++round) {
    const std::vector<double> errors = sizes_of_errors(terms, line);
    const double scale = std::max(kLeastScale, kDeviation * median_of(errors));
    for (std::size_t i = 0; i < terms.size(); ++i) {
      const double far = errors[i] / scale;
      const double inside = std::max(0.0, 1 - far * far / (kTukey * kTukey));
      weights[i] = round < kRounds ? std::min(1.0, kHuber / std::max(far, kHuber)) : inside * inside;
    }
    line = solve(terms, weights);
  }
  return line;
}

/// Fitted on every second size, tried on the others.
HeldOut hold_out(const std::vector<Term>& terms) {
  std::set<std::int64_t> sizes;
  for (const Term& term : terms) sizes.insert(term.size);
  std::vector<Term> seen, unseen;
  for (const Term& term : terms) {
    const auto place = std::distance(sizes.begin(), sizes.find(term.size));
    (place % 2 == 0 ? seen : unseen).push_back(term);
  }
  const std::vector<double> errors = sizes_of_errors(unseen, fit_line(seen));
  return {errors.size(), median_of(errors), errors.empty() ? 0 : *std::max_element(errors.begin(), errors.end())};
}

double port_bytes(const NetworkSample& s) {
  return bus_factor({.kind = s.kind, .ranks = s.ranks}) * static_cast<double>(s.size.count);
}

double links_in_line(const NetworkSample& s) {
  if (s.kind == CollectiveKind::kAllToAll) return 2;
  const double rounds = s.ranks - 1;
  return (s.kind == CollectiveKind::kAllReduce ? 4 : 2) * rounds;
}

Result<CollectiveFit> fit_collective(const std::vector<const NetworkSample*>& samples) {
  constexpr std::size_t kSizesLeast = 4;
  std::vector<Term> terms;
  terms.reserve(samples.size());
  std::set<std::int64_t> sizes;
  for (const NetworkSample* s : samples) {
    terms.push_back({1, port_bytes(*s), s->time.value, s->size.count});
    sizes.insert(s->size.count);
  }
  const NetworkSample& first = *samples.front();
  if (sizes.size() < kSizesLeast) {
    return fail(Code::kMalformed, "{} on {} ranks was measured for {} sizes, a fit needs {}", name_of(first.kind),
                first.ranks, sizes.size(), kSizesLeast);
  }
  const Line line = fit_line(terms);
  if (line.b <= 0) {
    return fail(Code::kMalformed, "{} on {} ranks: times from {} to {} do not grow with size: no bandwidth in them",
                name_of(first.kind), first.ranks, format_bytes({*sizes.begin()}), format_bytes({*sizes.rbegin()}));
  }
  return CollectiveFit{first.kind, first.ranks, terms.size(), {line.a}, {1 / line.b}, hold_out(terms)};
}

/// Measured figures have four digits at most, latencies of a hundred nanoseconds or more whole ones.
double rounded_bandwidth(double value) {
  std::string text = format_bandwidth({value});
  std::erase(text, ' ');
  return parse_figure(FigureUnit::kBandwidth, text).value_or(value);
}
double rounded_latency(double value) {
  constexpr double kNanoseconds = 1e9, kLeast = 100;
  const double whole = std::round(value * kNanoseconds);
  return whole >= kLeast ? whole / kNanoseconds : value;
}

}  // namespace

Result<NetworkFit> fit_network(std::span<const NetworkSample> samples) {
  std::map<std::pair<CollectiveKind, std::uint32_t>, std::vector<const NetworkSample*>> by_collective;
  std::vector<Term> terms;
  terms.reserve(samples.size());
  NetworkFit fit;
  for (const NetworkSample& s : samples) {
    by_collective[{s.kind, s.ranks}].push_back(&s);
    terms.push_back({links_in_line(s), port_bytes(s), s.time.value, s.size.count});
    fit.ranks = std::max(fit.ranks, s.ranks);
  }
  for (const auto& entry : by_collective) {
    HOCKET_TRY_ASSIGN(CollectiveFit one, fit_collective(entry.second));
    fit.collectives.push_back(std::move(one));
  }
  if (fit.collectives.empty()) return fail(Code::kMalformed, "no times to fit");
  const Line line = fit_line(terms);
  if (line.b <= 0) return fail(Code::kMalformed, "times of all collectives together do not grow with size");
  fit.latency = {line.a};
  fit.bandwidth = {1 / line.b};
  fit.samples = terms.size();
  fit.held_out = hold_out(terms);
  return fit;
}

Platform with_network(const Platform& base, const NetworkFit& fit, const std::string& source) {
  Platform platform = base;
  platform.name = base.name + " fitted";
  const Figure bandwidth{rounded_bandwidth(fit.bandwidth.value), source};
  const Figure latency{rounded_latency(fit.latency.value), source};
  platform.network = {.topology = fmt::format("switch:{}", fit.ranks), .links = {{bandwidth, latency}}, .uplink = {}};
  return platform;
}

}  // namespace hocket
