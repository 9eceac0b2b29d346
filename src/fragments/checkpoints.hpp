// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "tailrace/checkpoint.hpp"

namespace tailrace::fragments {

/// What a rank asks for while a program runs.
enum class Wish : std::uint8_t {
  none,
  checkpoint,
  stop,  ///< with a checkpoint
  end    ///< without one
};

/// When a program is saved, and where to: what the runtime of each rank is given.
class Checkpoints {
 public:
  Checkpoints() = default;
  Checkpoints(const Checkpoints&) = delete;
  Checkpoints& operator=(const Checkpoints&) = delete;
  virtual ~Checkpoints() = default;

  /// What this rank wants now, after so many fragments in this run. @local
  [[nodiscard]] virtual Wish wish(std::int64_t executed) = 0;
  /// Saves the state of the paused program, of which this rank has executed so many fragments; it ends then
  /// if `stops`. @collective{ranks}, synchronises
  virtual void save(const checkpoint::StateFunction& state, std::int64_t executed, bool stops) = 0;
  /// Restores the state with which the program is to begin. Returns false if it begins at its beginning.
  /// @collective{ranks}
  virtual bool restore(const checkpoint::StateFunction& state) = 0;
};

}  // namespace tailrace::fragments
