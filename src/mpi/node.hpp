// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "mpi/handles.hpp"
#include "tailrace/comm.hpp"

/// Ranks that share a memory, and memory that they all reach.
namespace tailrace::mpi {

/// The ranks of a communicator that can share memory with this one, itself included. With the environment
/// variable TAILRACE_RANKS_PER_NODE = n, no more than n consecutive ones of them: for tests of what happens
/// between nodes, and to switch sharing off (1).
class Node {
 public:
  /// @collective{parent}, synchronises. Errors (usage), the same on all ranks: a value of the variable that
  /// is no number from 1 on.
  explicit Node(CommView parent);
  /// A node of this rank alone. @collective{parent}
  static Node alone(CommView parent) { return {parent, 1}; }

  [[nodiscard]] CommView comm() const noexcept { return comm_; }
  /// Their ranks in the parent, in the order of `comm`.
  [[nodiscard]] const std::vector<int>& ranks() const noexcept { return ranks_; }

 private:
  Node(CommView parent, int max_ranks);

  Comm comm_;
  std::vector<int> ranks_;
};

/// Has the system take pages for memory that is mapped, which become zeros. Returns whether it had all of
/// them: where `/dev/shm` is full it has not, and who touched the rest would be ended by SIGBUS. @local.
/// Cost: a pass over the memory.
[[nodiscard]] bool reserve(std::byte* first, std::size_t bytes) noexcept;

/// Whether the system has room in `/dev/shm` for so many bytes of each of these ranks of one machine, and for
/// what MPI keeps beside them. Open MPI 4.1 does not refuse what there is no room for: the first rank fails,
/// and the others wait for it. @collective{machine}, synchronises
[[nodiscard]] bool has_shared_room(CommView machine, std::size_t bytes);

/// Memory with a part for each rank of a node, which all of them read and write. What one writes, others see
/// once it has called `fence`, then all ranks have met (`barrier`), then the others have called `fence`.
class SharedMemory {
 public:
  /// `bytes` of zeros for this rank, on a page boundary, with the pages taken; none on any rank if the system
  /// refuses the memory to one of them. @collective{node}, synchronises. `node` outlives the memory.
  static std::optional<SharedMemory> allocate(const Node& node, std::size_t bytes);

  SharedMemory(SharedMemory&& other) noexcept;
  SharedMemory& operator=(SharedMemory&& other) noexcept;
  /// @collective{node}, synchronises; while an exception unwinds, the memory is left to the end of the
  /// process.
  ~SharedMemory();

  /// The part of a rank, counted as in `Node::comm`.
  [[nodiscard]] std::byte* part(int rank) const noexcept { return parts_[static_cast<std::size_t>(rank)]; }
  /// Orders this rank's accesses before it before those after it. @local
  void fence() const;

 private:
  SharedMemory(CommView comm, WindowHandle window) : comm_(comm), window_(window) {}
  void locate_parts();

  CommView comm_;
  WindowHandle window_ = WindowHandle::none;
  std::vector<std::byte*> parts_;
};

}  // namespace tailrace::mpi
