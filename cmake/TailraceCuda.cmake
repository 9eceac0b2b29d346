# SPDX-License-Identifier: BSD-3-Clause
# CUDA, if it is there: the toolkit is enough to build, a device is needed to run.
set(TAILRACE_CUDA auto CACHE STRING "Build for NVIDIA's devices: auto (if the toolkit is there), on, off")
set_property(CACHE TAILRACE_CUDA PROPERTY STRINGS auto on off)

set(TAILRACE_HAVE_CUDA OFF)
if(NOT TAILRACE_CUDA STREQUAL off)
  find_package(CUDAToolkit QUIET)
  if(CUDAToolkit_FOUND AND NOT CMAKE_CUDA_ARCHITECTURES)
    set(CMAKE_CUDA_ARCHITECTURES 80-real 90)  # and PTX of the newest, for devices to come
  endif()
  if(CUDAToolkit_FOUND)
    include(CheckLanguage)
    check_language(CUDA)
  endif()
  if(CMAKE_CUDA_COMPILER)
    enable_language(CUDA)
    if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)  # CMake 3.25 does not know that nvcc 12 and later have it
      set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
      set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION -std=c++20)
    endif()
    set(CMAKE_CUDA_STANDARD 20)
    set(CMAKE_CUDA_STANDARD_REQUIRED ON)
    set(CMAKE_CUDA_COMPILER_LAUNCHER ${CMAKE_CXX_COMPILER_LAUNCHER})
    set(TAILRACE_HAVE_CUDA ON)
  elseif(TAILRACE_CUDA STREQUAL on)
    message(FATAL_ERROR "TAILRACE_CUDA=on: there is no CUDA toolkit with nvcc. Put nvcc on PATH, or leave TAILRACE_CUDA out.")
  endif()
endif()
if(TAILRACE_HAVE_CUDA)
  message(STATUS "CUDA: ${CUDAToolkit_VERSION}, for ${CMAKE_CUDA_ARCHITECTURES}")
else()
  message(STATUS "CUDA: not used, fields are in the host's memory")
endif()

# tailrace_device_sources(FILE...): sources with kernels, in the directory of the caller. Without CUDA they are C++, for
# emulated devices.
function(tailrace_device_sources)
  if(TAILRACE_HAVE_CUDA)
    set_source_files_properties(${ARGN} PROPERTIES LANGUAGE CUDA)
  endif()
  set_source_files_properties(${ARGN} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()
