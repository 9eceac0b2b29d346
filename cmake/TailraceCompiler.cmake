# SPDX-License-Identifier: BSD-3-Clause
# Compiler settings shared by every target, through the interface target tailrace_flags.
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE_PROGRAM})
  if(TAILRACE_UNITY)
    # The files that CMake makes of several sources are in the build tree: with paths from there they are the same in another
    # one, as for another MPI.
    set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} ${CCACHE_PROGRAM})
  endif()
endif()

add_library(tailrace_flags INTERFACE)
target_compile_features(tailrace_flags INTERFACE cxx_std_20)
# tailrace_add_flags(FLAG...): for the compilers of C and C++; that of CUDA has other ones.
function(tailrace_add_flags)
  target_compile_options(tailrace_flags INTERFACE "$<$<COMPILE_LANGUAGE:C,CXX>:${ARGN}>")
endfunction()
tailrace_add_flags(-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion)
if(TAILRACE_WARNINGS_AS_ERRORS)
  tailrace_add_flags(-Werror)
endif()
if(TAILRACE_UNITY)
  # Sources look like headers to the compiler then, and the names of one are hidden by the locals of another.
  tailrace_add_flags($<$<COMPILE_LANGUAGE:CXX>:-Wno-subobject-linkage> -Wno-shadow -Wshadow=local)
endif()
if(TAILRACE_NATIVE)
  tailrace_add_flags(-march=native)
endif()
# No errno from the mathematical functions, so that loops over them vectorise; IEEE semantics are kept otherwise,
# NaN checks and bitwise repeatability depend on them.
tailrace_add_flags(-fno-math-errno -fno-trapping-math)
if(TAILRACE_DEBUG_CHECKS OR CMAKE_BUILD_TYPE STREQUAL "Debug")
  target_compile_definitions(tailrace_flags INTERFACE TAILRACE_DEBUG_CHECKS=1)
endif()
if(TAILRACE_SANITIZE)
  target_compile_options(tailrace_flags INTERFACE -fsanitize=${TAILRACE_SANITIZE} -fno-omit-frame-pointer)
  target_link_options(tailrace_flags INTERFACE -fsanitize=${TAILRACE_SANITIZE})
  # GCC says of each fence that the thread sanitizer does not see it: ours order what other processes do.
  if(TAILRACE_SANITIZE MATCHES "thread" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(tailrace_flags INTERFACE -Wno-tsan)
  endif()
endif()

# The gold linker, where there is one: a quarter of the time of GNU ld, for each of some hundred programs.
include(CheckLinkerFlag)
check_linker_flag(CXX -fuse-ld=gold TAILRACE_GOLD)
if(TAILRACE_GOLD AND TAILRACE_UNITY AND NOT TAILRACE_SANITIZE)
  target_link_options(tailrace_flags INTERFACE -fuse-ld=gold)
endif()

# tailrace_compile_quickly(TARGET): for code in which no time is spent, such as tests and the reading of options.
function(tailrace_compile_quickly TARGET)
  target_compile_options(${TARGET} PRIVATE $<$<CONFIG:Release>:-Og>)
endfunction()

# tailrace_compile_sources_quickly(SOURCE...): the same for single sources of a target.
function(tailrace_compile_sources_quickly)
  set_property(SOURCE ${ARGN} APPEND PROPERTY COMPILE_OPTIONS $<$<CONFIG:Release>:-Og>)
endfunction()

# tailrace_add_cold_sources(TARGET SOURCE...): sources of a library that run once or hardly ever, compiled quickly and apart
# from its others; they join it at the end of the directory. Called before the library is made, since they take longest
# and Ninja compiles in the order of the calls.
function(tailrace_add_cold_sources TARGET)
  add_library(${TARGET}_cold OBJECT ${ARGN})
  tailrace_compile_quickly(${TARGET}_cold)
  cmake_language(EVAL CODE "cmake_language(DEFER CALL tailrace_join_cold_sources ${TARGET})")
endfunction()
function(tailrace_join_cold_sources TARGET)
  get_target_property(libraries ${TARGET} LINK_LIBRARIES)
  target_link_libraries(${TARGET}_cold PRIVATE ${libraries})
  target_include_directories(${TARGET}_cold PRIVATE $<TARGET_PROPERTY:${TARGET},INCLUDE_DIRECTORIES>)
  target_compile_definitions(${TARGET}_cold PRIVATE $<TARGET_PROPERTY:${TARGET},COMPILE_DEFINITIONS>)
  target_sources(${TARGET} PRIVATE $<TARGET_OBJECTS:${TARGET}_cold>)
endfunction()
