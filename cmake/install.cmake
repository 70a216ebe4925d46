# Installs the library, its public headers and what find_package(hocket CONFIG) reads.

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(hocket_package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/hocket")
install(TARGETS hocket EXPORT hocketTargets
  ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}"
  INCLUDES DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/hocket" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
  FILES_MATCHING PATTERN "*.h")
install(FILES "${PROJECT_SOURCE_DIR}/include/hocket.h" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
install(EXPORT hocketTargets NAMESPACE hocket:: DESTINATION "${hocket_package_dir}")
if(TARGET hocket_cli)
  install(TARGETS hocket_cli RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
endif()
if(TARGET hocket_pages)
  set(generated "${PROJECT_BINARY_DIR}/generated")
  set(share "${CMAKE_INSTALL_DATAROOTDIR}")
  install(FILES "${generated}/hocket.1" DESTINATION "${CMAKE_INSTALL_MANDIR}/man1")
  install(FILES "${generated}/hocket.bash" DESTINATION "${share}/bash-completion/completions" RENAME hocket)
  install(FILES "${generated}/_hocket" DESTINATION "${share}/zsh/vendor-completions")
  install(FILES "${generated}/hocket.fish" DESTINATION "${share}/fish/vendor_completions.d")
endif()
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DOCDIR}" RENAME copyright)

configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/hocketConfig.cmake.in"
  "${PROJECT_BINARY_DIR}/package/hocketConfig.cmake" INSTALL_DESTINATION "${hocket_package_dir}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/package/hocketConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/package/hocketConfig.cmake" "${PROJECT_BINARY_DIR}/package/hocketConfigVersion.cmake"
  DESTINATION "${hocket_package_dir}")

# pkg-config: the prefix is found from where the file lies, so that the tree may be moved.
string(REGEX REPLACE "[^/]+" ".." HOCKET_PC_UP "${CMAKE_INSTALL_LIBDIR}")
string(REGEX REPLACE "^\\.\\." "" HOCKET_PC_UP "${HOCKET_PC_UP}")
configure_file("${PROJECT_SOURCE_DIR}/cmake/hocket.pc.in" "${PROJECT_BINARY_DIR}/package/hocket.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/package/hocket.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")

# `cpack --config build/release/CPackConfig.cmake` writes the .deb.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME hocket)
set(CPACK_PACKAGE_CONTACT "hocket <maintainers@hocket.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "libfmt-dev, libpugixml-dev, libexpected-dev, libyaml-cpp-dev, zlib1g-dev, libssl-dev")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
include(CPack)
