# SPDX-License-Identifier: BSD-3-Clause
# Libraries of others that tailrace-bench-exchange compares with. Each driver is compiled where its library is found for this
# MPI; what is absent is named in the results. Nothing else uses them.
include(CheckCXXSourceCompiles)
set(TAILRACE_GSLIB_DIR "" CACHE PATH "Where gslib was installed (include/gslib.h, lib/libgs.a), to be compared with")

target_include_directories(tailrace-bench-exchange PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
target_sources(tailrace-bench-exchange PRIVATE peers/libraries.cpp)

# peer(NAME TARGET... ): NAME's driver, linked with these.
function(peer name)
  string(TOUPPER ${name} macro)
  target_sources(tailrace-bench-exchange PRIVATE peers/${name}.cpp)
  # Their headers are not ours to mend.
  set_source_files_properties(peers/${name}.cpp PROPERTIES COMPILE_OPTIONS "-w" SKIP_UNITY_BUILD_INCLUSION ON)
  target_link_libraries(tailrace-bench-exchange PRIVATE ${ARGN})
endfunction()

# Debian builds PETSc, Global Arrays and OpenCoarrays for Open MPI.
if(TAILRACE_MPI STREQUAL "openmpi")
  pkg_check_modules(PETSC IMPORTED_TARGET petsc)
  set(PETSC_MATCHES FALSE)
  if(TARGET PkgConfig::PETSC)
    tailrace_match_mpi("${PETSC_LINK_LIBRARIES}" PETSC_MATCHES)
  endif()
  if(PETSC_MATCHES)
    peer(petsc PkgConfig::PETSC)
    target_compile_definitions(tailrace-bench-exchange PRIVATE TAILRACE_PEER_PETSC=1)
  endif()
  # Static libraries; no file says what they depend on.
  set(CMAKE_REQUIRED_LIBRARIES ga-openmpi armci-openmpi scalapack-openmpi lapack blas gfortran MPI::MPI_CXX)
  check_cxx_source_compiles("extern \"C\" {\n#include <ga.h>\n}\nint main() { GA_Initialize(); GA_Terminate(); }"
    TAILRACE_GLOBAL_ARRAYS)
  if(TAILRACE_GLOBAL_ARRAYS)
    peer(global_arrays ${CMAKE_REQUIRED_LIBRARIES})
    target_compile_definitions(tailrace-bench-exchange PRIVATE TAILRACE_PEER_GA=1)
  endif()
  unset(CMAKE_REQUIRED_LIBRARIES)
  pkg_check_modules(COARRAYS IMPORTED_TARGET caf-openmpi)
  if(TARGET PkgConfig::COARRAYS)
    peer(opencoarrays PkgConfig::COARRAYS)
    target_compile_definitions(tailrace-bench-exchange PRIVATE TAILRACE_PEER_COARRAYS="${COARRAYS_VERSION}")
  endif()
endif()
if(EXISTS "${TAILRACE_GSLIB_DIR}/include/gslib.h")
  peer(gslib ${TAILRACE_GSLIB_DIR}/lib/libgs.a MPI::MPI_CXX)
  target_include_directories(tailrace-bench-exchange SYSTEM PRIVATE ${TAILRACE_GSLIB_DIR}/include ${TAILRACE_GSLIB_DIR}/include/gslib)
  target_compile_definitions(tailrace-bench-exchange PRIVATE TAILRACE_PEER_GSLIB="${TAILRACE_GSLIB_DIR}")
elseif(TAILRACE_GSLIB_DIR)
  message(FATAL_ERROR "TAILRACE_GSLIB_DIR=${TAILRACE_GSLIB_DIR} has no include/gslib.h. Fix: the directory that gslib's make install made")
endif()
