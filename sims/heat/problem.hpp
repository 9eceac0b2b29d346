// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "ball.hpp"
#include "order.hpp"
#include "tailrace/box.hpp"

namespace tailrace::heat {

/// How a step's implicit equation is solved.
enum class SolverRule : std::uint8_t {
  npb,        ///< by a fixed number of iterations, without a test of convergence
  converged,  ///< until the residual has fallen to a tolerance
};

/// What is computed: dT/dt + v grad T = viscosity laplace T + s in the unit cube, T = 0 on its boundary and
/// at the start, where s is a ball that moves with v (NPB's benchmark UA; Feng, Van der Wijngaart, Biswas,
/// Mavriplis: Unstructured Adaptive (UA) NAS Parallel Benchmark, NAS-04-006, 2004).
struct Problem {
  int order = npb_order;  ///< of the polynomials in an element
  int level = 4;          ///< of the smallest elements: their size is 2^-level
  double radius = 0.04;
  Vec3 velocity{3, 3, 3}, centre{3.0 / 7, 2.0 / 7, 2.0 / 7};
  double viscosity = 0.005;
  SolverRule solver = SolverRule::npb;
  int cg_iterations = 10;   ///< as many in each step; at most, of `converged`
  double cg_tolerance = 0;  ///< of `converged`: of the residual, relative to that before the first iteration
  StepIndex adapt_every = 5, steps = 50;
  double dt = 0.0025;

  [[nodiscard]] Ball ball_at(double time) const noexcept {
    Ball ball{{}, radius};
    for (std::size_t d = 0; d < 3; ++d) ball.centre[d] = centre[d] + velocity[d] * time;
    return ball;
  }
  /// Whether the ball reaches into the cube at some step.
  [[nodiscard]] bool ball_enters() const noexcept;
  [[nodiscard]] bool adapts_after(StepIndex step) const noexcept {
    return step % adapt_every == 0 && step < steps;
  }
  friend bool operator==(const Problem&, const Problem&) = default;
};

/// A class of the benchmark.
struct NpbClass {
  char name = 'S';
  int level = 0;
  double radius = 0;
  StepIndex steps = 0;
  std::optional<double> integral;  ///< of T after the last step, where NPB has one

  [[nodiscard]] Problem problem() const;
};

/// The time step that NPB takes with elements of this level; of another order than NPB's, the smaller one
/// that keeps the ratio to the least distance of two points.
double default_time_step(int level, int order);

/// The class of that name. @local
const NpbClass* find_class(const std::string& name) noexcept;
/// "S, W, A, ..." @local
std::string class_names();
/// The class that this problem is, if it is one. @local
const NpbClass* class_of(const Problem& problem) noexcept;

/// NPB accepts integrals within this relative difference.
inline constexpr double accepted_difference = 1e-8;

}  // namespace tailrace::heat
