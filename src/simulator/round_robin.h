// RoundRobin: parcels that wait for links, per link one queue for each input (the link they came by, or the sender
// itself); inputs that have something waiting are served in turns, one parcel each.
// Entries come from pools and are reused. Ownership: owns what waits. Threading: one owner.
// Refuses: popping where nothing waits (broken invariant, not checked).
#pragma once

#include <cstdint>
#include <vector>

#include "topology/topology.h"

namespace hocket {

template <class Parcel>
class RoundRobin {
 public:
  /// The input of what starts at the link's own vertex.
  static constexpr LinkId kLocal = 0xffffffffU;

  explicit RoundRobin(std::size_t links) : last_turn_(links, kNone) {}

  [[nodiscard]] bool empty(LinkId link) const { return last_turn_[link] == kNone; }

  void push(LinkId link, LinkId input, const Parcel& parcel) {
    const std::uint32_t entry = entries_.take();
    entries_[entry] = {parcel, kNone};
    const std::uint32_t found = find(link, input);
    if (found != kNone) {
      entries_[inputs_[found].last].behind = entry;
      inputs_[found].last = entry;
      return;
    }
    const std::uint32_t added = inputs_.take();
    const std::uint32_t last = last_turn_[link];
    const std::uint32_t next = last == kNone ? added : inputs_[last].behind;
    inputs_[added] = {input, entry, entry, next};
    if (last != kNone) inputs_[last].behind = added;
    last_turn_[link] = added;
  }

  /// The parcel whose input's turn it is.
  Parcel pop(LinkId link) { return take(link, last_turn_[link]); }

  /// The first parcel of the input whose first parcel has the least key; of equals the one whose turn comes first.
  template <class Key>
  Parcel pop_least(LinkId link, Key&& key) {
    const std::uint32_t last = last_turn_[link];
    std::uint32_t before = last;
    std::uint32_t best = last;
    do {
      const auto first_of = [&](std::uint32_t input) { return key(entries_[inputs_[input].first].parcel); };
      if (first_of(inputs_[before].behind) < first_of(inputs_[best].behind)) best = before;
      before = inputs_[before].behind;
    } while (before != last);
    return take(link, best);
  }

 private:
  static constexpr std::uint32_t kNone = 0xffffffffU;

  struct Entry {
    Parcel parcel;
    std::uint32_t behind = kNone;
  };
  /// Of one link; those of a link form a ring.
  struct Input {
    LinkId from = 0;
    std::uint32_t first = kNone;
    std::uint32_t last = kNone;
    std::uint32_t behind = kNone;
  };

  /// Items by index; those given back are taken first.
  template <class Item>
  class Pool {
   public:
    Item& operator[](std::uint32_t index) { return items_[index]; }
    std::uint32_t take() {
      if (free_ == kNone) {
        items_.emplace_back();
        return static_cast<std::uint32_t>(items_.size() - 1);
      }
      const std::uint32_t index = free_;
      free_ = items_[index].behind;
      return index;
    }
    void give_back(std::uint32_t index) {
      items_[index].behind = free_;
      free_ = index;
    }

   private:
    std::vector<Item> items_;
    std::uint32_t free_ = kNone;
  };

  /// The first parcel of the input behind `before`, which is served last from now on.
  Parcel take(LinkId link, std::uint32_t before) {
    const std::uint32_t turn = inputs_[before].behind;
    const std::uint32_t entry = inputs_[turn].first;
    inputs_[turn].first = entries_[entry].behind;
    if (inputs_[turn].first != kNone) {
      last_turn_[link] = turn;
    } else {
      last_turn_[link] = turn == before ? kNone : before;
      inputs_[before].behind = inputs_[turn].behind;
      inputs_.give_back(turn);
    }
    entries_.give_back(entry);
    return entries_[entry].parcel;
  }

  std::uint32_t find(LinkId link, LinkId input) {
    const std::uint32_t last = last_turn_[link];
    if (last == kNone) return kNone;
    std::uint32_t at = last;
    do {
      if (inputs_[at].from == input) return at;
      at = inputs_[at].behind;
    } while (at != last);
    return kNone;
  }

  std::vector<std::uint32_t> last_turn_;  // per link: the input served last (its successor is next), or kNone
  Pool<Entry> entries_;
  Pool<Input> inputs_;
};

}  // namespace hocket
