# SPDX-License-Identifier: BSD-3-Clause
# Everything Tailrace links. Each package is looked for once, here, and named when it is missing.
find_package(Threads REQUIRED)
find_package(OpenMP REQUIRED COMPONENTS CXX)

# Debian keeps MPI libraries side by side, and `mpicxx` is the one installed last: there it is Open MPI unless the caller
# names another, so that installing MPICH does not change an existing build.
if(NOT MPI_CXX_COMPILER AND NOT DEFINED ENV{MPICXX})
  find_program(TAILRACE_ANY_MPICXX mpicxx)
  cmake_path(REPLACE_FILENAME TAILRACE_ANY_MPICXX mpicxx.openmpi OUTPUT_VARIABLE openmpi_compiler)
  if(TAILRACE_ANY_MPICXX AND EXISTS ${openmpi_compiler})
    set(MPI_CXX_COMPILER ${openmpi_compiler} CACHE FILEPATH "MPI compiler wrapper for C++")
  endif()
endif()
set(MPI_CXX_SKIP_MPICXX TRUE)
find_package(MPI 3.1 REQUIRED COMPONENTS CXX)
find_package(PkgConfig REQUIRED)
find_package(fmt REQUIRED)
find_package(CLI11 REQUIRED)
find_package(nlohmann_json REQUIRED)
pkg_check_modules(TOMLPLUSPLUS REQUIRED IMPORTED_TARGET tomlplusplus)
pkg_check_modules(ZLIB REQUIRED IMPORTED_TARGET zlib)
pkg_check_modules(HWLOC REQUIRED IMPORTED_TARGET hwloc>=2.0)
pkg_check_modules(XXHASH REQUIRED IMPORTED_TARGET libxxhash>=0.8)
pkg_check_modules(PUGIXML REQUIRED IMPORTED_TARGET pugixml)
pkg_check_modules(PAPI IMPORTED_TARGET papi)  # optional: hardware counters in traces

# The serial HDF5: distributions keep serial and parallel builds side by side, and only the serial one is needed. Where
# only a parallel one is installed, it has the general name: programs linked with it crash in MPI_Finalize after a file
# that could not be closed. 1.10.3 is the first with H5Dwrite_chunk.
pkg_check_modules(SERIAL_HDF5 IMPORTED_TARGET hdf5-serial>=1.10.3)
if(SERIAL_HDF5_FOUND)
  add_library(tailrace_hdf5 ALIAS PkgConfig::SERIAL_HDF5)
else()
  pkg_check_modules(ANY_HDF5 IMPORTED_TARGET hdf5>=1.10.3)
  if(ANY_HDF5_FOUND)
    add_library(tailrace_hdf5 ALIAS PkgConfig::ANY_HDF5)
  else()
    set(HDF5_PREFER_PARALLEL FALSE)
    find_package(HDF5 1.10.3 REQUIRED COMPONENTS C)
    add_library(tailrace_hdf5 ALIAS hdf5::hdf5)
  endif()
  include(CheckCXXSymbolExists)
  get_target_property(CMAKE_REQUIRED_INCLUDES tailrace_hdf5 INTERFACE_INCLUDE_DIRECTORIES)
  if(NOT CMAKE_REQUIRED_INCLUDES)  # the compiler looks there anyway
    unset(CMAKE_REQUIRED_INCLUDES)
  endif()
  unset(HDF5_IS_PARALLEL CACHE)
  check_cxx_symbol_exists(H5_HAVE_PARALLEL H5pubconf.h HDF5_IS_PARALLEL)
  unset(CMAKE_REQUIRED_INCLUDES)
  if(HDF5_IS_PARALLEL)
    message(FATAL_ERROR "The HDF5 that was found is built for MPI; one without MPI is needed beside it "
                        "(Debian libhdf5-dev, Fedora hdf5-devel, Spack hdf5~mpi, conda hdf5). "
                        "Install it, or name it by PKG_CONFIG_PATH or HDF5_ROOT.")
  endif()
endif()
# The strategy uring: without it, threads write instead.
if(TAILRACE_URING)
  pkg_check_modules(LIBURING IMPORTED_TARGET liburing>=2.2)
endif()
if(NOT TARGET PkgConfig::LIBURING)
  message(STATUS "liburing: not found, --write uring will use threads")
endif()
# Compression of checkpoints.
if(TAILRACE_ZSTD)
  pkg_check_modules(ZSTD IMPORTED_TARGET libzstd>=1.4)
endif()
if(NOT TARGET PkgConfig::ZSTD)
  message(STATUS "zstd: not found, checkpoints are not compressed")
endif()
# What transforms and fragments are measured against, nothing that Tailrace uses.
if(TAILRACE_BENCHMARKS)
  pkg_check_modules(FFTW3F IMPORTED_TARGET fftw3f)
  pkg_search_module(STARPU IMPORTED_TARGET starpu-1.4 starpu-1.3)
  find_package(TBB QUIET COMPONENTS tbb)
endif()
if(TAILRACE_TESTS)
  find_package(doctest REQUIRED)
endif()
