// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>

#include "element_rows.hpp"
#include "solver.hpp"
#include "tailrace/error.hpp"

namespace tailrace::heat {

namespace {

/// The numbers that make a problem, but for the steps that it takes.
std::vector<double> numbers_of(const Problem& problem) {
  std::vector<double> numbers{static_cast<double>(problem.level),
                              problem.radius,
                              problem.viscosity,
                              problem.dt,
                              static_cast<double>(problem.cg_iterations),
                              static_cast<double>(problem.adapt_every)};
  numbers.insert(numbers.end(), problem.velocity.begin(), problem.velocity.end());
  numbers.insert(numbers.end(), problem.centre.begin(), problem.centre.end());
  numbers.push_back(problem.cg_tolerance);  // 0 of the solver "npb"
  return numbers;
}

}  // namespace

/// Version 1 knew the solver "npb" only.
void Solver::check_same_problem(checkpoint::StateArchive& archive, int version) const {
  const auto here = numbers_of(problem_);
  auto there = here;
  archive.values("problem", there);
  if (version == 1) there.push_back(0);
  if (there == here) return;
  throw Error(ErrorInfo{
      .kind = ErrorKind::input,
      .message = fmt::format("the checkpoint is of a run with level, radius, viscosity, dt_s, "
                             "cg_iterations, adapt_every, velocity, centre and cg_tolerance {}, not {}",
                             fmt::join(there, ", "), fmt::join(here, ", ")),
      .path = {},
      .hint = "resume with the case that wrote it"});
}

void Solver::pass_adaptations(checkpoint::StateArchive& archive) {
  constexpr std::size_t members = 5;
  std::vector<std::int64_t> numbers;
  for (const auto& done : adaptations_)
    numbers.insert(numbers.end(), {done.step, done.splits, done.merged, done.elements, done.mortars});
  archive.values("adaptations", numbers);
  if (!archive.restores()) return;
  adaptations_.clear();
  for (std::size_t i = 0; i + members <= numbers.size(); i += members)
    adaptations_.push_back({.step = numbers[i],
                            .splits = numbers[i + 1],
                            .merged = numbers[i + 2],
                            .elements = numbers[i + 3],
                            .mortars = numbers[i + 4]});
}

/// The mesh follows from the time of the last adaptation, whatever the number of ranks.
void Solver::state(checkpoint::StateArchive& archive) {
  archive.component("heat", 2, [&](int version) {
    check_same_problem(archive, version);
    archive.value("time", time_);
    archive.value("adapted_time", adapted_time_);
    archive.value("element_steps", element_steps_);
    element_iterations_ = version == 1 ? element_steps_ * problem_.cg_iterations : element_iterations_;
    if (version > 1) archive.value("element_iterations", element_iterations_);
    double computed_s = archive.restores() ? 0 : mpi::max(comm_, computed_s_);
    archive.value("computed_s", computed_s);
    computed_s_ = computed_s;
    pass_adaptations(archive);
    if (archive.restores()) {
      set_mesh(make_forest(comm_, problem_.level, problem_.ball_at(adapted_time_)));
      restored_.assign(elements(), {});
      restored_count_ = 0;
    }
    archive.rows(
        "elements",
        std::make_unique<ElementRows>(
            forest_, comm_.rank(), [this](std::size_t element) { return values(element); },
            [this](const Leaf& leaf, const ElementValues& element) { take_restored(leaf, element); }));
  });
}

void Solver::take_restored(const Leaf& leaf, const ElementValues& values) {
  const auto& leaves = forest_.leaves;
  const auto found = std::lower_bound(leaves.begin(), leaves.end(), leaf,
                                      [](const Leaf& a, const Leaf& b) { return a.key() < b.key(); });
  if (found == leaves.end() || *found != leaf)
    throw Error(ErrorKind::input, "the checkpoint has an element that the mesh of its time has not");
  restored_[static_cast<std::size_t>(found - leaves.begin())] = values;
  ++restored_count_;
}

void Solver::restored(StepIndex step) {
  step_ = step;
  if (const auto count = mpi::sum(comm_, restored_count_); count != forest_.total)
    throw Error(ErrorKind::input, fmt::format("the checkpoint has {} elements, and the mesh of its time {}",
                                              count, forest_.total));
  for (std::size_t e = 0; e < elements(); ++e) set_values(e, restored_[e]);
  restored_ = {};
}

}  // namespace tailrace::heat
