// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "element_rows.hpp"
#include "solver.hpp"
#include "tailrace/error.hpp"

namespace tailrace::heat {

namespace {

struct Number {
  const char* name;
  double value;
};

/// The numbers that make a problem, but for the steps that it takes.
std::vector<Number> numbers_of(const Problem& problem) {
  const auto& [x, y, z] = problem.velocity;
  const auto& [at_x, at_y, at_z] = problem.centre;
  return {{"level", static_cast<double>(problem.level)},
          {"radius", problem.radius},
          {"viscosity", problem.viscosity},
          {"dt_s", problem.dt},
          {"cg_iterations", static_cast<double>(problem.cg_iterations)},
          {"adapt_every", static_cast<double>(problem.adapt_every)},
          {"velocity[0]", x},
          {"velocity[1]", y},
          {"velocity[2]", z},
          {"centre[0]", at_x},
          {"centre[1]", at_y},
          {"centre[2]", at_z},
          {"cg_tolerance", problem.cg_tolerance},  // 0 of the solver "npb"
          {"order", static_cast<double>(problem.order)}};
}

}  // namespace

/// Version 1 knew the solver "npb" only, version 2 NPB's order.
void Solver::check_same_problem(checkpoint::StateArchive& archive, int version) const {
  const auto here = numbers_of(problem_);
  std::vector<double> there;
  for (const auto& number : here) there.push_back(number.value);
  archive.values("problem", there);
  if (version < 2) there.push_back(0);
  if (version < 3) there.push_back(npb_order);
  if (there.size() != here.size())
    throw Error(ErrorKind::input, fmt::format("the checkpoint has {} numbers of its problem, not {}",
                                              there.size(), here.size()));
  std::vector<std::string> differences;
  for (std::size_t i = 0; i < here.size(); ++i)
    if (there[i] != here[i].value)
      differences.push_back(fmt::format("{} = {}, not {}", here[i].name, there[i], here[i].value));
  if (differences.empty()) return;
  throw Error(
      ErrorInfo{.kind = ErrorKind::input,
                .message = fmt::format("the checkpoint is of a run with {}", fmt::join(differences, ", ")),
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
  archive.component("heat", 3, [&](int version) {
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
      restored_count_ = 0;
    }
    archive.rows(
        "elements",
        std::make_unique<ElementRows>(
            forest_, comm_.rank(), problem_.order, [this](std::size_t element) { return values(element); },
            [this](const Leaf& leaf, std::span<const double> values) { take_restored(leaf, values); }));
  });
}

void Solver::take_restored(const Leaf& leaf, std::span<const double> values) {
  const auto& leaves = forest_.leaves;
  const auto found = std::lower_bound(leaves.begin(), leaves.end(), leaf,
                                      [](const Leaf& a, const Leaf& b) { return a.key() < b.key(); });
  if (found == leaves.end() || *found != leaf)
    throw Error(ErrorKind::input, "the checkpoint has an element that the mesh of its time has not");
  elements_->set_values(static_cast<std::size_t>(found - leaves.begin()), values);
  ++restored_count_;
}

void Solver::restored(StepIndex step) {
  elements_->mark_step(step);
  if (const auto count = mpi::sum(comm_, restored_count_); count != forest_.total)
    throw Error(ErrorKind::input, fmt::format("the checkpoint has {} elements, and the mesh of its time {}",
                                              count, forest_.total));
}

}  // namespace tailrace::heat
