#pragma once

// Which hocket this is: version, build type and compiler, as `hocket info` and every JSON document print them.
// The strings are literals of this binary: they live for ever and any thread may read them.
// Only version.cpp depends on them, so that a new version number recompiles one file.

#include <string_view>

namespace hocket {

struct BuildStamp {
  std::string_view version;     // "0.1.0"
  std::string_view build_type;  // "Release"
  std::string_view compiler;    // "g++ 12.2.0"
};

BuildStamp build_stamp();

}  // namespace hocket
