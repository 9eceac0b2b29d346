# SPDX-License-Identifier: BSD-3-Clause
# tailrace_add_module(NAME SOURCES a.cpp ... [PUBLIC target ...] [PRIVATE target ...]):
# one static library per module, tailrace::NAME. Headers that programs outside may use are in include/tailrace and are
# installed, the others in src/NAME.
function(tailrace_add_module NAME)
  cmake_parse_arguments(ARG "" "" "SOURCES;PUBLIC;PRIVATE" ${ARGN})
  add_library(tailrace_${NAME} STATIC ${ARG_SOURCES})
  add_library(tailrace::${NAME} ALIAS tailrace_${NAME})
  target_include_directories(tailrace_${NAME} PUBLIC $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/include>
    $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/src> $<INSTALL_INTERFACE:include>
    PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
  target_compile_features(tailrace_${NAME} PUBLIC cxx_std_20)
  target_link_libraries(tailrace_${NAME} PUBLIC ${ARG_PUBLIC} PRIVATE tailrace_flags ${ARG_PRIVATE})
  set_target_properties(tailrace_${NAME} PROPERTIES TAILRACE_PUBLIC "${ARG_PUBLIC}")
endfunction()

# tailrace_add_room(MODULE DIRECTORY [NAME x] SOURCES a.cpp ... [PRIVATE target ...] [DEFINITIONS NAME=VALUE ...]):
# a part of a module with a directory and a target of its own, tailrace_MODULE_DIRECTORY; scripts/check_includes.py has
# the directions between the rooms of a module. Sources of a room that alone need a library are a second target, NAME.
function(tailrace_add_room MODULE DIRECTORY)
  cmake_parse_arguments(ARG "" "NAME" "SOURCES;PRIVATE;DEFINITIONS" ${ARGN})
  if(NOT ARG_NAME)
    set(ARG_NAME ${DIRECTORY})
  endif()
  string(REPLACE "/" "_" room tailrace_${MODULE}_${ARG_NAME})
  list(TRANSFORM ARG_SOURCES PREPEND ${DIRECTORY}/)
  add_library(${room} OBJECT ${ARG_SOURCES})
  target_include_directories(${room} PRIVATE ${CMAKE_SOURCE_DIR}/include ${CMAKE_SOURCE_DIR}/src)
  get_target_property(public tailrace_${MODULE} TAILRACE_PUBLIC)
  target_link_libraries(${room} PRIVATE tailrace_flags ${public} ${ARG_PRIVATE})
  target_compile_definitions(${room} PRIVATE ${ARG_DEFINITIONS})
  target_sources(tailrace_${MODULE} PRIVATE $<TARGET_OBJECTS:${room}>)
  target_link_libraries(tailrace_${MODULE} PRIVATE ${ARG_PRIVATE})
endfunction()
