# The libraries we link; docs/dependencies.md says why each is here. All come from Debian packages (scripts/setup.sh).

find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(pugixml REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(tl-expected REQUIRED)
find_package(yaml-cpp REQUIRED)
find_package(ZLIB REQUIRED)
find_package(OpenSSL REQUIRED COMPONENTS Crypto)

if(HOCKET_TOOLS)
  find_package(CLI11 REQUIRED)
endif()
if(HOCKET_BENCH)
  find_package(benchmark REQUIRED)
endif()
if(HOCKET_TESTS)
  find_package(GTest REQUIRED)
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
  # Debian's rapidcheckConfig.cmake computes a wrong prefix, so the two parts are looked up by hand.
  find_path(HOCKET_RAPIDCHECK_INCLUDE rapidcheck.h REQUIRED)
  find_library(HOCKET_RAPIDCHECK_LIBRARY rapidcheck REQUIRED)
  mark_as_advanced(HOCKET_RAPIDCHECK_INCLUDE HOCKET_RAPIDCHECK_LIBRARY)
  add_library(hocket_rapidcheck STATIC IMPORTED)
  set_target_properties(hocket_rapidcheck PROPERTIES
    IMPORTED_LOCATION "${HOCKET_RAPIDCHECK_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${HOCKET_RAPIDCHECK_INCLUDE}")
endif()
