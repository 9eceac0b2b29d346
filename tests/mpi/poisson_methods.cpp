// SPDX-License-Identifier: BSD-3-Clause
// The methods against what is known of them on paper, and their bits on any ranks.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <map>
#include <numbers>
#include <string>

#include "mpi_case.hpp"
#include "solver.hpp"

namespace tailrace::test {

namespace {

using namespace poisson;

constexpr std::array methods{Method::jacobi, Method::gauss_seidel, Method::conjugate_gradients};

Problem problem_of(Method method, Index3 cells, Index3 block, const std::string& formula,
                   std::array<bool, 3> periodic = {}) {
  Problem problem;
  auto& grid = problem.grid;
  grid.cells = cells, grid.dimensions = cells.z == 1 ? 2 : 3, grid.periodic = periodic;
  for (int axis = 0; axis < grid.dimensions; ++axis)
    grid.spacing_m[static_cast<std::size_t>(axis)] = 1 / grid.length_m(axis);
  problem.method = method, problem.block = block;
  auto known = find_formula(formula, grid);
  problem.rhs = std::move(known.rhs), problem.solution = std::move(known.solution);
  return problem;
}

/// A computation of the ranks of a case.
struct Computation {
  Computation(mpi::CommView comm, Problem of, int threads = 1)
      : problem(std::move(of)),
        blocks(problem.grid.cells, problem.block, comm.size()),
        solver(comm, problem, blocks, rhs(comm.rank()), {.workers = threads}) {
    solver.begin();
  }
  [[nodiscard]] AlignedVector<double> rhs(int rank) const {
    const Box own = blocks.own_box(rank);
    AlignedVector<double> values(static_cast<std::size_t>(own.volume()));
    if (!own.empty()) problem.rhs(own, values);
    return values;
  }

  /// Sweeps up to this step, with looks on the way where the solver wants them.
  void advance(StepIndex step) {
    solver.compute_on({.last = step,
                       .next = [&](StepIndex from) { return std::min(solver.reach(from), step); },
                       .look = [](StepIndex) { return true; }});
  }

