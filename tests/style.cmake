# The house style as tests: each check reads the whole tree in about a second.
# `style.selftest` proves that they fail when they should.

foreach(check layers size names)
  add_test(NAME style.${check} COMMAND Python3::Interpreter -B "${PROJECT_SOURCE_DIR}/tools/check_${check}.py")
  set_tests_properties(style.${check} PROPERTIES LABELS style TIMEOUT 60)
endforeach()
add_test(NAME style.selftest COMMAND Python3::Interpreter -B -m unittest discover -q
  -s "${PROJECT_SOURCE_DIR}/tools" -p "*_test.py")
set_tests_properties(style.selftest PROPERTIES LABELS style TIMEOUT 60)
