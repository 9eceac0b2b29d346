// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tailrace/checkpoint.hpp"
#include "tailrace/comm.hpp"

namespace tailrace::checkpoint {

/// A checkpoint from which a run continues, on any number of ranks.
///
/// Rank 0 reads what describes the state and sends it to all; then each rank reads the cells that its part of
/// the state touches, and nothing else.
class Checkpoint {
 public:
  /// Opens the checkpoint in the directory `path`. @collective{comm}, synchronises. Errors (input), on all
  /// ranks: it is missing, incomplete, damaged, of a newer format, or of another simulation than
  /// `simulation`.
  Checkpoint(mpi::CommView comm, const std::string& path, const std::string& simulation);
  ~Checkpoint();
  Checkpoint(Checkpoint&&) noexcept;
  Checkpoint& operator=(Checkpoint&&) noexcept;

  [[nodiscard]] const std::string& path() const noexcept;
  [[nodiscard]] StepIndex step() const noexcept;
  [[nodiscard]] double time_s() const noexcept;
  [[nodiscard]] int ranks() const noexcept;  ///< that wrote it

  /// Restores what `state` names, and compares counts and sums with what was saved. Returns the parts of the
  /// checkpoint that it did not name, for a warning. @collective, synchronises. Errors (input), on all ranks:
  /// a part is missing, of another kind, size or type, or damaged; the state is then undefined, and may be
  /// restored from another checkpoint. Memory: 8 MiB, the directories of the parts that this rank touches,
  /// and 72 bytes for each rank that wrote.
  std::vector<std::string> restore(const StateFunction& state) const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tailrace::checkpoint
