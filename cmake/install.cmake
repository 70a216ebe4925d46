# Installs the library, its public headers and what find_package(hocket CONFIG) reads.

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(hocket_package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/hocket")
install(TARGETS hocket EXPORT hocketTargets
  ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}"
  INCLUDES DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/hocket" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
  FILES_MATCHING PATTERN "*.h")
install(EXPORT hocketTargets NAMESPACE hocket:: DESTINATION "${hocket_package_dir}")
if(TARGET hocket_cli)
  install(TARGETS hocket_cli RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
endif()

configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/hocketConfig.cmake.in"
  "${PROJECT_BINARY_DIR}/package/hocketConfig.cmake" INSTALL_DESTINATION "${hocket_package_dir}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/package/hocketConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/package/hocketConfig.cmake" "${PROJECT_BINARY_DIR}/package/hocketConfigVersion.cmake"
  DESTINATION "${hocket_package_dir}")
