# Build options. Everything is on `hocket_options`, which only our own targets link, so that no flag reaches a project
# that uses hocket through add_subdirectory or find_package.

option(HOCKET_WERROR "Treat warnings as errors" OFF)
option(HOCKET_TOOLS "Build the command line" ${PROJECT_IS_TOP_LEVEL})
option(HOCKET_TESTS "Build the tests" ${PROJECT_IS_TOP_LEVEL})
option(HOCKET_LEAVES "Build the optional plug-ins whose libraries are here" ${PROJECT_IS_TOP_LEVEL})
option(HOCKET_BENCH "Build the benchmarks" OFF)
option(HOCKET_FUZZ "Link the fuzz targets with libFuzzer (clang)" OFF)
option(HOCKET_COVERAGE "Count executed lines" OFF)
option(HOCKET_HEADER_CHECK "Compile every header alone" OFF)
option(HOCKET_PRECOMPILE "Precompile the headers of others" OFF)
option(HOCKET_INSTALL "Install rules and package files" ${PROJECT_IS_TOP_LEVEL})
set(HOCKET_SANITIZE "" CACHE STRING "Sanitizers for all our code, for example address,undefined or thread")
set(HOCKET_TEST_SHARDS 2 CACHE STRING "Processes that share the tests of one kind")
set(HOCKET_UNIT_FILES "" CACHE STRING "Regular expression: only these files of tests/unit")
set(HOCKET_TEST_TIMEOUT_FACTOR 1 CACHE STRING "Multiplies every test's time limit")

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()

add_library(hocket_options INTERFACE)
target_compile_features(hocket_options INTERFACE cxx_std_20)
target_compile_options(hocket_options INTERFACE -Wall -Wextra -Wshadow $<$<BOOL:${HOCKET_WERROR}>:-Werror>)
# The mutexes carry annotations that clang checks.
target_compile_options(hocket_options INTERFACE $<$<CXX_COMPILER_ID:Clang>:-Wthread-safety>)
# g++ asks for every omitted designated initialiser, which is what option structs are for.
target_compile_options(hocket_options INTERFACE -Wno-missing-field-initializers)
# g++ 12 sees an overlap in every "text" + std::string at -O3 (its bug 105651).
target_compile_options(hocket_options INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>)
target_compile_definitions(hocket_options INTERFACE $<$<CONFIG:Debug>:_GLIBCXX_ASSERTIONS>)

if(HOCKET_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    message(FATAL_ERROR "HOCKET_FUZZ needs clang: libFuzzer is part of it")
  endif()
  target_compile_options(hocket_options INTERFACE -fsanitize=fuzzer-no-link)
  target_link_options(hocket_options INTERFACE -fsanitize=fuzzer-no-link)
  target_compile_definitions(hocket_options INTERFACE _GLIBCXX_ASSERTIONS)
endif()
if(HOCKET_SANITIZE)
  target_compile_options(hocket_options INTERFACE
    -fsanitize=${HOCKET_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  # With instrumented code in between, g++ no longer sees that a variable is set.
  target_compile_options(hocket_options INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
  target_compile_definitions(hocket_options INTERFACE _GLIBCXX_ASSERTIONS)
  target_link_options(hocket_options INTERFACE -fsanitize=${HOCKET_SANITIZE})
endif()
if(HOCKET_COVERAGE)
  target_compile_options(hocket_options INTERFACE --coverage -fprofile-update=atomic)
  target_link_options(hocket_options INTERFACE --coverage)
endif()

if(PROJECT_IS_TOP_LEVEL)
  set(CMAKE_CXX_EXTENSIONS OFF)
  set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
  find_program(HOCKET_CCACHE ccache)
  mark_as_advanced(HOCKET_CCACHE)
  if(HOCKET_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
    set(CMAKE_CXX_COMPILER_LAUNCHER "${HOCKET_CCACHE}")
  endif()
endif()
