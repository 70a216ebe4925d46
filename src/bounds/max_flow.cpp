#include "bounds/max_flow.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace hocket {

std::uint32_t MaxFlow::add_arc(std::uint32_t from, std::uint32_t to, double capacity) {
  tail_.insert(tail_.end(), {from, to});
  head_.insert(head_.end(), {to, from});
  capacity_.insert(capacity_.end(), {capacity, 0});
  indexed_ = false;
  return static_cast<std::uint32_t>(capacity_.size() / 2 - 1);
}

std::uint32_t MaxFlow::add_edge(std::uint32_t a, std::uint32_t b, double capacity) {
  const std::uint32_t arc = add_arc(a, b, capacity);
  capacity_.back() = capacity;
  return arc;
}

void MaxFlow::index() {
  begin_.assign(vertex_count_ + 1, 0);
  for (const std::uint32_t v : tail_) ++begin_[v + 1];
  std::partial_sum(begin_.begin(), begin_.end(), begin_.begin());
  arcs_.resize(tail_.size());
  next_.assign(begin_.begin(), begin_.end() - 1);
  for (std::uint32_t a = 0; a < tail_.size(); ++a) arcs_[next_[tail_[a]]++] = a;
  indexed_ = true;
}

bool MaxFlow::label(std::uint32_t source, std::uint32_t sink) {
  level_.assign(vertex_count_, -1);
  level_[source] = 0;
  queue_.assign(1, source);
  for (std::size_t i = 0; i < queue_.size() && level_[sink] < 0; ++i) {
    const std::uint32_t v = queue_[i];
    for (std::uint32_t k = begin_[v]; k < begin_[v + 1]; ++k) {
      const std::uint32_t to = head_[arcs_[k]];
      if (level_[to] >= 0 || residual_[arcs_[k]] <= tiny_) continue;
      level_[to] = level_[v] + 1;
      queue_.push_back(to);
    }
  }
  return level_[sink] >= 0;
}

double MaxFlow::block(std::uint32_t source, std::uint32_t sink, double enough) {
  double total = 0;
  path_.clear();
  for (std::uint32_t v = source; total < enough;) {
    if (v == sink) {
      double amount = std::numeric_limits<double>::infinity();
      for (const std::uint32_t a : path_) amount = std::min(amount, residual_[a]);
      std::size_t keep = path_.size();
      for (std::size_t i = path_.size(); i-- > 0;) {
        residual_[path_[i]] -= amount;
        residual_[path_[i] ^ 1] += amount;
        if (residual_[path_[i]] <= tiny_) keep = i;
      }
      total += amount;
      v = keep < path_.size() ? tail_[path_[keep]] : source;
      path_.resize(keep < path_.size() ? keep : 0);
      continue;
    }
    std::uint32_t& k = next_[v];
    while (k < begin_[v + 1] && (residual_[arcs_[k]] <= tiny_ || level_[head_[arcs_[k]]] != level_[v] + 1)) ++k;
    if (k < begin_[v + 1]) {
      path_.push_back(arcs_[k]);
      v = head_[arcs_[k]];
    } else if (path_.empty()) {
      break;
    } else {
      v = tail_[path_.back()];
      path_.pop_back();
      ++next_[v];
    }
  }
  return total;
}

double MaxFlow::run(std::uint32_t source, std::uint32_t sink, double enough) {
  if (!indexed_) index();
  residual_ = capacity_;
  double largest = 0;
  for (const double c : capacity_) largest = std::isfinite(c) ? std::max(largest, c) : largest;
  tiny_ = largest * 1e-12;
  double flow = 0;
  while (flow < enough && label(source, sink)) {
    next_.assign(begin_.begin(), begin_.end() - 1);
    flow += block(source, sink, enough - flow);
    if (std::isinf(flow)) break;
  }
  return flow;
}

}  // namespace hocket
