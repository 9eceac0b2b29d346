# SPDX-License-Identifier: BSD-3-Clause
# Libraries that distributions build once per MPI: each is used only if it belongs to the MPI that was found. All are
# optional; what is missing is said here, and by the sink that would need it.
#
# TAILRACE_PARALLEL_HDF5  imported target of a parallel HDF5, or empty
# TAILRACE_PNETCDF        imported target of PnetCDF, or empty
# TAILRACE_ADIOS2         imported target of ADIOS2 with MPI, or empty
# TAILRACE_P4EST          target of p4est, for the simulation heat, or empty
set(TAILRACE_PARALLEL_HDF5 "")
set(TAILRACE_PNETCDF "")
set(TAILRACE_ADIOS2 "")
set(TAILRACE_P4EST "")

# The MPI libraries that a shared library names, such as libmpi.so.40; nothing for other files. Not those of Fortran, which
# MPI's own C++ targets do not name, and which need that of C.
function(tailrace_mpi_libraries_of FILE RESULT)
  file(REAL_PATH "${FILE}" real)
  execute_process(COMMAND ${CMAKE_OBJDUMP} -p ${real} OUTPUT_VARIABLE headers ERROR_QUIET)
  string(REGEX MATCHALL "NEEDED +libmp[^ \n]*" lines "${headers}")
  list(FILTER lines EXCLUDE REGEX "mpifh|usempi|fort")
  list(TRANSFORM lines REPLACE "NEEDED +" "")
  set(${RESULT} ${lines} PARENT_SCOPE)
endfunction()

# Whether the libraries belong to the MPI in use: a program that loads two of them crashes.
function(tailrace_match_mpi LIBRARIES RESULT)
  set(own "")
  foreach(library ${MPI_CXX_LIBRARIES})
    file(REAL_PATH "${library}" real)
    execute_process(COMMAND ${CMAKE_OBJDUMP} -p ${real} OUTPUT_VARIABLE headers ERROR_QUIET)
    if(headers MATCHES "SONAME +([^ \n]+)")
      list(APPEND own ${CMAKE_MATCH_1})
    endif()
  endforeach()
  set(${RESULT} TRUE PARENT_SCOPE)
  foreach(library ${LIBRARIES})
    tailrace_mpi_libraries_of("${library}" wanted)
    foreach(name ${wanted})
      if(NOT name IN_LIST own)
        set(${RESULT} FALSE PARENT_SCOPE)
      endif()
    endforeach()
  endforeach()
endfunction()

# The version that the libraries of a target give to the symbol H5Dwrite, such as HDF5_MPI_1.8.7.
function(tailrace_hdf5_version_of TARGET RESULT)
  set(${RESULT} "" PARENT_SCOPE)
  get_target_property(libraries ${TARGET} INTERFACE_LINK_LIBRARIES)
  foreach(library ${libraries})
    if(EXISTS "${library}")
      execute_process(COMMAND ${CMAKE_OBJDUMP} -T ${library} OUTPUT_VARIABLE symbols ERROR_QUIET)
      if(symbols MATCHES " ([A-Za-z0-9_.]+) +H5Dwrite\n")
        set(${RESULT} ${CMAKE_MATCH_1} PARENT_SCOPE)
      endif()
    endif()
  endforeach()
endfunction()

# The parallel HDF5 has the same names as the serial one, which every program is linked with. Both can be in one process
# where their symbols have versions, as in Debian.
pkg_search_module(HDF5_PARALLEL IMPORTED_TARGET hdf5-${TAILRACE_MPI})
if(HDF5_PARALLEL_FOUND AND SERIAL_HDF5_FOUND)
  tailrace_hdf5_version_of(PkgConfig::HDF5_PARALLEL parallel_version)
  tailrace_hdf5_version_of(PkgConfig::SERIAL_HDF5 serial_version)
  if(parallel_version AND serial_version AND NOT parallel_version STREQUAL serial_version)
    set(TAILRACE_PARALLEL_HDF5 PkgConfig::HDF5_PARALLEL)
  else()
    message(STATUS "The parallel HDF5 is left out: its symbols have the versions of the serial one (or none)")
  endif()
endif()

pkg_check_modules(PNETCDF IMPORTED_TARGET pnetcdf)
if(PNETCDF_FOUND)
  get_target_property(pnetcdf_libraries PkgConfig::PNETCDF INTERFACE_LINK_LIBRARIES)
  tailrace_match_mpi("${pnetcdf_libraries}" PNETCDF_MATCHES)
  if(PNETCDF_MATCHES)
    set(TAILRACE_PNETCDF PkgConfig::PNETCDF)
  endif()
endif()

# Its library for MPI is an imported one of its own. From version 2.11 on the bindings are called cxx.
set(CMAKE_POLICY_DEFAULT_CMP0077 NEW)  # it looks for MPI again, which is not to undo what was set above
find_package(ADIOS2 2.9 CONFIG QUIET COMPONENTS CXX MPI)
unset(CMAKE_POLICY_DEFAULT_CMP0077)
if(ADIOS2_FOUND AND TARGET adios2::core_mpi)
  get_target_property(adios2_library adios2::core_mpi LOCATION)
  tailrace_match_mpi("${adios2_library}" ADIOS2_MATCHES)
  foreach(binding adios2::cxx11_mpi adios2::cxx_mpi)
    if(ADIOS2_MATCHES AND TARGET ${binding})
      set(TAILRACE_ADIOS2 ${binding})
    endif()
  endforeach()
endif()
# p4est has no file for pkg-config in Debian; its support library comes with it, and is not Debian's package libsc-dev.
find_path(P4EST_INCLUDE_DIR p8est_extended.h)
find_library(P4EST_LIBRARY p4est)
if(P4EST_INCLUDE_DIR AND P4EST_LIBRARY)
  cmake_path(GET P4EST_LIBRARY PARENT_PATH p4est_directory)
  find_library(P4EST_SC_LIBRARY sc PATHS ${p4est_directory} NO_DEFAULT_PATH)
  tailrace_match_mpi("${P4EST_LIBRARY}" P4EST_MATCHES)
  if(P4EST_SC_LIBRARY AND P4EST_MATCHES)
    add_library(tailrace_p4est INTERFACE)
    target_include_directories(tailrace_p4est SYSTEM INTERFACE ${P4EST_INCLUDE_DIR})
    target_link_libraries(tailrace_p4est INTERFACE ${P4EST_LIBRARY} ${P4EST_SC_LIBRARY} MPI::MPI_CXX)
    set(TAILRACE_P4EST tailrace_p4est)
  endif()
endif()
message(STATUS "Parallel HDF5: ${TAILRACE_PARALLEL_HDF5}; PnetCDF: ${TAILRACE_PNETCDF}; ADIOS2: ${TAILRACE_ADIOS2}; p4est: ${TAILRACE_P4EST}")
