// NetworkNamespace: a network namespace of Linux that has no name: it lives as long as this process holds it, or a
// process in it lives, and takes its devices, addresses and routes with it when it goes. Whatever ends this process,
// nothing is left behind.
// Ownership: one descriptor. Threading: Inside moves the calling thread, others stay where they are; sockets and
// devices stay in the namespace in which they were made. Refuses: systems and users that may not make one.
#pragma once

#include "base/result.h"
#include "net/descriptor.h"

namespace hocket {

class NetworkNamespace {
 public:
  /// A new one. The calling thread stays where it is.
  [[nodiscard]] static Result<NetworkNamespace> make();
  /// The one in which the calling thread is.
  [[nodiscard]] static Result<NetworkNamespace> current();

  [[nodiscard]] int descriptor() const { return descriptor_.get(); }
  /// A path by which another process of this user can open it.
  [[nodiscard]] std::string path() const;

  /// The calling thread is in `there` while this lives, and then in `home`.
  class Inside {
   public:
    Inside(const NetworkNamespace& there, const NetworkNamespace& home);
    ~Inside();
    Inside(const Inside&) = delete;
    Inside& operator=(const Inside&) = delete;

   private:
    const NetworkNamespace& home_;
  };

 private:
  explicit NetworkNamespace(Descriptor descriptor) : descriptor_(std::move(descriptor)) {}
  void enter() const;

  Descriptor descriptor_;
};

}  // namespace hocket
