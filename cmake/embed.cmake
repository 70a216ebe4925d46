# The page's style sheets and scripts as string literals, made anew whenever one of the files changes or a file is added:
# src/report/page/*.css -> page_style(), *.js -> page_script(), each in alphabetical order.

file(GLOB page_styles CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/report/page/*.css")
file(GLOB page_scripts CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/report/page/*.js")
list(SORT page_styles)
list(SORT page_scripts)
set(page_assets "${PROJECT_BINARY_DIR}/embedded/page_assets.cpp")
set(embed_script "${CMAKE_CURRENT_LIST_DIR}/embed_files.cmake")
add_custom_command(OUTPUT "${page_assets}"
  COMMAND "${CMAKE_COMMAND}" "-DOUTPUT=${page_assets}" "-DSTYLES=${page_styles}" "-DSCRIPTS=${page_scripts}"
          -P "${embed_script}"
  DEPENDS ${page_styles} ${page_scripts} "${embed_script}"
  COMMENT "Embedding the page's files" VERBATIM)
target_sources(hocket PRIVATE "${page_assets}")

# What a plug-in and the program that loads it must agree on, made anew whenever a header changes: headers_hash().
file(GLOB_RECURSE hashed_headers CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/*.h" "${PROJECT_SOURCE_DIR}/include/*.h")
set(headers_hash "${PROJECT_BINARY_DIR}/embedded/headers_hash.cpp")
set(hash_script "${CMAKE_CURRENT_LIST_DIR}/hash_headers.cmake")
add_custom_command(OUTPUT "${headers_hash}"
  COMMAND "${CMAKE_COMMAND}" "-DOUTPUT=${headers_hash}" "-DROOT=${PROJECT_SOURCE_DIR}" -P "${hash_script}"
  DEPENDS ${hashed_headers} "${hash_script}"
  COMMENT "Hashing the headers" VERBATIM)
target_sources(hocket PRIVATE "${headers_hash}")
