// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "output/sinks/descriptor.hpp"
#include "output/sinks/hdf5_file.hpp"

/// Describes how an output leaves a directory that refuses writes (docs/explain/output.md).
namespace tailrace::output {

/// A directory that was left, as the file says so it (docs/formats/commit_mark.md).
struct DirectoryChange {
  std::uint64_t step = 0, from = 0, to = 0;  ///< directories by their numbers
  std::uint64_t error = 0;                   ///< refers to the system; 0: nothing has happened
};

/// The dataset with a row for each change that there may be.
h5::DatasetSpec switches_spec(std::size_t directories);
/// The changes in a file with these places. @local. Errors (io).
std::vector<DirectoryChange> changes_in(const Hdf5Places& places);
/// Forgets them: the directories may have got room since. @local. Errors (io).
void forget_changes(const Hdf5Places& places);
/// Each of them in words.
std::vector<std::string> describe_changes(const Hdf5Places& places);

/// Moves the stripes that still take values from one directory to another, by changing the names of their
/// files in the HDF5 file, and follows when other processes do. They agree by a lock on the file: whoever
/// moves holds it alone, and whoever has written asks under it whether the places are still the same.
class DirectorySwitch {
 public:
  /// `places` are those that the caller writes to, which this keeps right; they and the plan outlive it.
  /// @local. Errors (io).
  DirectorySwitch(const Plan& plan, Hdf5Places& places);

  /// Makes sure that the processes see each other's locks. @collective{comm}, synchronises; every rank throws
  /// the same error or none.
  void check_locks(mpi::CommView comm);

  /// Returns whether other processes have changed places since the last call: what was written since then has
  /// to be written again. @local, waits while another process moves stripes. Errors (io).
  bool follow();
  /// Continues elsewhere when a write into `file` was refused with the system's `error`. Returns false if
  /// that is of no use: for this error, or because all directories have been left. @local, as `follow`.
  /// Errors (io): values of stripes that must move cannot be read.
  bool fail_over(const std::string& file, int error, StepIndex step);

 private:
  /// A stripe: which one of which dataset.
  struct Stripe {
    std::size_t dataset, number;
  };

  [[nodiscard]] const std::string& path() const noexcept { return places_.files.front(); }
  bool reload();
  [[nodiscard]] std::vector<std::size_t> targets(std::size_t from) const;
  [[nodiscard]] StepIndex recorded() const;
  [[nodiscard]] std::vector<Stripe> unfinished_stripes(std::size_t file) const;
  void move(std::size_t from, std::size_t to);
  void copy(const std::string& from, const std::string& to, const std::vector<Stripe>& stripes) const;
  void rename(const std::string& to, const std::vector<Stripe>& stripes) const;
  void mark(const DirectoryChange& change);

  const Plan& plan_;
  Hdf5Places& places_;
  std::vector<std::string> datasets_;  ///< paths in the HDF5 file
  Descriptor hdf5_;
  std::size_t known_ = 0;  ///< changes that the places are after
  bool changed_ = false;   ///< by others, since `follow` was called
};

}  // namespace tailrace::output
