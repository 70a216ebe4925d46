# What the documents and the help texts show is run and compared: see docs/commands.py.

if(TARGET hocket_cli)
  set(commands Python3::Interpreter -B "${CMAKE_CURRENT_SOURCE_DIR}/docs/commands.py"
    --binary $<TARGET_FILE:hocket_cli> --root "${PROJECT_SOURCE_DIR}")
  add_test(NAME docs.commands COMMAND ${commands})
  add_test(NAME docs.examples COMMAND ${commands} --examples)
  set_tests_properties(docs.commands docs.examples PROPERTIES LABELS docs TIMEOUT 300)
endif()
