#include "base/version.h"

#ifndef HOCKET_VERSION
#error "the build defines HOCKET_VERSION and HOCKET_BUILD_TYPE for this file"
#endif

namespace hocket {
namespace {

#ifdef __clang__
constexpr std::string_view kCompiler = "clang " __clang_version__;
#else
constexpr std::string_view kCompiler = "g++ " __VERSION__;
#endif

}  // namespace

BuildStamp build_stamp() { return {.version = HOCKET_VERSION, .build_type = HOCKET_BUILD_TYPE, .compiler = kCompiler}; }

}  // namespace hocket
