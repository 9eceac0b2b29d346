// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "checkpoint/schedule.hpp"
#include "fragments/checkpoints.hpp"
#include "tailrace/comm.hpp"
#include "tailrace/fragments/options.hpp"
#include "tailrace/trace.hpp"

namespace tailrace::fragments {

/// Checkpoints of a program in a directory: as those of every run (docs/formats/checkpoint.md), of the
/// simulation `fragments`; steps are fragments executed on all ranks.
class SavedProgram final : public Checkpoints {
 public:
  /// `program` names it in the manifest. @local
  SavedProgram(mpi::CommView comm, std::string program, const CheckpointOptions& options);

  [[nodiscard]] Wish wish(std::int64_t executed) override;
  /// What cannot be saved is left out, with a warning, unless the program is to end then.
  void save(const checkpoint::StateFunction& state, std::int64_t executed, bool stops) override;
  bool restore(const checkpoint::StateFunction& state) override;

  /// On the root: checkpoints that were skipped or left out, and why. @local
  [[nodiscard]] const std::vector<std::string>& warnings() const noexcept { return warnings_; }
  /// Checkpoints that were written, and the seconds that this took, for which nothing ran. @local
  [[nodiscard]] int taken() const noexcept { return taken_; }
  [[nodiscard]] double saved_s() const noexcept { return saved_s_; }

 private:
  void write(const checkpoint::StateFunction& state, StepIndex step);

  mpi::CommView comm_;
  std::string program_;
  CheckpointOptions options_;
  checkpoint::Schedule schedule_;
  trace::Log log_{"checkpoint"};
  std::int64_t executed_ = 0;  ///< of this rank, in this run
  std::uint64_t looks_ = 0;
  double start_s_, saved_s_ = 0;
  int taken_ = 0;
  std::vector<std::string> warnings_;
};

}  // namespace tailrace::fragments
