# The page that `hocket report` writes, in headless Chromium: see page/page_test.py. Skipped where there is no browser.

add_custom_target(kind_page)
if(TARGET hocket_cli AND NOT HOCKET_SANITIZE)
  add_dependencies(kind_page hocket_cli)
  add_test(NAME page COMMAND Python3::Interpreter -B "${CMAKE_CURRENT_SOURCE_DIR}/page/page_test.py")
  set_tests_properties(page PROPERTIES LABELS page TIMEOUT 300 SKIP_RETURN_CODE 77
    ENVIRONMENT "HOCKET_BINARY=$<TARGET_FILE:hocket_cli>")
endif()
