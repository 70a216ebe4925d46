# Run by the build: writes OUTPUT, a C++ file with the texts of STYLES and SCRIPTS.

# The text in parts below the 64 KiB that every compiler takes as one literal.
function(to_literals text result)
  string(LENGTH "${text}" length)
  set(literals "")
  set(begin 0)
  while(begin LESS length)
    string(SUBSTRING "${text}" ${begin} 16000 part)
    string(APPEND literals "R\"embedded(${part})embedded\"\n")
    math(EXPR begin "${begin} + 16000")
  endwhile()
  set(${result} "${literals}" PARENT_SCOPE)
endfunction()

function(join_files files result)
  set(joined "")
  foreach(name IN LISTS files)
    file(READ "${name}" text)
    string(APPEND joined "${text}")
  endforeach()
  to_literals("${joined}" literals)
  set(${result} "${literals}" PARENT_SCOPE)
endfunction()

join_files("${STYLES}" styles)
join_files("${SCRIPTS}" scripts)
file(WRITE "${OUTPUT}" "// Generated from src/report/page/*.css and *.js.
#include \"report/page/assets.h\"

namespace hocket {

std::string_view page_style() {
  static constexpr char kText[] = ${styles};
  return {kText, sizeof(kText) - 1};
}

std::string_view page_script() {
  static constexpr char kText[] = ${scripts};
  return {kText, sizeof(kText) - 1};
}

}  // namespace hocket
")
