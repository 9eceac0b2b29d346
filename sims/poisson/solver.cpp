// SPDX-License-Identifier: BSD-3-Clause
#include "solver.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "mean.hpp"

namespace tailrace::poisson {

namespace {

State make_state(const Problem& problem, const Box& own, AlignedVector<double> rhs) {
  State state;
  state.own = own;
  state.rhs = std::move(rhs);
  const auto points = state.rhs.size();
  state.u.assign(points, 0);
  state.residual.assign(points, 0);
  if (problem.method != Method::conjugate_gradients) return state;
  state.r.assign(points, 0);
  state.p.assign(points, 0);
  return state;
}

}  // namespace

Solver::Solver(mpi::CommView comm, const Problem& problem, const BlockGrid& blocks, AlignedVector<double> rhs,
               const fragments::Options& how)
    : comm_(comm),
      problem_(problem),
      blocks_(blocks),
      state_(make_state(problem, blocks.own_box(comm.rank()), std::move(rhs))),
      sweeps_(comm, problem, blocks, state_, how) {}

void Solver::begin() {
  be_at(0, sweeps_.evaluate());
  if (problem_.method != Method::conjugate_gradients) return;
  assemble("residual");
  state_.r = state_.residual;
  state_.p = state_.residual;
  state_.rho = state_.square;
}

StepIndex Solver::reach(StepIndex step) const noexcept {
  return (step / problem_.check_every + 1) * problem_.check_every;
}

/// The steps of looks that the next program comes to. A program counts its sweeps with `int`, and has all its
/// looks in memory.
std::vector<StepIndex> Solver::steps_of_program(const run::Looks& looks) const {
  constexpr StepIndex max_sweeps = 1 << 29, max_looks = 1 << 20;
  std::vector<StepIndex> steps;
  for (StepIndex step = step_; step < looks.last && std::ssize(steps) < max_looks;) {
    step = std::min(looks.next(step), step_ + max_sweeps);
    steps.push_back(step);
    if (step == step_ + max_sweeps) break;
  }
  return steps;
}

void Solver::compute_on(const run::Looks& looks) {
  bool goes_on = true;
  while (goes_on && step_ < looks.last) {
    assemble_state();
    const auto steps = steps_of_program(looks);
    std::vector<int> sweeps;
    for (const auto step : steps) sweeps.push_back(static_cast<int>(step - step_));
    sweeps_.run(sweeps, [&](std::size_t number, Found found) {
      be_at(steps[number], std::move(found));
      goes_on = looks.look(step_);
      return goes_on;
    });
  }
}

void Solver::be_at(StepIndex step, Found found) {
  step_ = step;
  found_ = std::move(found);
  state_.square = found_.square;
  if (step > 0) state_.rho = found_.rho;
  if (looks()) history_.push_back(residual());
}

AlignedVector<double>& Solver::array(const std::string& name) const {
  return name == "u" ? state_.u : name == "r" ? state_.r : name == "p" ? state_.p : state_.residual;
}

/// Copies a field from its blocks into its array, unless that has been done.
void Solver::assemble(const std::string& name) const {
  const auto blocks = found_.fields.extract(name);
  if (blocks.empty()) return;
  for (const auto& [number, values] : blocks.mapped())
    copy_shared(values.begin(), blocks_.box(number), array(name).data(), state_.own);
}

/// Copies a part of a field from wherever it is.
void Solver::copy(const std::string& name, const Box& part, double* out) const {
  const auto blocks = found_.fields.find(name);
  if (blocks == found_.fields.end()) return copy_shared(array(name).data(), state_.own, out, part);
  for (const auto& [number, values] : blocks->second)
    copy_shared(values.begin(), blocks_.box(number), out, part);
}

void Solver::assemble_state() const {
  for (const char* name : {"u", "r", "p"}) assemble(name);
}

bool Solver::done() const noexcept {
  return looks() && converged();
}

bool Solver::converged() const noexcept {
  return problem_.tolerance > 0 && residual() <= problem_.tolerance * history_.front();
}

double Solver::residual() const noexcept {
  return std::sqrt(state_.square / static_cast<double>(problem_.grid.cells.volume()));
}

output::FieldView Solver::field(const std::string& quantity) const {
  assemble(quantity);
  const auto& values = quantity == "u" ? state_.u : quantity == "rhs" ? state_.rhs : state_.residual;
  const Index3 n = state_.own.extents();
  return {.data = values.data(),
          .type = h5::ElementType::float64,
          .box = state_.own,
          .stride_y = n.x,
          .stride_z = n.x * n.y};
}

double Solver::bytes(const Problem& problem, std::int64_t points) noexcept {
  const bool gradients = problem.method == Method::conjugate_gradients;
  // Sweeps: two of u, of CG also two of r and p, q; the right-hand side. A look: u, its residual, of CG r, p.
  const int arrays = gradients ? 5 : 3, blocks = gradients ? 8 + 4 : 3 + 2;
  return static_cast<double>(sizeof(double)) * (arrays + blocks) * static_cast<double>(points);
}

std::int64_t Solver::memory_bytes() const noexcept {
  return static_cast<std::int64_t>(bytes(problem_, state_.own.volume()));
}

/// What is saved is copied from blocks as it is written; what is restored comes into arrays.
void Solver::state(checkpoint::StateArchive& archive) {
  const Index3 n = state_.own.extents();
  const auto field = [&](const char* name) {
    archive.field(name, {.data = array(name).data(),
                         .type = h5::ElementType::float64,
                         .domain = problem_.grid.cells,
                         .box = state_.own,
                         .stride_y = n.x,
                         .stride_z = n.x * n.y,
                         .read = [this, name](const Box& part, std::span<std::byte> out) {
                           copy(name, part, reinterpret_cast<double*>(out.data()));
                         }});
  };
  archive.component("poisson", 1, [&](int) {
    archive.values("residuals", history_);
    field("u");
    if (problem_.method != Method::conjugate_gradients) return;
    archive.value("rho", state_.rho);
    field("r");
    field("p");
  });
}

void Solver::restored(StepIndex step) {
  const auto history = std::move(history_);
  const double rho = state_.rho;
  be_at(step, sweeps_.evaluate());
  history_ = history, state_.rho = rho;
}

double Solver::error() const {
  assemble("u");
  AlignedVector<double> difference(state_.u.size());
  if (!state_.own.empty()) problem_.solution(state_.own, difference);
  for (std::size_t i = 0; i < difference.size(); ++i) difference[i] = state_.u[i] - difference[i];
  const double shift = problem_.grid.singular() ? mean(comm_, difference, problem_.grid.cells.volume()) : 0;
  double largest = 0;
  for (const double value : difference) largest = std::max(largest, std::abs(value - shift));
  return mpi::max(comm_, largest);
}

}  // namespace tailrace::poisson
