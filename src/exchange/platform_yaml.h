// hocket's platform files: YAML with every figure as `key: 900GB/s` or `key: {value: 900GB/s, source: "where from"}`.
//   hocket: platform            endpoint: {compute_units: 80, rates: {f16: 120TFLOPS}, memory_bandwidth: 900GB/s, ...}
//   name: "mine"                engines: [{name: ace, kind: ace, sram: 4MiB, machines: 16, ...}]
//   network: {topology: "torus:4x4", links: [{bandwidth: 25GB/s, latency: 500ns}]}
// What is written reads back as the same platform. Ownership: returns values. Threading: pure functions.
// Refuses: unknown keys and words (suggesting the right one), keys that stand twice, missing figures, wrong units,
// and what validate() refuses; errors name file, line, column, key and value.
#pragma once

#include <string>
#include <string_view>

#include "platform/platform.h"

namespace hocket {

/// True for text that says `hocket: platform`.
[[nodiscard]] bool looks_like_platform(std::string_view text);
[[nodiscard]] Result<Platform> read_platform(std::string_view text, std::string_view file_name);
[[nodiscard]] Result<std::string> write_platform(const Platform& platform);

/// A platform from a file or, when no such file exists, from a preset's words.
[[nodiscard]] Result<Platform> load_platform(std::string_view words_or_path);

}  // namespace hocket
