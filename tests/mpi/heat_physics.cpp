// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <functional>
#include <map>
#include <numbers>
#include <string>
#include <vector>

#include "error_of.hpp"
#include "mpi_case.hpp"
#include "solver.hpp"

/// The solver "converged" against solutions from textbooks, on meshes of one size and on those that follow
/// the ball.
namespace tailrace::heat {

namespace {

using std::numbers::pi;
using Field = std::function<double(const Vec3&)>;

/// Problems without a flow on meshes of 8^level elements: the ball touches all of them.
Problem uniform(int level, double viscosity, double dt, StepIndex steps, int order = npb_order) {
  Problem problem;
  problem.order = order;
  problem.level = level;
  problem.radius = 1;
  problem.centre = {0.5, 0.5, 0.5};
  problem.velocity = {};
  problem.viscosity = viscosity;
  problem.solver = SolverRule::converged;
  problem.cg_tolerance = 1e-12;
  problem.cg_iterations = 1000;
  problem.dt = dt;
  problem.steps = steps;
  return problem;
}

/// One computation to its end.
class Run {
 public:
  Run(mpi::CommView comm, const Problem& problem, const Field& initial)
      : problem_(problem), solver_(comm, problem_, {.transport = "persistent"}, log_) {
    solver_.begin();
    solver_.set_field(initial);
    for (StepIndex step = 1; step <= problem.steps; ++step) solver_.advance(step);
  }
  [[nodiscard]] Solver& solver() noexcept { return solver_; }

