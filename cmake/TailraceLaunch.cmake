# SPDX-License-Identifier: BSD-3-Clause
# Pins the launcher that belongs to the MPI that was found, for the tests and for the `tailrace` command.
# Where several implementations are installed side by side, `mpirun` may change its meaning after the build.
# Sets TAILRACE_MPI (openmpi, mpich, or other) and MPIEXEC_EXECUTABLE, writes bin/tailrace-launch.json.

function(tailrace_identify_mpi NAME VERSION)
  set(includes ${MPI_CXX_INCLUDE_DIRS})
  list(TRANSFORM includes PREPEND "-I")
  file(WRITE ${CMAKE_BINARY_DIR}/CMakeFiles/tailrace_mpi.cpp "#include <mpi.h>\n")
  execute_process(COMMAND ${CMAKE_CXX_COMPILER} -E -dM ${includes} -DOMPI_SKIP_MPICXX -DMPICH_SKIP_MPICXX
                          ${CMAKE_BINARY_DIR}/CMakeFiles/tailrace_mpi.cpp
                  OUTPUT_VARIABLE macros ERROR_QUIET)
  set(${NAME} other PARENT_SCOPE)
  set(${VERSION} "" PARENT_SCOPE)
  if(macros MATCHES "#define OMPI_MAJOR_VERSION ([0-9]+)")
    set(version ${CMAKE_MATCH_1})
    string(REGEX MATCH "#define OMPI_MINOR_VERSION ([0-9]+)" ignored "${macros}")
    string(APPEND version ".${CMAKE_MATCH_1}")
    string(REGEX MATCH "#define OMPI_RELEASE_VERSION ([0-9]+)" ignored "${macros}")
    set(${NAME} openmpi PARENT_SCOPE)
    set(${VERSION} "${version}.${CMAKE_MATCH_1}" PARENT_SCOPE)
  elseif(macros MATCHES "#define MPICH_VERSION \"([^\"]+)\"")
    set(${NAME} mpich PARENT_SCOPE)
    set(${VERSION} "${CMAKE_MATCH_1}" PARENT_SCOPE)
  endif()
endfunction()

# The first of the candidates that says it belongs to this implementation.
function(tailrace_find_launcher RESULT IMPLEMENTATION)
  set(candidates ${MPIEXEC_EXECUTABLE} mpirun mpiexec)
  if(IMPLEMENTATION STREQUAL "openmpi")
    list(APPEND candidates mpirun.openmpi mpiexec.openmpi orterun)
    set(says "Open ?MPI|OpenRTE|PRRTE|prte")
  elseif(IMPLEMENTATION STREQUAL "mpich")
    list(APPEND candidates mpiexec.mpich mpirun.mpich mpiexec.hydra)
    set(says "HYDRA|MPICH")
  else()
    set(says ".")
  endif()
  foreach(candidate ${candidates})
    unset(path CACHE)
    find_program(path ${candidate} HINTS /usr/lib64/openmpi/bin /usr/lib64/mpich/bin)
    if(path)
      execute_process(COMMAND ${path} --version OUTPUT_VARIABLE answer ERROR_VARIABLE answer)
      file(REAL_PATH ${path} real)
      unset(path CACHE)
      if(answer MATCHES "${says}")
        set(${RESULT} ${real} PARENT_SCOPE)
        return()
      endif()
    endif()
  endforeach()
  set(${RESULT} "" PARENT_SCOPE)
endfunction()

tailrace_identify_mpi(TAILRACE_MPI TAILRACE_MPI_VERSION)
tailrace_find_launcher(TAILRACE_LAUNCHER ${TAILRACE_MPI})
if(TAILRACE_LAUNCHER)
  set(MPIEXEC_EXECUTABLE ${TAILRACE_LAUNCHER} CACHE FILEPATH "Launcher of the MPI that was found" FORCE)
endif()
message(STATUS "MPI launcher: ${TAILRACE_MPI} ${TAILRACE_MPI_VERSION}, ${TAILRACE_LAUNCHER}")

set(TAILRACE_LAUNCH_FILE ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/tailrace-launch.json)
file(CONFIGURE OUTPUT ${TAILRACE_LAUNCH_FILE} @ONLY CONTENT
  [[{"implementation": "@TAILRACE_MPI@", "version": "@TAILRACE_MPI_VERSION@", "mpiexec": "@TAILRACE_LAUNCHER@"}
]])
