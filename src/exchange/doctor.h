// What a file is, what is wrong with it, what would be ignored or assumed, and whether it survives being written and
// read again: for every topology format, schedule format and file kind known, recognised by content. Ownership: plain
// values. Threading: pure apart from reading the file. Refuses: what cannot be read or recognised, malformed content
// (line and column, or byte). Never crashes on any bytes.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "exchange/file_kind.h"

namespace hocket {

struct Diagnosis {
  std::string format;       // "nccl-xml"
  std::string description;  // "a topology: NCCL or RCCL topology XML"
  std::string lacking;      // why it cannot be planned on although it is well formed; empty: nothing
  Examination examination;
};

[[nodiscard]] Result<Diagnosis> diagnose_bytes(std::string_view bytes, std::string_view file_name);
[[nodiscard]] Result<Diagnosis> diagnose_file(const std::string& path);

/// ASTRA-sim's files belong together: the network's dimensions and the system's must agree, and several traces beside a
/// network must be one per npu. `names` are the files'.
[[nodiscard]] Result<void> compare_astra_files(std::span<const Diagnosis> diagnoses,
                                               std::span<const std::string> names);

}  // namespace hocket
