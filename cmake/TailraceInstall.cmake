# SPDX-License-Identifier: BSD-3-Clause
# The component `devel`: headers, libraries, and what find_package(tailrace) reads.
set(TAILRACE_CMAKE_DIR lib/cmake/tailrace)
set(libraries ${TAILRACE_MODULES} run_exchange)
foreach(library ${libraries})
  set_target_properties(tailrace_${library} PROPERTIES EXPORT_NAME ${library})
endforeach()
list(TRANSFORM libraries PREPEND tailrace_ OUTPUT_VARIABLE targets)
install(TARGETS ${targets} tailrace_flags EXPORT tailrace ARCHIVE DESTINATION lib COMPONENT devel)
install(DIRECTORY ${CMAKE_SOURCE_DIR}/include/tailrace DESTINATION include COMPONENT devel)
# The interface of bodies, for `tailrace compile` of an installed package.
install(FILES ${CMAKE_SOURCE_DIR}/include/tailrace/fragments/body.h DESTINATION fragments/include/tailrace/fragments COMPONENT programs)
# LuNA's launcher and its rts, to be put on PATH: below the prefix, which for a wheel is that of its data.
set(luna_programs share/tailrace/luna/bin)
if(SKBUILD_DATA_DIR)
  set(luna_programs ${SKBUILD_DATA_DIR}/${luna_programs})
endif()
install(PROGRAMS share/tailrace/luna/bin/luna share/tailrace/luna/bin/rts DESTINATION ${luna_programs} COMPONENT programs)
install(EXPORT tailrace NAMESPACE tailrace:: FILE tailraceTargets.cmake DESTINATION ${TAILRACE_CMAKE_DIR} COMPONENT devel)
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/tailraceBuild.cmake @ONLY CONTENT [[
set(TAILRACE_MPI "@TAILRACE_MPI@")
set(TAILRACE_HAVE_CUDA @TAILRACE_HAVE_CUDA@)
]])
include(CMakePackageConfigHelpers)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/tailraceConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES cmake/tailraceConfig.cmake cmake/TailraceDependencies.cmake cmake/TailraceParallelLibraries.cmake cmake/TailraceSimulation.cmake
  ${CMAKE_BINARY_DIR}/tailraceBuild.cmake ${CMAKE_BINARY_DIR}/tailraceConfigVersion.cmake
  DESTINATION ${TAILRACE_CMAKE_DIR} COMPONENT devel)
