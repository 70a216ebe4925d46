// Descriptor: owns one file descriptor and closes it. Some are kept from children of this process (own_sockets.h).
// Ownership: moved, never copied; release() hands it on, to children too. Threading: one owner.
// Refuses: nothing; an empty one holds -1.
#pragma once

#include <unistd.h>

#include <utility>

#include "net/own_sockets.h"

namespace hocket {

class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept
      : number_(std::exchange(other.number_, -1)), kept_(std::exchange(other.kept_, false)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    if (this == &other) return *this;
    reset(std::exchange(other.number_, -1));
    kept_ = std::exchange(other.kept_, false);
    return *this;
  }
  ~Descriptor() { reset(); }

  [[nodiscard]] int get() const { return number_; }
  [[nodiscard]] bool open() const { return number_ >= 0; }
  [[nodiscard]] int release() {
    give_to_children();
    return std::exchange(number_, -1);
  }
  void reset(int number = -1) {
    give_to_children();
    if (number_ >= 0) ::close(number_);
    number_ = number;
  }
  /// From now on children of this process find it closed.
  void keep_from_children() {
    if (number_ >= 0) kept_ = add_own_socket(number_);
  }

 private:
  void give_to_children() {
    if (std::exchange(kept_, false)) remove_own_socket(number_);
  }
  int number_ = -1;
  bool kept_ = false;
};

}  // namespace hocket
