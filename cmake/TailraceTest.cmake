# Registers tests with CTest. TAILRACE_MPIEXEC is the command that starts an MPI program, up to the number of ranks:
# ${TAILRACE_MPIEXEC} 3 program ...; TAILRACE_MPI_ENVIRONMENT is what it wants in its environment.
set(TAILRACE_MPIEXEC ${MPIEXEC_EXECUTABLE})
set(TAILRACE_MPI_ENVIRONMENT "")
if(TAILRACE_MPI STREQUAL "openmpi")
  # More ranks than cores are wanted here; a rank bound to one core would keep its threads there.
  list(APPEND TAILRACE_MPIEXEC --oversubscribe --bind-to none)
  set(TAILRACE_MPI_ENVIRONMENT OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1)
endif()
list(APPEND TAILRACE_MPIEXEC ${MPIEXEC_NUMPROC_FLAG})

set(TAILRACE_TEST_ENVIRONMENT "")
if(TAILRACE_SANITIZE MATCHES "thread")
  set(TAILRACE_TEST_ENVIRONMENT TSAN_OPTIONS=suppressions=${CMAKE_SOURCE_DIR}/tests/support/tsan.supp)
endif()

add_library(tailrace_unit_main OBJECT ${CMAKE_SOURCE_DIR}/tests/support/unit_main.cpp)
add_library(tailrace_mpi_main OBJECT ${CMAKE_SOURCE_DIR}/tests/support/mpi_main.cpp)
foreach(kind unit mpi)
  target_include_directories(tailrace_${kind}_main PUBLIC ${CMAKE_SOURCE_DIR}/tests/support)
  target_link_libraries(tailrace_${kind}_main PUBLIC doctest::doctest PRIVATE tailrace_flags)
endforeach()
target_link_libraries(tailrace_mpi_main PUBLIC tailrace::mpi)

# tailrace_add_unit_test(NAME x SOURCES ... LIBRARIES ...): doctest cases without MPI, CTest name unit.x.
function(tailrace_add_unit_test)
  cmake_parse_arguments(ARG "" "NAME" "SOURCES;LIBRARIES" ${ARGN})
  add_executable(test-unit-${ARG_NAME} ${ARG_SOURCES})
  target_link_libraries(test-unit-${ARG_NAME} PRIVATE tailrace_unit_main tailrace_flags ${ARG_LIBRARIES})
  add_test(NAME unit.${ARG_NAME} COMMAND test-unit-${ARG_NAME})
  set_tests_properties(unit.${ARG_NAME} PROPERTIES LABELS unit TIMEOUT 120 ENVIRONMENT "${TAILRACE_TEST_ENVIRONMENT}")
endfunction()

# tailrace_add_mpi_test(NAME x SOURCES ... LIBRARIES ... [THREADS 1] [TIMEOUT 300]): cases made with MPI_CASE, in one launch
# of TAILRACE_TEST_RANKS ranks, CTest name mpi.x. THREADS is the number of OpenMP threads of each rank.
function(tailrace_add_mpi_test)
  cmake_parse_arguments(ARG "" "NAME;THREADS;TIMEOUT" "SOURCES;LIBRARIES" ${ARGN})
  if(NOT ARG_THREADS)
    set(ARG_THREADS 1)
  endif()
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 300)
  endif()
  add_executable(test-mpi-${ARG_NAME} ${ARG_SOURCES})
  target_link_libraries(test-mpi-${ARG_NAME} PRIVATE tailrace_mpi_main tailrace_flags ${ARG_LIBRARIES})
  add_test(NAME mpi.${ARG_NAME} COMMAND ${TAILRACE_MPIEXEC} ${TAILRACE_TEST_RANKS} $<TARGET_FILE:test-mpi-${ARG_NAME}>)
  set_tests_properties(mpi.${ARG_NAME} PROPERTIES LABELS mpi TIMEOUT ${ARG_TIMEOUT} PROCESSORS ${TAILRACE_TEST_RANKS}
    ENVIRONMENT "OMP_NUM_THREADS=${ARG_THREADS};OMP_WAIT_POLICY=passive;${TAILRACE_MPI_ENVIRONMENT};${TAILRACE_TEST_ENVIRONMENT}")
endfunction()
