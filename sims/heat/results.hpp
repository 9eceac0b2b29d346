// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "problem.hpp"
#include "solver.hpp"

/// What a run found out, as NPB prints it, and for run.json.
namespace tailrace::heat {

struct Result {
  const NpbClass* npb_class = nullptr;  ///< none: class U
  double integral = 0;
  double mops = 0;  ///< millions of collocation points advanced per second

  [[nodiscard]] char name() const noexcept { return npb_class == nullptr ? 'U' : npb_class->name; }
  [[nodiscard]] std::optional<double> reference() const noexcept {
    return npb_class == nullptr ? std::nullopt : npb_class->integral;
  }
  /// The relative difference to the reference.
  [[nodiscard]] std::optional<double> difference() const noexcept;
  /// Whether it is close enough to the reference; nothing where there is none.
  [[nodiscard]] std::optional<bool> verified() const noexcept;
};

/// What a finished computation has to say. @collective{comm} of the solver
Result result_of(const Problem& problem, Solver& solver);

/// NPB's lines before the run.
std::string npb_head(const Problem& problem);
/// NPB's line for each adaptation.
std::string npb_adaptation(const Adaptation& done);
/// NPB's timers.
std::string npb_timers(const Phases& phases, double total_s);
/// NPB's lines at the end: the verification, and the block that its scripts read.
std::string npb_result(const Problem& problem, const Result& result, double seconds, int ranks, int threads);

/// For run.json. `result` is there once the computation has finished.
nlohmann::json to_json(const Problem& problem, const Solver& solver, const std::optional<Result>& result);

}  // namespace tailrace::heat
