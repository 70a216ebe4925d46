# Run by the build: writes OUTPUT, a C++ file with one hash of all headers below ROOT's src and include, in order of name.

file(GLOB_RECURSE headers RELATIVE "${ROOT}" "${ROOT}/src/*.h" "${ROOT}/include/*.h")
list(SORT headers)
set(sums "")
foreach(header IN LISTS headers)
  file(SHA256 "${ROOT}/${header}" sum)
  string(APPEND sums "${header} ${sum}\n")
endforeach()
string(SHA256 sum "${sums}")
string(SUBSTRING "${sum}" 0 16 sum)
file(WRITE "${OUTPUT}" "// Generated from the headers.
#include \"transport/plug_in.h\"

namespace hocket {
std::string_view headers_hash() { return \"${sum}\"; }
}  // namespace hocket
")
