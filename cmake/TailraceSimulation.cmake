# SPDX-License-Identifier: BSD-3-Clause
# tailrace_add_simulation(NAME SOURCES a.cpp ... [MAIN main.cpp] [PUBLIC target ...] [PRIVATE target ...]):
# the program tailrace-NAME, which `tailrace run` finds by this name in TAILRACE_BIN_DIR. With MAIN the sources are a
# library, tailrace::NAME, that tests can link, and the program is a thin main around it. Also in the installed package.
function(tailrace_add_simulation NAME)
  cmake_parse_arguments(ARG "" "MAIN" "SOURCES;PUBLIC;PRIVATE" ${ARGN})
  if(NOT ARG_MAIN)
    add_executable(tailrace-${NAME} ${ARG_SOURCES})
    target_link_libraries(tailrace-${NAME} PRIVATE tailrace::run tailrace::layout ${ARG_PUBLIC} ${ARG_PRIVATE})
    return()
  endif()
  add_library(tailrace_${NAME} STATIC ${ARG_SOURCES})
  add_library(tailrace::${NAME} ALIAS tailrace_${NAME})
  target_include_directories(tailrace_${NAME} PUBLIC ${CMAKE_CURRENT_SOURCE_DIR})
  target_link_libraries(tailrace_${NAME}
    PUBLIC tailrace::run tailrace::output ${ARG_PUBLIC} tailrace::layout OpenMP::OpenMP_CXX
    PRIVATE tailrace_flags ${ARG_PRIVATE})
  target_compile_definitions(tailrace_${NAME} PRIVATE
    TAILRACE_VERSION="${PROJECT_VERSION}" TAILRACE_COMPILER="${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}")
  add_executable(tailrace-${NAME} ${ARG_MAIN})
  target_link_libraries(tailrace-${NAME} PRIVATE tailrace_${NAME} tailrace_flags)
endfunction()
