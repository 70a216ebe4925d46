# Precompiled headers of others, for builds whose time goes mostly into parsing them (HOCKET_PRECOMPILE). Normal builds do
# without, so that a missing include is found there.

# hocket_precompile(TARGET [HEADER...]): the headers that most of our sources read, and those named.
function(hocket_precompile target)
  if(NOT HOCKET_PRECOMPILE)
    return()
  endif()
  target_precompile_headers(${target} PRIVATE <algorithm> <array> <chrono> <cmath> <cstdint> <filesystem> <functional>
    <fstream> <map> <memory> <numeric> <optional> <set> <span> <string> <string_view> <vector> <fmt/format.h>
    <nlohmann/json.hpp> <tl/expected.hpp> ${ARGN})
  # ccache has to be told that time stamps and definitions that no header reads make no difference.
  get_target_property(launcher ${target} CXX_COMPILER_LAUNCHER)
  if(launcher MATCHES "ccache$")
    set_target_properties(${target} PROPERTIES CXX_COMPILER_LAUNCHER
      "${CMAKE_COMMAND};-E;env;CCACHE_SLOPPINESS=pch_defines,time_macros;${launcher}")
  endif()
  target_compile_options(${target} PRIVATE
    $<IF:$<CXX_COMPILER_ID:Clang>,SHELL:-Xclang -fno-pch-timestamp,-fpch-preprocess>)
endfunction()
