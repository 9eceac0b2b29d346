# tailrace_add_module(NAME SOURCES a.cpp ... [PUBLIC target ...] [PRIVATE target ...]):
# one static library per module, tailrace::NAME, with headers in include/tailrace/NAME.
function(tailrace_add_module NAME)
  cmake_parse_arguments(ARG "" "" "SOURCES;PUBLIC;PRIVATE" ${ARGN})
  add_library(tailrace_${NAME} STATIC ${ARG_SOURCES})
  add_library(tailrace::${NAME} ALIAS tailrace_${NAME})
  target_include_directories(tailrace_${NAME} PUBLIC $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/include>
    $<INSTALL_INTERFACE:include> PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
  target_compile_features(tailrace_${NAME} PUBLIC cxx_std_20)
  target_link_libraries(tailrace_${NAME} PUBLIC ${ARG_PUBLIC} PRIVATE tailrace_flags ${ARG_PRIVATE})
endfunction()
