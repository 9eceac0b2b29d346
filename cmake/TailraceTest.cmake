# SPDX-License-Identifier: BSD-3-Clause
# Registers tests with CTest. TAILRACE_MPIEXEC is the command that starts an MPI program, up to the number of ranks:
# ${TAILRACE_MPIEXEC} 3 program ...; TAILRACE_MPI_ENVIRONMENT is what it wants in its environment.
set(TAILRACE_MPIEXEC ${MPIEXEC_EXECUTABLE})
set(TAILRACE_MPI_ENVIRONMENT "")
if(TAILRACE_MPI STREQUAL "openmpi")
  # More ranks than cores are wanted here; a rank bound to one core would keep its threads there.
  list(APPEND TAILRACE_MPIEXEC --oversubscribe --bind-to none)
  # All ranks are on this machine: to look for networks would take most of the time of each start.
  set(TAILRACE_MPI_ENVIRONMENT OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_pml=ob1)
elseif(TAILRACE_MPI STREQUAL "mpich" AND NOT TAILRACE_SANITIZE)
  add_library(tailrace_yield MODULE ${CMAKE_SOURCE_DIR}/tests/support/yield_in_ucx.c)
  set_target_properties(tailrace_yield PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  set(TAILRACE_MPI_ENVIRONMENT LD_PRELOAD=${CMAKE_BINARY_DIR}/tests/libtailrace_yield.so)
endif()
list(APPEND TAILRACE_MPIEXEC ${MPIEXEC_NUMPROC_FLAG})

# Tests share cores: threads that wait for others leave theirs. No test asks where devices are: each rank would read that
# from their registers, 20 ms on a virtual machine.
set(TAILRACE_TEST_ENVIRONMENT OMP_WAIT_POLICY=passive TAILRACE_TUNING=off HWLOC_COMPONENTS=-linux:pci,-pci)
if(TAILRACE_SANITIZE MATCHES "thread")
  list(APPEND TAILRACE_TEST_ENVIRONMENT TSAN_OPTIONS=suppressions=${CMAKE_SOURCE_DIR}/tests/support/tsan.supp)
endif()

add_library(tailrace_unit_main OBJECT ${CMAKE_SOURCE_DIR}/tests/support/unit_main.cpp)
add_library(tailrace_mpi_main OBJECT ${CMAKE_SOURCE_DIR}/tests/support/mpi_main.cpp)
foreach(kind unit mpi)
  target_include_directories(tailrace_${kind}_main PUBLIC ${CMAKE_SOURCE_DIR}/tests/support)
  target_link_libraries(tailrace_${kind}_main PUBLIC doctest::doctest PRIVATE tailrace_flags)
  tailrace_compile_quickly(tailrace_${kind}_main)
endforeach()
target_link_libraries(tailrace_mpi_main PUBLIC tailrace::mpi)

# tailrace_add_entries(TARGET CALL): has CTest make the entries of a test program when it starts, so that each case has one
# and the list is never older than the program. CALL is in the words of tests/support/cases.cmake.
function(tailrace_add_entries TARGET CALL)
  set(file ${CMAKE_CURRENT_BINARY_DIR}/${TARGET}-cases.cmake)
  file(GENERATE OUTPUT ${file} CONTENT "include(\"${CMAKE_SOURCE_DIR}/tests/support/cases.cmake\")\n${CALL}\n")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${file})
endfunction()

# tailrace_default(NAME VALUE ...): sets each variable that is not set.
macro(tailrace_default)
  foreach(word ${ARGN})
    if(NOT default_of)
      set(default_of ${word})
    else()
      if(NOT ${default_of})
        set(${default_of} ${word})
      endif()
      unset(default_of)
    endif()
  endforeach()
endmacro()

# tailrace_add_unit_test(NAME x SOURCES ... LIBRARIES ... [KIND unit] [TIMEOUT 120] [PROCESSORS 1]
# [ENVIRONMENT ...]): doctest cases without MPI, CTest names "unit.x: CASE". Their program is test-unit-x.
function(tailrace_add_unit_test)
  cmake_parse_arguments(ARG "" "NAME;KIND;TIMEOUT;PROCESSORS" "SOURCES;LIBRARIES;ENVIRONMENT" ${ARGN})
  tailrace_default(ARG_KIND unit ARG_TIMEOUT 120 ARG_PROCESSORS 1)
  set(target test-${ARG_KIND}-${ARG_NAME})
  add_executable(${target} ${ARG_SOURCES})
  target_link_libraries(${target} PRIVATE tailrace_unit_main tailrace_flags ${ARG_LIBRARIES})
  tailrace_compile_quickly(${target})
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${TAILRACE_UNITY} UNITY_BUILD_MODE GROUP)
  tailrace_add_entries(${target} "tailrace_unit_cases(${ARG_KIND}.${ARG_NAME} \"$<TARGET_FILE:${target}>\" ${ARG_KIND} \
${ARG_TIMEOUT} ${ARG_PROCESSORS} \"${ARG_ENVIRONMENT};${TAILRACE_TEST_ENVIRONMENT}\")")
endfunction()

# tailrace_add_mpi_test(NAME x SOURCES ... LIBRARIES ... [LABEL mpi] [THREADS 1] [TIMEOUT 300] [SECONDS 0]): cases made with
# MPI_CASE, in one launch of TAILRACE_TEST_RANKS ranks, CTest names mpi.x for the launch and "mpi.x: CASE". THREADS is the
# number of OpenMP threads of each rank; SECONDS is what the launch takes, roughly: the longest start first. What has the
# label mpi depends on the MPI, and .ci/run repeats it with another one; it is built by the target mpi-tests. A launch counts as two processors, whatever its ranks: for most of the time they wait for each
# other, and other entries run beside it.
add_custom_target(mpi-tests)
if(TARGET tailrace_yield)
  add_dependencies(mpi-tests tailrace_yield)
endif()
function(tailrace_add_mpi_test)
  cmake_parse_arguments(ARG "" "NAME;LABEL;THREADS;TIMEOUT;SECONDS" "SOURCES;LIBRARIES" ${ARGN})
  tailrace_default(ARG_LABEL mpi ARG_THREADS 1 ARG_TIMEOUT 300 ARG_SECONDS 0)
  set(target test-mpi-${ARG_NAME})
  add_executable(${target} ${ARG_SOURCES})
  target_link_libraries(${target} PRIVATE tailrace_mpi_main tailrace_flags ${ARG_LIBRARIES})
  tailrace_compile_quickly(${target})
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${TAILRACE_UNITY} UNITY_BUILD_MODE GROUP)
  if(ARG_LABEL STREQUAL "mpi")
    add_dependencies(mpi-tests ${target})
  endif()
  list(JOIN TAILRACE_MPIEXEC " " launch)
  tailrace_add_entries(${target} "tailrace_mpi_cases(mpi.${ARG_NAME} \"$<TARGET_FILE:${target}>\" ${ARG_LABEL} \
${ARG_TIMEOUT} 2 \
\"OMP_NUM_THREADS=${ARG_THREADS};${TAILRACE_MPI_ENVIRONMENT};${TAILRACE_TEST_ENVIRONMENT}\" \
${launch} ${TAILRACE_TEST_RANKS})
set_tests_properties(mpi.${ARG_NAME} PROPERTIES COST ${ARG_SECONDS})")
endfunction()
