// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "mpi/handles.hpp"
#include "tailrace/comm.hpp"

namespace tailrace::mpi {

/// Ranks of a communicator, as MPI's epochs name them.
class Group {
 public:
  Group(CommView comm, const std::vector<int>& ranks);
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;
  ~Group();
  [[nodiscard]] GroupHandle get() const noexcept { return group_; }

 private:
  GroupHandle group_ = GroupHandle::none;
};

/// Numbers that `Window::accumulate` combines, and what it does with them.
enum class WindowNumber : std::uint8_t { float32, float64, int32, int64 };
enum class WindowOperation : std::uint8_t {
  sum,
  min,
  max,
  logical_or,  ///< integers only
};

/// Where the numbers of a message are in another rank's window.
class NumberPlaces {
 public:
  /// Groups of `numbers` neighbours each, one group behind the other in the message; group i begins
  /// `at_bytes[i]` into the window. Errors: MPI's own.
  NumberPlaces(WindowNumber kind, int numbers, const std::vector<std::ptrdiff_t>& at_bytes);
  NumberPlaces(NumberPlaces&& other) noexcept;
  NumberPlaces& operator=(NumberPlaces&&) = delete;
  ~NumberPlaces();

 private:
  friend class Window;
  int groups_;
  DatatypeHandle group_ = DatatypeHandle::none;   ///< one of the message
  DatatypeHandle places_ = DatatypeHandle::none;  ///< all of them in the window
};

/// Memory of every rank that the others write to and read from without its taking part (MPI-3 one-sided
/// operations). An origin's memory belongs to MPI until a flush or the end of an epoch.
class Window {
 public:
  /// `bytes` of this rank, zeroed. @collective{comm}, synchronises. Errors: MPI's own, if it has no memory.
  Window(CommView comm, std::size_t bytes);
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;
  /// @collective{comm}, synchronises; while an exception unwinds, the memory is left to the end of the
  /// process.
  ~Window();

  [[nodiscard]] std::byte* data() const noexcept { return data_; }

  /// Starts to write to `rank`, `offset_bytes` into its memory, or to read from there. @local, does not wait
  void put(std::span<const std::byte> bytes, int rank, std::size_t offset_bytes);
  void get(std::span<std::byte> bytes, int rank, std::size_t offset_bytes);
  /// Starts to combine the numbers of a message with those of `rank`, each number as a whole, whoever else
  /// does the same. @local, does not wait
  void accumulate(const std::byte* message, const NumberPlaces& places, int rank, WindowOperation how);

  /// Allows access to all ranks from now on, until `unlock_all`. @local
  void lock_all();
  void unlock_all();
  /// Waits until what was started towards `rank` is done there. @local
  void flush(int rank);
  /// Lets MPI continue, which others may need to write here, and makes what they have written visible to this
  /// rank's reads. @local
  void sync();

  /// Ends an epoch and begins one, on all ranks. @collective{comm}, synchronises
  void fence();

  /// Lets the ranks of a group write here. @local, does not wait
  void post(const Group& origins);
  /// Begins to write to a group that posts. @neighbour, may wait for its `post`
  void start(const Group& targets);
  /// Ends it. @neighbour, may wait for their `post`
  void complete();
  /// Returns whether all that were let in have completed. @local, does not wait
  [[nodiscard]] bool test();

 private:
  CommView comm_;
  WindowHandle window_ = WindowHandle::none;
  std::byte* data_ = nullptr;
};

}  // namespace tailrace::mpi
