# cmake -DPROGRAM=... -P two_ranks.cmake
# Runs PROGRAM twice, as ranks 0 and 1 of a job that a launcher would start; rank 1 prints what both have computed.

string(RANDOM job)
set(two_ranks HOCKET_SIZE=2 HOCKET_LOCAL_SIZE=2 HOCKET_TIMEOUT=20s HOCKET_JOB=listing-${job})
execute_process(
  COMMAND "${CMAKE_COMMAND}" -E env HOCKET_RANK=0 ${two_ranks} "${PROGRAM}"
  COMMAND "${CMAKE_COMMAND}" -E env HOCKET_RANK=1 ${two_ranks} "${PROGRAM}"
  RESULTS_VARIABLE status OUTPUT_VARIABLE text ERROR_VARIABLE errors)
if(NOT status STREQUAL "0;0" OR NOT text STREQUAL "mean 1.5\n")
  message(FATAL_ERROR "two ranks ended with ${status}: ${text}${errors}")
endif()
