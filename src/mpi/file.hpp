// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <sys/types.h>
#include <sys/uio.h>

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "mpi/handles.hpp"
#include "tailrace/comm.hpp"

/// Files through MPI-IO.
namespace tailrace::mpi {

/// Advice to MPI-IO, such as ("striping_factor", "8"): keys and values as the MPI library knows them. It
/// ignores those that it does not know.
using Hints = std::vector<std::pair<std::string, std::string>>;

/// Hints as MPI takes them.
class Info {
 public:
  /// @local. Errors (usage): a hint that MPI cannot hold, with the longest lengths.
  explicit Info(const Hints& hints);
  Info(const Info&) = delete;
  Info& operator=(const Info&) = delete;
  ~Info();

  [[nodiscard]] InfoHandle get() const noexcept { return info_; }

 private:
  InfoHandle info_ = InfoHandle::none;
};

/// Those of the wanted hints that are not in effect: missing there, or with another value.
Hints not_taken(const Hints& wanted, const Hints& in_effect);
/// "KEY=VALUE,KEY=VALUE".
std::string to_string(const Hints& hints);

/// Has Open MPI use ROMIO where it has the choice. Its own MPI-IO (OMPIO, 4.1.4) says of a collective write
/// that failed that all of it was done, on every rank, when there are three ranks or more; ROMIO informs all
/// ranks. Works until the first file is opened through MPI-IO; a choice of the user's (OMPI_MCA_io) is.
/// Nothing to do in other libraries. @local
void prefer_romio();

/// Returns whether `prefer_romio` had its way under Open MPI: the user named nothing else. @local
bool uses_romio();

/// A file that the ranks of a communicator have open for writing, each at places of its own.
class File {
 public:
  /// Opens an existing file. @collective{comm}, synchronises. Errors (io): the same on all ranks.
  File(CommView comm, std::string path, const Hints& hints);
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  /// Leaves a file that was not closed, which is collective, to the end of the process.
  ~File() = default;

  /// Makes an empty file, or empties one, on this rank alone: hints about the layout on the device only work
  /// when a file is made. @local. Errors (io).
  static void create(const std::string& path, const Hints& hints);

  /// As pwritev(2): the bytes taken, which may be less than asked for, or -1 with errno. @local
  ssize_t write_at(std::span<const iovec> buffers, off_t offset) noexcept;
  /// The hints in effect, MPI's own included. @local
  [[nodiscard]] Hints hints() const;
  /// @collective{comm} of the file, synchronises. Errors (io): on the ranks that see them.
  void close();

 private:
  ssize_t write_extent(const std::byte* bytes, std::size_t length, off_t offset) noexcept;

  FileHandle file_ = FileHandle::none;
  std::string path_;
};

}  // namespace tailrace::mpi
