// What a user's file holds as text or bytes, whatever way it is stored: plain, gzip, UTF-8 with a byte order mark,
// UTF-16. Pipes and FIFOs are read too (`hocket topo <(nvidia-smi topo -m)`), with a limit on silence. Ownership: the
// result owns its bytes. Threading: pure apart from reading the file. Refuses: missing files, folders, sockets, FIFOs
// that stay silent, more than the limit (also after unpacking), damaged gzip streams (with the byte where they break),
// odd UTF-16.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"
#include "exchange/loss.h"

namespace hocket {

struct FileText {
  std::string bytes;  // unpacked, in UTF-8 when it is text
  LossReport losses;  // how it was stored, where that is worth saying
};

/// The bytes as they are on disk.
[[nodiscard]] Result<std::string> read_file_bytes(const std::string& path, std::size_t limit);

/// What to do with a gzip stream that ends early: refuse it, or keep what is there as a repair.
enum class CutGzip : std::uint8_t { kRefuse, kKeep };

/// Unpacks gzip, drops a byte order mark, turns UTF-16 into UTF-8; says so in the losses. Plain bytes pass unchanged.
[[nodiscard]] Result<FileText> decode_text(std::string bytes, std::string_view file_name, std::size_t limit,
                                           CutGzip cut = CutGzip::kRefuse);

/// Both of the above.
[[nodiscard]] Result<FileText> read_file_text(const std::string& path, std::size_t limit,
                                              CutGzip cut = CutGzip::kRefuse);

}  // namespace hocket
