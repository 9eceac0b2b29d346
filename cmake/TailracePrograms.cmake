# SPDX-License-Identifier: BSD-3-Clause
# The target `programs`: every executable named tailrace-* of the simulations and benchmarks, found by looking, so that
# a new one needs no edit here. Installed as the component `programs`, with the file that names their launcher.
# The target `library`: what all simulations are linked with.

function(tailrace_collect_programs DIRECTORY RESULT)
  get_property(targets DIRECTORY ${DIRECTORY} PROPERTY BUILDSYSTEM_TARGETS)
  set(found "")
  foreach(target ${targets})
    get_target_property(type ${target} TYPE)
    if(type STREQUAL "EXECUTABLE" AND target MATCHES "^tailrace-")
      list(APPEND found ${target})
    endif()
  endforeach()
  get_property(children DIRECTORY ${DIRECTORY} PROPERTY SUBDIRECTORIES)
  foreach(child ${children})
    tailrace_collect_programs(${child} below)
    list(APPEND found ${below})
  endforeach()
  set(${RESULT} ${found} PARENT_SCOPE)
endfunction()

tailrace_collect_programs(${CMAKE_SOURCE_DIR} TAILRACE_PROGRAMS)
add_custom_target(programs)
add_dependencies(programs tailrace_messages tailrace_python)
add_custom_target(library)
add_dependencies(library tailrace_run tailrace_layout)
if(TAILRACE_PROGRAMS)
  add_dependencies(programs ${TAILRACE_PROGRAMS})
  install(TARGETS ${TAILRACE_PROGRAMS} RUNTIME DESTINATION bin COMPONENT programs)
endif()
install(FILES ${TAILRACE_LAUNCH_FILE} DESTINATION bin COMPONENT programs)
