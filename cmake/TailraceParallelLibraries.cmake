# Libraries that distributions build once per MPI: each is used only if it belongs to the MPI that was found. All are
# optional; what is missing is said here, and by the sink that would need it.
#
# TAILRACE_PARALLEL_HDF5  imported target of a parallel HDF5, or empty
# TAILRACE_PNETCDF        imported target of PnetCDF, or empty
set(TAILRACE_PARALLEL_HDF5 "")
set(TAILRACE_PNETCDF "")

# The MPI libraries that a shared library names, such as libmpi.so.40; nothing for other files.
function(tailrace_mpi_libraries_of FILE RESULT)
  file(REAL_PATH "${FILE}" real)
  execute_process(COMMAND ${CMAKE_OBJDUMP} -p ${real} OUTPUT_VARIABLE headers ERROR_QUIET)
  string(REGEX MATCHALL "NEEDED +libmp[^ \n]*" lines "${headers}")
  list(TRANSFORM lines REPLACE "NEEDED +" "")
  set(${RESULT} ${lines} PARENT_SCOPE)
endfunction()

# Whether the libraries of the imported target belong to the MPI in use: a program that loads two of them crashes.
function(tailrace_matches_mpi TARGET RESULT)
  set(own "")
  foreach(library ${MPI_CXX_LIBRARIES})
    file(REAL_PATH "${library}" real)
    execute_process(COMMAND ${CMAKE_OBJDUMP} -p ${real} OUTPUT_VARIABLE headers ERROR_QUIET)
    if(headers MATCHES "SONAME +([^ \n]+)")
      list(APPEND own ${CMAKE_MATCH_1})
    endif()
  endforeach()
  set(${RESULT} TRUE PARENT_SCOPE)
  get_target_property(libraries ${TARGET} INTERFACE_LINK_LIBRARIES)
  foreach(library ${libraries})
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
if(HDF5_PARALLEL_FOUND AND HDF5_SERIAL_FOUND)
  tailrace_hdf5_version_of(PkgConfig::HDF5_PARALLEL parallel_version)
  tailrace_hdf5_version_of(PkgConfig::HDF5_SERIAL serial_version)
  if(parallel_version AND serial_version AND NOT parallel_version STREQUAL serial_version)
    set(TAILRACE_PARALLEL_HDF5 PkgConfig::HDF5_PARALLEL)
  else()
    message(STATUS "The parallel HDF5 is left out: its symbols have the versions of the serial one (or none)")
  endif()
endif()

pkg_check_modules(PNETCDF IMPORTED_TARGET pnetcdf)
if(PNETCDF_FOUND)
  tailrace_matches_mpi(PkgConfig::PNETCDF PNETCDF_MATCHES)
  if(PNETCDF_MATCHES)
    set(TAILRACE_PNETCDF PkgConfig::PNETCDF)
  endif()
endif()
message(STATUS "Parallel HDF5: ${TAILRACE_PARALLEL_HDF5}; PnetCDF: ${TAILRACE_PNETCDF}")
