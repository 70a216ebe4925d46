#include "schedule/matching.h"

#include <algorithm>
#include <numeric>

namespace hocket {
namespace {

struct End {
  std::uint32_t sender;
  std::uint32_t channel;
  OpId op;
  bool operator<(const End& other) const {
    if (sender != other.sender) return sender < other.sender;
    return channel != other.channel ? channel < other.channel : op < other.op;
  }
};

void pair_up(std::vector<End>& sends, std::vector<End>& receives, std::vector<OpId>& matches) {
  std::sort(sends.begin(), sends.end());
  std::sort(receives.begin(), receives.end());
  const auto connection = [](const End& e) { return std::uint64_t{e.sender} << 32 | e.channel; };
  auto s = sends.begin();
  auto r = receives.begin();
  while (s != sends.end() && r != receives.end()) {
    if (connection(*s) < connection(*r)) {
      ++s;
    } else if (connection(*r) < connection(*s)) {
      ++r;
    } else {
      matches[s->op] = r->op;
      matches[r->op] = s->op;
      ++s;
      ++r;
    }
  }
}

}  // namespace

std::vector<OpId> match_messages(std::span<const Op> ops, std::span<const OpId> rank_begin) {
  const std::size_t ranks = rank_begin.size() - 1;
  std::vector<OpId> matches(ops.size(), kNoOp);
  // Sends grouped by receiver (counting sort), so that each receiver's ends are paired by one small sort.
  std::vector<std::size_t> begin(ranks + 1, 0);
  for (const Op& op : ops) {
    if (op.sends()) ++begin[op.peer + 1];
  }
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
  std::vector<OpId> by_receiver(begin.back());
  std::vector<std::size_t> next(begin.begin(), begin.end() - 1);
  for (OpId id = 0; id < ops.size(); ++id) {
    if (ops[id].sends()) by_receiver[next[ops[id].peer]++] = id;
  }
  std::vector<End> sends;
  std::vector<End> receives;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    sends.clear();
    receives.clear();
    std::uint32_t sender = 0;
    for (std::size_t i = begin[rank]; i < begin[rank + 1]; ++i) {
      const OpId id = by_receiver[i];
      while (rank_begin[sender + 1] <= id) ++sender;
      sends.push_back({sender, ops[id].channel, id});
    }
    for (OpId id = rank_begin[rank]; id < rank_begin[rank + 1]; ++id) {
      if (ops[id].receives()) receives.push_back({ops[id].peer, ops[id].channel, id});
    }
    pair_up(sends, receives, matches);
  }
  return matches;
}

}  // namespace hocket
