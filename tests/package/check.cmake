# cmake -DBUILD=... -DSOURCE=... -DVERSION=... -DCOMPILER=... -P check.cmake
# Installs hocket into a folder of the build tree, builds the consumer beside this file against it, with find_package
# and with pkg-config, and runs both.

function(run)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE status OUTPUT_VARIABLE text ERROR_VARIABLE text)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "failed (${status}): ${ARGV}\n${text}")
  endif()
  set(output "${text}" PARENT_SCOPE)
endfunction()

set(prefix "${BUILD}/package/prefix")
set(consumer "${BUILD}/package/consumer")
file(REMOVE_RECURSE "${prefix}" "${consumer}")
run("${CMAKE_COMMAND}" --install "${BUILD}" --prefix "${prefix}")
run("${CMAKE_COMMAND}" -S "${SOURCE}" -B "${consumer}" -G Ninja "-DCMAKE_CXX_COMPILER=${COMPILER}"
  "-DCMAKE_PREFIX_PATH=${prefix}")
run("${CMAKE_COMMAND}" --build "${consumer}")
run("${consumer}/consumer")
if(NOT output STREQUAL "hocket ${VERSION}\n")
  message(FATAL_ERROR "the consumer printed '${output}' instead of 'hocket ${VERSION}'")
endif()

run("${CMAKE_COMMAND}" -E env "PKG_CONFIG_PATH=${prefix}/lib/pkgconfig" pkg-config --cflags --libs hocket)
separate_arguments(flags UNIX_COMMAND "${output}")
run("${COMPILER}" -std=c++20 "${SOURCE}/main.cpp" -o "${consumer}/by_pkg_config" ${flags})
run("${consumer}/by_pkg_config")
if(NOT output STREQUAL "hocket ${VERSION}\n")
  message(FATAL_ERROR "built with pkg-config, the consumer printed '${output}'")
endif()

run("${CMAKE_COMMAND}" -E env "PKG_CONFIG_PATH=${prefix}/lib/pkgconfig" pkg-config --cflags --libs hocket)
separate_arguments(flags UNIX_COMMAND "${output}")
run(cc -std=c99 -Wall -Wextra -Werror -pedantic "${SOURCE}/main.c" -o "${consumer}/c_by_pkg_config" ${flags})

# A project in C alone.
run("${CMAKE_COMMAND}" -S "${SOURCE}/c_only" -B "${consumer}/c_only" -G Ninja "-DCMAKE_PREFIX_PATH=${prefix}")
run("${CMAKE_COMMAND}" --build "${consumer}/c_only")

# Two ranks that meet as a launcher's would; rank 1 prints.
string(RANDOM job)
set(two_ranks HOCKET_SIZE=2 HOCKET_LOCAL_SIZE=2 HOCKET_TIMEOUT=20s HOCKET_JOB=package-${job})
execute_process(
  COMMAND "${CMAKE_COMMAND}" -E env HOCKET_RANK=0 ${two_ranks} "${consumer}/consumer_c"
  COMMAND "${CMAKE_COMMAND}" -E env HOCKET_RANK=1 ${two_ranks} "${consumer}/consumer_c"
  RESULTS_VARIABLE status OUTPUT_VARIABLE text ERROR_VARIABLE errors)
if(NOT status STREQUAL "0;0" OR NOT text STREQUAL "rank 1: 3 4 6\n")
  message(FATAL_ERROR "two ranks in C ended with ${status}: ${text}${errors}")
endif()

file(GLOB_RECURSE strays "${prefix}/include/*")
list(FILTER strays EXCLUDE REGEX "/include/(hocket/.*|hocket)\\.h$")
if(strays)
  message(FATAL_ERROR "installed although private: ${strays}")
endif()
