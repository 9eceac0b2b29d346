// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "h5/hyperslab.hpp"

/// Collective access to files through a parallel HDF5. It lives in a module of its own, because programs are
/// linked with the serial library, whose functions have the same names.
namespace tailrace::h5 {

/// A file that the ranks of a communicator write together. Failures are thrown as `std::system_error`, with
/// errno and HDF5's own words, on the ranks that see them.
class ParallelFile {
 public:
  ParallelFile() = default;
  ParallelFile(const ParallelFile&) = delete;
  ParallelFile& operator=(const ParallelFile&) = delete;
  /// Leaves a file that was not closed, which is collective, to the end of MPI.
  virtual ~ParallelFile() = default;

  /// Puts values, in their own type, into blocks of a dataset, which ascend; `values` holds the elements of
  /// block after block. A rank that has nothing gives no blocks. @collective{comm} of the file. Errors,
  /// beside those of writing: HDF5 has written rank by rank instead (ENOTSUP, on all ranks).
  virtual void write(std::size_t dataset, std::span<const Hyperslab> hyperslabs,
                     std::span<const std::byte> values) = 0;
  /// The same by this rank alone. @local
  virtual void write_alone(std::size_t dataset, std::span<const Hyperslab> hyperslabs,
                           std::span<const std::byte> values) = 0;
  /// @collective{comm} of the file, synchronises
  virtual void close() = 0;
};

/// Describes what to open.
struct ParallelTarget {
  int comm = 0;  ///< as Fortran numbers it: this header knows no MPI
  std::string path;
  std::vector<std::string> datasets;                       ///< counted from 0 in `ParallelFile::write`
  std::vector<std::pair<std::string, std::string>> hints;  ///< for MPI-IO
};

/// True if the parallel HDF5 of the MPI in use was there when this was built.
bool has_parallel() noexcept;
/// Opens an existing file. The module is loaded when this is called for the first time.
/// @collective{target.comm}, synchronises. Errors, on the ranks that see them: `Error` (resource) that the
/// module cannot be loaded; `std::system_error` that the file cannot be opened.
std::unique_ptr<ParallelFile> open_parallel(const ParallelTarget& target);

}  // namespace tailrace::h5
