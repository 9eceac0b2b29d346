# SPDX-License-Identifier: BSD-3-Clause
# Included by CTest: an entry for each case of a test program, named PREFIX: CASE. A case whose name begins with "full:"
# has the label full.

# tailrace_list_cases(PROGRAM OPTION RESULT): the names of its cases.
function(tailrace_list_cases PROGRAM OPTION RESULT)
  execute_process(COMMAND ${PROGRAM} ${OPTION} OUTPUT_VARIABLE text ERROR_VARIABLE error RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${PROGRAM} ${OPTION}: status ${status}\n${error}")
  endif()
  string(REGEX REPLACE "(^|\n)(\\[doctest\\]|=====)[^\n]*" "" text "${text}")
  if(text MATCHES "[^\n]*;[^\n]*")
    message(FATAL_ERROR "${PROGRAM}: CMake would take this for two cases, write it without a semicolon: ${CMAKE_MATCH_0}")
  endif()
  string(REGEX REPLACE " +\\[ranks [^\n]*" "" text "${text}")
  string(REGEX MATCHALL "[^\n]+" names "${text}")
  set(${RESULT} ${names} PARENT_SCOPE)
endfunction()

# tailrace_add_case(NAME LABEL TIMEOUT PROCESSORS "ENVIRONMENT" COMMAND...): one entry; long ones have one more label.
function(tailrace_add_case NAME LABEL TIMEOUT PROCESSORS ENVIRONMENT)
  if(NAME MATCHES "^[^:]*: full:")
    list(APPEND LABEL full)
  endif()
  add_test("${NAME}" ${ARGN})
  set_tests_properties("${NAME}" PROPERTIES LABELS "${LABEL}" TIMEOUT ${TIMEOUT} PROCESSORS ${PROCESSORS}
    ENVIRONMENT "${ENVIRONMENT}")
endfunction()

# tailrace_unit_cases(PREFIX PROGRAM LABEL TIMEOUT PROCESSORS "ENVIRONMENT"): each case is a run of the program.
function(tailrace_unit_cases PREFIX PROGRAM)
  if(NOT EXISTS "${PROGRAM}")
    tailrace_add_case("${PREFIX}" "${ARGV2}" "${ARGV3}" "${ARGV4}" "${ARGV5}" "${PROGRAM}")
    return()
  endif()
  tailrace_list_cases("${PROGRAM}" --list-test-cases names)
  foreach(name IN LISTS names)
    string(REPLACE "," "\\," filter "${name}")
    tailrace_add_case("${PREFIX}: ${name}" "${ARGV2}" "${ARGV3}" "${ARGV4}" "${ARGV5}" "${PROGRAM}" "--test-case=${filter}")
  endforeach()
endfunction()

# tailrace_mpi_cases(PREFIX PROGRAM LABEL TIMEOUT PROCESSORS "ENVIRONMENT" LAUNCH...): the entry PREFIX is the launch of
# all, the others say how each case went in it.
function(tailrace_mpi_cases PREFIX PROGRAM LABEL TIMEOUT PROCESSORS ENVIRONMENT)
  set(run "${TAILRACE_MPI_CASE}" "${PROGRAM}.results")
  tailrace_add_case("${PREFIX}" ${LABEL} ${TIMEOUT} ${PROCESSORS} "${ENVIRONMENT}" ${run} all ${ARGN} "${PROGRAM}")
  if(NOT EXISTS "${PROGRAM}")
    return()
  endif()
  tailrace_list_cases("${PROGRAM}" --list names)
  set(number 0)
  foreach(name IN LISTS names)
    tailrace_add_case("${PREFIX}: ${name}" ${LABEL} ${TIMEOUT} 1 "${ENVIRONMENT}" ${run} ${number} "${name}"
      ${ARGN} "${PROGRAM}")
    set_tests_properties("${PREFIX}: ${name}" PROPERTIES DEPENDS "${PREFIX}")
    math(EXPR number "${number} + 1")
  endforeach()
endfunction()

set(TAILRACE_MPI_CASE "${CMAKE_CURRENT_LIST_DIR}/mpi_case.sh")
