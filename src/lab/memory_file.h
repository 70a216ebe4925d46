// MemoryFile: a file without a name or a place on a disk, for what one process leaves another: gone when nobody holds
// it any more.
// Ownership: one descriptor. Threading: one owner. Refuses: nothing but a system without memory.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "net/descriptor.h"

namespace hocket {

class MemoryFile {
 public:
  [[nodiscard]] static Result<MemoryFile> make(std::string_view text = "");

  /// Read and written from the start.
  [[nodiscard]] int descriptor() const { return descriptor_.get(); }
  /// By which another process of this user can open it.
  [[nodiscard]] std::string path() const;
  /// All that it holds now.
  [[nodiscard]] std::string text() const;

 private:
  explicit MemoryFile(Descriptor descriptor) : descriptor_(std::move(descriptor)) {}

  Descriptor descriptor_;
};

}  // namespace hocket
