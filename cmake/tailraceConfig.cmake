# SPDX-License-Identifier: BSD-3-Clause
# find_package(tailrace): tailrace::run and the modules below it, for simulations of one's own (examples/minimal_sim).
# The MPI has to be that of the build; CMake's MPI_CXX_COMPILER names another than the one that is found first.
set(TAILRACE_URING ON)
set(TAILRACE_ZSTD ON)
set(TAILRACE_TESTS OFF)
include(${CMAKE_CURRENT_LIST_DIR}/TailraceDependencies.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/tailraceBuild.cmake)
if(TAILRACE_HAVE_CUDA)
  find_package(CUDAToolkit REQUIRED)
endif()
include(${CMAKE_CURRENT_LIST_DIR}/TailraceParallelLibraries.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/tailraceTargets.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/TailraceSimulation.cmake)
