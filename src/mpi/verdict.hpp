// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "tailrace/comm.hpp"
#include "tailrace/error.hpp"

namespace tailrace::mpi {

/// Seconds after which ranks stop waiting for a common verdict and report who is missing.
inline constexpr double verdict_limit_s = 60;

/// Makes the failure of any rank the failure of all: returns if no rank brings an error, otherwise throws on
/// every rank the error of the lowest failing rank. A rank that does not take part within `limit_s` is named
/// in the error; the communicator is of no more use then, not even to free it.
/// @collective{comm}, synchronises.
void agree(CommView comm, const std::optional<ErrorInfo>& mine, double limit_s = verdict_limit_s);

/// Runs `action` on this rank and shares its outcome: if it throws anywhere, every rank throws the same
/// error.
/// @collective{comm}, synchronises; `action` itself must not communicate.
void collectively(CommView comm, const std::function<void()>& action, double limit_s = verdict_limit_s);

/// Runs `action` on the root only and shares its outcome. @collective{comm}, synchronises.
void collectively_on_root(CommView comm, const std::function<void()>& action);

/// A verdict once per time step that costs no wait: each step's status is summed up while the next step
/// computes.
class StepVerdict {
 public:
  /// Describes what a rank hands in.
  struct Report {
    bool failed = false;
    bool stop = false;        ///< it was asked to stop
    std::int64_t number = 0;  ///< that of which the smallest is wanted
    bool wish = false;        ///< it wants what any rank may ask all for
    bool waiting = false;     ///< for something of its own to be done
  };
  /// Describes what all ranks know after a step.
  struct Outcome {
    int failing_rank = -1;   ///< lowest rank that has an error, or -1
    bool stop = false;       ///< some rank was asked to stop
    std::int64_t least = 0;  ///< the smallest of the numbers that ranks handed in
    bool wish = false;       ///< some rank has it
    bool waiting = false;    ///< some rank is
  };

  explicit StepVerdict(CommView comm) : comm_(comm) {}
  StepVerdict(const StepVerdict&) = delete;
  StepVerdict& operator=(const StepVerdict&) = delete;
  /// After the `finish` of every `start`, unless an error ends the program.
  ~StepVerdict();

  /// Hands in what this rank has to say. @collective{comm}, does not wait.
  void start(const Report& report);
  /// The outcome of the last `start`, or nothing failed when there was none. @collective{comm}
  Outcome finish();

 private:
  struct Values {
    std::array<std::int64_t, 5> mine{}, all{};
  };
  CommView comm_;
  Request request_ = Request::none;
  std::unique_ptr<Values> values_ = std::make_unique<Values>();
};

}  // namespace tailrace::mpi
