# Included by CTest: an entry for each case of a test program, named PREFIX: CASE. A case whose name begins with "full:"
# has the label full.

# tailrace_list_cases(PROGRAM OPTION RESULT): the names of its cases.
function(tailrace_list_cases PROGRAM OPTION RESULT)
  execute_process(COMMAND ${PROGRAM} ${OPTION} OUTPUT_VARIABLE text ERROR_VARIABLE error RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${PROGRAM} ${OPTION}: status ${status}\n${error}")
  endif()
  string(REGEX REPLACE "(^|\n)(\\[doctest\\]|=====)[^\n]*" "" text "${text}")
  string(REGEX REPLACE " +\\[ranks [^\n]*" "" text "${text}")
  string(REGEX MATCHALL "[^\n]+" names "${text}")
  set(${RESULT} ${names} PARENT_SCOPE)
endfunction()

# tailrace_set_case(NAME LABEL PROPERTIES...): its properties, with one more label for the long ones.
function(tailrace_set_case NAME LABEL)
  if(NAME MATCHES "^[^:]*: full:")
    set(LABEL "${LABEL};full")
  endif()
  set_tests_properties("${NAME}" PROPERTIES LABELS "${LABEL}" ${ARGN})
endfunction()

# tailrace_unit_cases(PREFIX PROGRAM LABEL PROPERTIES...): each case is a run of the program.
function(tailrace_unit_cases PREFIX PROGRAM LABEL)
  if(NOT EXISTS "${PROGRAM}")
    add_test("${PREFIX}" "${PROGRAM}")
    tailrace_set_case("${PREFIX}" ${LABEL})
    return()
  endif()
  tailrace_list_cases("${PROGRAM}" --list-test-cases names)
  foreach(name IN LISTS names)
    string(REPLACE "," "\\," filter "${name}")
    add_test("${PREFIX}: ${name}" "${PROGRAM}" "--test-case=${filter}")
    tailrace_set_case("${PREFIX}: ${name}" ${LABEL} ${ARGN})
  endforeach()
endfunction()

# tailrace_mpi_cases(PREFIX PROGRAM LABEL "LAUNCH" PROPERTIES...): the entry PREFIX is the launch of all, the others say
# how each case went in it.
function(tailrace_mpi_cases PREFIX PROGRAM LABEL LAUNCH)
  set(results "${PROGRAM}.results")
  add_test("${PREFIX}" "${TAILRACE_MPI_CASE}" "${results}" all ${LAUNCH} "${PROGRAM}")
  tailrace_set_case("${PREFIX}" ${LABEL} ${ARGN})
  if(NOT EXISTS "${PROGRAM}")
    return()
  endif()
  tailrace_list_cases("${PROGRAM}" --list names)
  set(number 0)
  foreach(name IN LISTS names)
    add_test("${PREFIX}: ${name}" "${TAILRACE_MPI_CASE}" "${results}" ${number} "${name}" ${LAUNCH} "${PROGRAM}")
    tailrace_set_case("${PREFIX}: ${name}" ${LABEL} DEPENDS "${PREFIX}" ${ARGN})
    math(EXPR number "${number} + 1")
  endforeach()
endfunction()

set(TAILRACE_MPI_CASE "${CMAKE_CURRENT_LIST_DIR}/mpi_case.sh")
