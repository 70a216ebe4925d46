# Plans on real links of network namespaces: see lab/lab_test.py. Skipped, with the reason, without root or namespaces.

if(TARGET hocket_cli AND NOT HOCKET_SANITIZE)
  add_test(NAME lab COMMAND Python3::Interpreter -B "${CMAKE_CURRENT_SOURCE_DIR}/lab/lab_test.py"
    --lab "${PROJECT_SOURCE_DIR}/bench/lab/lab.py" --binary $<TARGET_FILE:hocket_cli>)
  set_tests_properties(lab PROPERTIES LABELS lab TIMEOUT 300 SKIP_RETURN_CODE 77 RUN_SERIAL ON)
endif()
