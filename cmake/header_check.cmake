# Every header compiles alone: one generated file per header, compiled and thrown away.

file(GLOB_RECURSE headers RELATIVE "${PROJECT_SOURCE_DIR}" CONFIGURE_DEPENDS
  "${PROJECT_SOURCE_DIR}/src/*.h" "${PROJECT_SOURCE_DIR}/include/*.h" "${PROJECT_SOURCE_DIR}/tools/hocket/*.h")
list(FILTER headers EXCLUDE REGEX "^src/leaf/")
set(header_sources "")
foreach(header IN LISTS headers)
  string(REGEX REPLACE "^(src|include|tools/hocket)/" "" name "${header}")
  set(source "${PROJECT_BINARY_DIR}/headers/${header}.cpp")
  file(CONFIGURE OUTPUT "${source}" @ONLY CONTENT "#include \"@name@\"\n")
  list(APPEND header_sources "${source}")
endforeach()

if(header_sources)
  add_library(hocket_headers OBJECT ${header_sources})
  target_include_directories(hocket_headers PRIVATE "${PROJECT_SOURCE_DIR}/tools/hocket")
  target_link_libraries(hocket_headers PRIVATE hocket_internal)
  if(HOCKET_TOOLS)
    target_link_libraries(hocket_headers PRIVATE CLI11::CLI11)
  endif()
  target_compile_options(hocket_headers PRIVATE -O0)
endif()
