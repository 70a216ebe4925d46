# hocket_table(TARGET t ROOT r DIR d TYPE T HEADER h PREFIX p FUNCTION f)
#
# Every <stem>.cpp in ROOT/DIR (not below it) defines one record, in namespace hocket:
#     extern const T p_<stem>{...};
# The header ROOT/h defines T and declares `std::span<const T* const> f();`. This function writes the definition of f: the
# addresses of all records in alphabetical order of their stems. Dropping in a file is noticed on the next build.
# While the folder or the header is missing nothing is generated. A .cpp with the header's own stem is no plug-in.
function(hocket_table)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "TARGET;ROOT;DIR;TYPE;HEADER;PREFIX;FUNCTION" "")
  set(root "${PROJECT_SOURCE_DIR}/${arg_ROOT}")
  file(GLOB plugins CONFIGURE_DEPENDS "${root}/${arg_DIR}/*.cpp")
  file(GLOB header CONFIGURE_DEPENDS "${root}/${arg_HEADER}")
  string(REGEX REPLACE "\\.h$" ".cpp" own "${root}/${arg_HEADER}")
  list(REMOVE_ITEM plugins "${own}")
  if(NOT plugins OR NOT header)
    return()
  endif()

  list(TRANSFORM plugins REPLACE "^.*/([^/]+)\\.cpp$" "\\1" OUTPUT_VARIABLE stems)
  list(SORT stems)
  set(declarations "")
  set(addresses "")
  foreach(stem IN LISTS stems)
    string(APPEND declarations "extern const ${arg_TYPE} ${arg_PREFIX}_${stem};\n")
    string(APPEND addresses "      &${arg_PREFIX}_${stem},\n")
  endforeach()
  set(table "${PROJECT_BINARY_DIR}/tables/${arg_FUNCTION}.cpp")
  file(CONFIGURE OUTPUT "${table}" @ONLY CONTENT
"// Generated from the files in @arg_ROOT@/@arg_DIR@.
#include <span>

#include \"@arg_HEADER@\"

namespace hocket {

@declarations@
std::span<const @arg_TYPE@* const> @arg_FUNCTION@() {
  static constexpr const @arg_TYPE@* kTable[] = {
@addresses@  };
  return kTable;
}

}  // namespace hocket
")
  target_sources(${arg_TARGET} PRIVATE "${table}")
endfunction()