  Problem problem;
  BlockGrid blocks;
  Solver solver;
};

/// u by global index, on rank 0.
std::vector<double> values_of(mpi::CommView comm, const Computation& done) {
  const auto view = done.solver.field("u");
  const auto count = static_cast<std::size_t>(view.box.volume());
  const auto parts = mpi::gather(comm, {static_cast<const char*>(view.data), count * sizeof(double)}, 0);
  const Index3 n = done.problem.grid.cells;
  std::vector<double> all(static_cast<std::size_t>(n.volume()));
  for (std::size_t rank = 0; rank < parts.size(); ++rank) {
    const Box box = done.blocks.own_box(static_cast<int>(rank));
    const char* from = parts[rank].data();
    for (auto z = box.lo.z; z < box.hi.z; ++z)
      for (auto y = box.lo.y; y < box.hi.y; ++y) {
        const auto bytes = static_cast<std::size_t>(box.x().size()) * sizeof(double);
        std::memcpy(all.data() + (z * n.y + y) * n.x + box.lo.x, from, bytes);
        from += bytes;
      }
  }
  return all;
}

/// The bytes of u and of the residuals so far, the same on all ranks.
std::string bits_of(mpi::CommView comm, const Computation& done) {
  auto all = values_of(comm, done);
  const auto& history = done.solver.history();
  all.insert(all.end(), history.begin(), history.end());
  return {reinterpret_cast<const char*>(all.data()), all.size() * sizeof(double)};
}

/// What a rank saw earlier under a name; at first `found` itself.
const std::string& seen(const std::string& name, const std::string& found) {
  static std::map<std::string, std::string> all;
  return all.try_emplace(name, found).first->second;
}

}  // namespace

MPI_CASE("poisson: an eigenfunction shrinks by the factor on paper with every sweep", ranks{2}) {
  const Index3 cells{15, 15, 1}, cube{7, 7, 7};
  for (const auto& [n, block] : {std::pair(cells, Index3{6, 4, 1}), std::pair(cube, Index3{3, 7, 2})}) {
    const double factor = std::cos(std::numbers::pi / static_cast<double>(n.x + 1));
    for (const bool halves : {false, true}) {
      Computation run(comm, problem_of(halves ? Method::gauss_seidel : Method::jacobi, n, block, "sines"));
      run.advance(10);
      run.advance(20);
      const auto& history = run.solver.history();
      REQUIRE(history.size() == 3);
      CHECK(history[2] / history[1] == doctest::Approx(std::pow(factor, halves ? 20 : 10)).epsilon(1e-11));
    }
    Computation run(comm, problem_of(Method::conjugate_gradients, n, block, "sines"));
    run.advance(1);
    CHECK(run.solver.residual() < 1e-13 * run.solver.history().front());
  }
}

MPI_CASE("poisson: the error falls with the square of the spacing", ranks{1}) {
  constexpr double tolerance = 1e-10;
  for (const bool plane : {true, false})
    for (const bool mixed : {false, true}) {
      std::array<double, 2> errors{};
      for (int level = 0; level < 2; ++level) {
        const std::int64_t n = (plane ? 16 : 8) << level;
        auto problem = problem_of(Method::conjugate_gradients, {n, n - 1, plane ? 1 : n - 1},
                                  {n / 2, n - 1, plane ? 1 : n / 2}, "smooth", {true, mixed, false});
        problem.tolerance = tolerance;
        Computation run(comm, std::move(problem));
        for (StepIndex step = 20; step <= 400 && !run.solver.done(); step += 20) run.advance(step);
        CHECK(run.solver.done());
        errors[static_cast<std::size_t>(level)] = run.solver.error();
      }
      CAPTURE(plane);
      CAPTURE(mixed);
      CHECK(std::log2(errors[0] / errors[1]) == doctest::Approx(2).epsilon(0.08));
    }
}

MPI_CASE(
    "poisson: the same bits on any ranks, by one or two threads, and however the sweeps are shared out among "
    "programs",
    shared_by{1, 2, 3, 4, 7}) {
  for (const auto method : methods)
    for (const bool plane : {true, false}) {
      const bool periodic = plane;
      const Index3 n = plane ? Index3{22, 18, 1} : Index3{10, 12, 6};
      const Index3 block = plane ? Index3{8, 7, 1} : Index3{10, 5, 4};
      const std::string name =
          std::string(to_string(method)) + (plane ? " 2D" : " 3D") + (periodic ? " periodic" : "");
      CAPTURE(name);
      auto problem = problem_of(method, n, block, "smooth", {periodic, false, periodic});
      problem.check_every = 2;
      Computation once(comm, problem, 1 + comm.size() % 2);
      once.advance(4);
      const auto bits = bits_of(comm, once);
      if (comm.is_root()) CHECK((bits == seen(name, bits)));
      if (comm.size() > 1) continue;
      Computation often(comm, problem);
      for (const StepIndex step : {1, 4}) often.advance(step);
      CHECK((bits == bits_of(comm, often)));
      if (method == Method::conjugate_gradients) continue;
      problem.block = {9, 6, plane ? 1 : 3};
      Computation other(comm, problem);
      other.advance(4);
      const auto values = static_cast<std::size_t>(n.volume()) * sizeof(double);
      CHECK((bits_of(comm, other).substr(0, values) == bits.substr(0, values)));
    }
}

MPI_CASE("poisson: a look that ends the sweeps leaves the state of its step, with which they continue",
         shared_by{1, 2, 3, 4, 7}) {
  for (const auto method : methods) {
    CAPTURE(to_string(method));
    auto problem = problem_of(method, {22, 18, 1}, {8, 7, 1}, "smooth");
    problem.check_every = 3;
    Computation whole(comm, problem), cut(comm, problem, 1 + comm.size() % 2);
    whole.advance(30);
    std::vector<StepIndex> seen;
    const auto until = [&](StepIndex end) {
      return run::Looks{
          .last = 30,
          .next = [](StepIndex step) { return std::min<StepIndex>(30, step + (step % 2 == 0 ? 3 : 1)); },
          .look =
              [&seen, end](StepIndex step) {
                seen.push_back(step);
                return step < end;
              }};
    };
    cut.solver.compute_on(until(11));
    CHECK(seen == std::vector<StepIndex>{3, 4, 7, 8, 11});
    Computation there(comm, problem);
    there.advance(11);
    CHECK((values_of(comm, cut) == values_of(comm, there)));
    cut.solver.compute_on(until(30));
    CHECK(seen.back() == 30);
    CHECK((values_of(comm, cut) == values_of(comm, whole)));
  }
}

MPI_CASE("poisson: an exception of a look ends the sweeps, and is what is thrown", ranks{1, 3}) {
  Computation run(comm, problem_of(Method::jacobi, {22, 18, 1}, {8, 7, 1}, "smooth"));
  const run::Looks looks{.last = 1000,
                         .next = [](StepIndex step) { return step + 1; },
                         .look = [](StepIndex step) -> bool {
                           if (step == 5) throw std::runtime_error("no more");
                           return true;
                         }};
  CHECK_THROWS_WITH(run.solver.compute_on(looks), "no more");
}

MPI_CASE("poisson: what is solved stays as it is", ranks{1}) {
  auto problem = problem_of(Method::conjugate_gradients, {9, 8, 1}, {4, 4, 1}, "sines");
  problem.rhs = [](const Box&, std::span<double> out) { std::fill(out.begin(), out.end(), 0.0); };
  Computation run(comm, problem);
  run.advance(10);
  CHECK(run.solver.residual() == 0);
  CHECK(run.solver.field("u").box == run.blocks.own_box(comm.rank()));
}

}  // namespace tailrace::test
