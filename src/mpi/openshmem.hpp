// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>

#include "tailrace/comm.hpp"

namespace tailrace::mpi {

/// OpenSHMEM beside MPI, of the library that belongs to this Open MPI. It is loaded where the environment
/// asks for it (TAILRACE_EXCHANGE=shmem), so that no program needs it, and starts and ends with MPI.
namespace openshmem {

/// Why this process cannot have it, or nothing; what all ranks of the job find is known when it starts.
/// @local
[[nodiscard]] std::string obstacle();

/// For `Environment` alone: what has to be set before MPI starts; starts it, where the environment asks for
/// it and all ranks can have it; ends it, and MPI with it, and returns whether it had been started.
void prepare();
/// @collective{world}, synchronises. Errors (usage): the environment of another rank does not ask for it.
void begin(CommView world);
bool end();

}  // namespace openshmem

/// Memory of every rank of a communicator in which the others write by puts of OpenSHMEM. It is a part of
/// what OpenSHMEM allocates on all ranks of the job, and not in the same place on each: a rank lets those
/// that write here know its `origin_bytes`.
class SymmetricMemory {
 public:
  /// `bytes` of this rank, zeroed. @collective{comm}, synchronises. Errors (usage): OpenSHMEM has not
  /// started; (resource): it has too little memory on a rank. The same on all ranks.
  SymmetricMemory(CommView comm, std::size_t bytes);
  SymmetricMemory(const SymmetricMemory&) = delete;
  SymmetricMemory& operator=(const SymmetricMemory&) = delete;
  /// @collective{comm}, synchronises; while an exception unwinds, the memory is left to the end of the
  /// process.
  ~SymmetricMemory();

  [[nodiscard]] std::byte* data() const noexcept;
  /// Where it begins, as others count for `put`.
  [[nodiscard]] std::size_t origin_bytes() const noexcept { return origin_bytes_; }

  /// Writes to `rank`, so far behind the beginning of all that is OpenSHMEM's; `bytes` may be used again at
  /// once. @local, does not wait for that rank
  void put(std::span<const std::byte> bytes, int rank, std::size_t offset_bytes);
  /// Writes a number as a whole.
  void put(std::uint64_t number, int rank, std::size_t offset_bytes);
  /// Waits until all that was put is where it goes. @local
  void flush(int rank);
  /// Lets OpenSHMEM continue, which others may need to write here. @local
  void sync();

 private:
  [[nodiscard]] int process_of(int rank);

  CommView comm_;
  std::size_t origin_bytes_ = 0;
  std::map<int, int> processes_;  ///< how OpenSHMEM numbers the ranks that were written to
};

}  // namespace tailrace::mpi