 private:
  Problem problem_;
  trace::Log log_{"physics"};
  Solver solver_;
};

/// The integral over this rank's elements of the square by which the difference of two fields differs from
/// `exact`.
template <int order>
double square_difference(const Solver& with, const Solver& without, const Field& exact) {
  constexpr std::size_t n = points<order>;
  double squares = 0;
  const auto& leaves = with.forest().leaves;
  for (std::size_t e = 0; e < leaves.size(); ++e) {
    const auto field = with.values(e), ball = without.values(e);
    const double half = to_length(leaves[e].size()) / 2;
    const auto at = [&](std::size_t d, std::size_t i) {
      return to_length(leaves[e].low[d]) + half * (gll_places<order>[i] + 1);
    };
    for (std::size_t p = 0; p < element_points<order>; ++p) {
      const double wrong = field[p] - ball[p] - exact({at(0, p % n), at(1, p / n % n), at(2, p / (n * n))});
      squares += half * half * half * point_weights<order>[p] * wrong * wrong;
    }
  }
  return squares;
}

/// The root of the mean square of what a field that begins as `initial`, without the ball, differs from
/// `exact` at the end. The method is linear: that field is the difference of two computations with the ball,
/// one of which begins with zeros.
double error_of_run(mpi::CommView comm, const Problem& problem, const Field& initial, const Field& exact) {
  Run with(comm, problem, initial), without(comm, problem, [](const Vec3&) { return 0.0; });
  const double squares = with_order(problem.order, [&](auto order) {
    return square_difference<order>(with.solver(), without.solver(), exact);
  });
  return std::sqrt(mpi::sum(comm, squares));
}

double sines(const Vec3& at) {
  return std::sin(pi * at[0]) * std::sin(pi * at[1]) * std::sin(pi * at[2]);
}

/// The integral of the source: of 1 + cos(pi r / radius) over the ball.
double heat_of_ball(double radius) {
  return 4 * pi * std::pow(radius, 3) * (1.0 / 3 - 2 / (pi * pi));
}

}  // namespace

namespace {

/// Of the diffusion of the lowest mode: implicit Euler divides it by 1 + 3 pi^2 viscosity dt in each step, so
/// what is left is the error in space, on a mesh of 8^level elements.
double error_in_space(mpi::CommView comm, int order, int level) {
  constexpr double viscosity = 0.05, dt = 0.02;
  constexpr StepIndex steps = 3;
  const double factor = std::pow(1 + 3 * pi * pi * viscosity * dt, -static_cast<double>(steps));
  return error_of_run(comm, uniform(level, viscosity, dt, steps, order), sines,
                      [factor](const Vec3& at) { return factor * sines(at); });
}

}  // namespace

MPI_CASE("with converged steps errors in space fall with the fifth power of the size", ranks{1, 3}) {
  std::vector<double> errors;
  for (const int level : {1, 2, 3}) errors.push_back(error_in_space(comm, npb_order, level));
  CAPTURE(errors[0]);
  CAPTURE(errors[1]);
  CAPTURE(errors[2]);
  CHECK(errors[0] < 1e-5);
  for (std::size_t i = 1; i < errors.size(); ++i) CHECK(errors[i - 1] / errors[i] > 32);
}

MPI_CASE("errors in space fall with the power of the size that is the order plus 1", ranks{2}) {
  for (const int order : {2, 3, 5}) {
    const double coarse = error_in_space(comm, order, 2), fine = error_in_space(comm, order, 3);
    CAPTURE(order);
    CAPTURE(coarse);
    CAPTURE(fine);
    CHECK(std::log2(coarse / fine) > order + 0.75);
    CHECK(std::log2(coarse / fine) < order + 2);
  }
}

MPI_CASE("errors in space fall by a factor with each order", ranks{2}) {
  double before = 1;
  for (int order = lowest_order; order <= highest_order; ++order) {
    const double error = error_in_space(comm, order, 1);
    CAPTURE(order);
    CAPTURE(error);
    CHECK(before / error > 8);
    before = error;
  }
  CHECK(before < 1e-9);
}

/// Convection and diffusion: exp(v x / (2 nu) - (v^2 / (4 nu) + 3 pi^2 nu) t) sin sin sin solves both.
MPI_CASE("with converged steps errors in time fall with the first power of the step", ranks{2}) {
  constexpr double viscosity = 0.1, end = 0.12;
  const Vec3 velocity{0.3, 0.2, -0.1};
  const auto exact = [&](double time) {
    return [&, time](const Vec3& at) {
      double along = 0, square = 0;
      for (std::size_t d = 0; d < 3; ++d) {
        along += velocity[d] * at[d];
        square += velocity[d] * velocity[d];
      }
      return std::exp(along / (2 * viscosity) - (square / (4 * viscosity) + 3 * pi * pi * viscosity) * time) *
             sines(at);
    };
  };
  std::vector<double> errors;
  for (const StepIndex steps : {6, 12, 24}) {
    Problem problem = uniform(2, viscosity, end / static_cast<double>(steps), steps);
    problem.velocity = velocity;
    errors.push_back(error_of_run(comm, problem, exact(0), exact(end)));
  }
  CAPTURE(errors[0]);
  CAPTURE(errors[1]);
  CAPTURE(errors[2]);
  for (std::size_t i = 1; i < errors.size(); ++i) {
    CHECK(errors[i - 1] / errors[i] > 1.85);
    CHECK(errors[i - 1] / errors[i] < 2.15);
  }
}

/// A heap of heat in a flow: w^3 / (w^2 + 4 nu t)^1.5 exp(-(x - c - v t)^2 / (w^2 + 4 nu t)) is the solution
/// as long as nothing of it reaches the boundary. The mesh follows the ball around it.
MPI_CASE("with converged steps errors fall on meshes that follow the ball", ranks{2}) {
  constexpr double width = 0.1, viscosity = 0.002, end = 0.06;
  const Vec3 centre{0.45, 0.5, 0.5}, velocity{1.5, -0.5, 0.5};
  const auto exact = [&](double time) {
    return [&, time](const Vec3& at) {
      double square = 0;
      for (std::size_t d = 0; d < 3; ++d) square += std::pow(at[d] - centre[d] - velocity[d] * time, 2);
      const double spread = width * width + 4 * viscosity * time;
      return std::pow(width * width / spread, 1.5) * std::exp(-square / spread);
    };
  };
  std::vector<double> errors;
  std::vector<std::int64_t> elements;
  for (const int level : {2, 3, 4}) {
    const StepIndex steps = StepIndex{4} << (level - 2);
    Problem problem = uniform(level, viscosity, end / static_cast<double>(steps), steps);
    problem.centre = centre;
    problem.velocity = velocity;
    problem.radius = 0.2;
    problem.adapt_every = 2;
    errors.push_back(error_of_run(comm, problem, exact(0), exact(end)));
    elements.push_back(make_forest(comm, level, problem.ball_at(0)).total);
  }
  CAPTURE(errors[0]);
  CAPTURE(errors[1]);
  CAPTURE(errors[2]);
  CHECK(elements.back() < 4096 / 2);  // of the mesh of one size
  CHECK(errors[0] / errors[1] > 4);
  CHECK(errors[1] / errors[2] > 4);
}

MPI_CASE("with converged steps the heat is what the source has given", ranks{1, 3}) {
  static std::map<std::string, double> first;  // of all numbers of ranks
  for (const bool moves : {false, true}) {
    std::vector<double> errors;
    for (const int level : {3, 4}) {
      Problem problem = uniform(level, 1e-3, 0.005, 6);
      problem.radius = 0.2;
      problem.adapt_every = 2;
      if (moves) problem.velocity = {1.5, -0.5, 0.5};
      Run run(comm, problem, [](const Vec3&) { return 0.0; });
      const double heat = run.solver().integral(), end = problem.dt * static_cast<double>(problem.steps);
      errors.push_back(std::abs(heat / (end * heat_of_ball(problem.radius)) - 1));
      const auto name = std::to_string(level) + (moves ? " moves" : "");
      CHECK(first.try_emplace(name, heat).first->second == heat);
      CHECK(run.solver().element_iterations() > run.solver().element_steps());
    }
    CAPTURE(moves);
    CAPTURE(errors[0]);
    CAPTURE(errors[1]);
    CHECK(errors[0] < 1e-3);
    CHECK(errors[1] < 1e-4);
  }
}

MPI_CASE("conjugate gradients that do not converge end the run", ranks{2}) {
  Problem problem = uniform(2, 1, 1, 1);
  problem.cg_iterations = 3;
  const auto error = test::error_of([&] { Run(comm, problem, [](const Vec3&) { return 0.0; }); });
  REQUIRE(error);
  CHECK(error->kind == ErrorKind::unstable);
  CHECK(error->message.find("step 1: 3 iterations") != std::string::npos);
  CHECK(error->message.find("heat.cg_tolerance = 1e-12") != std::string::npos);
}

}  // namespace tailrace::heat
