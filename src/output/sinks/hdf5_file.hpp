// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "output/core/sink.hpp"
#include "output/sinks/file_extents.hpp"
#include "output/sinks/space.hpp"

namespace tailrace::output {

/// Describes where everything is in a file of the sink `hdf5`.
struct Hdf5Places {
  std::vector<std::string> files;  ///< the HDF5 file, then the raw files beside it
  std::vector<FileExtents>
      datasets;  ///< refers to the streams; none of those whose samples have files of their own
  std::int64_t commit_mark = 0,
               commit_mark_slots = 0;  ///< first byte and number of the commit mark's slots in the HDF5 file
  std::int64_t dropped = 0;            ///< first of as many slots for dropped samples, 0 where none may be
  /// Says where the raw files may be, and the first byte of the rows that say which of them were left; none
  /// and 0 where none may be left.
  std::vector<std::string> directories = {};
  std::int64_t switches = 0;
};

/// Creates the file with its whole layout. It appears only when it is complete: even a process that is killed
/// here leaves a file that can be read, or none. @local
Hdf5Places create_file(const SinkContext& context);

/// The places in a file that an earlier run left, whose datasets are known to have the right shapes; nothing
/// if it cannot be written in place. @local. Errors (io): no permission to write.
std::optional<Hdf5Places> find_places(const SinkContext& context);

/// Finds where the datasets are now that other processes have moved some. Files keep their numbers, new ones
/// come behind them. @local. Errors (io).
void find_again(const Plan& plan, Hdf5Places& places);

/// Replaces a file that cannot be written in place by one that can and that holds what the old one does up to
/// step `context.resume_after`. All ranks copy. The new file takes its place when it is complete.
/// @collective{context.comm}, synchronises; every rank throws the same error or none.
Hdf5Places replace_by_copy(const SinkContext& context);

/// Sends the root's places to all. @collective{comm}
void share(mpi::CommView comm, Hdf5Places& places);

/// Marks in all slots of the commit mark that the samples up to `steps` are there. @local
void set_commit_mark(const std::string& path, const Hdf5Places& places, StepIndex steps);

/// Returns what the unreduced samples after step `after` take in each file.
std::vector<std::vector<Region>> regions_after(const Plan& plan, const Hdf5Places& places, StepIndex after);

}  // namespace tailrace::output
