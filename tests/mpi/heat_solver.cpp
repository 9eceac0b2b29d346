// SPDX-License-Identifier: BSD-3-Clause
#include "solver.hpp"

#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "adaptive_mesh.hpp"
#include "base/random.hpp"
#include "batch_mortars.hpp"
#include "error_of.hpp"
#include "exchange/line.hpp"
#include "mpi_case.hpp"
#include "results.hpp"
#include "transfer.hpp"

using namespace tailrace;
using namespace tailrace::heat;

namespace {

struct Line {
  StepIndex step;
  std::int64_t refined, merged, total;
};
/// What NPB's own program prints.
const std::vector<Line> class_s{{0, 20, 0, 141},  {5, 1, 16, 134},  {10, 16, 0, 246}, {15, 0, 64, 190},
                                {20, 0, 80, 120}, {25, 12, 0, 204}, {30, 0, 0, 204},  {35, 0, 96, 120},
                                {40, 10, 0, 190}, {45, 8, 0, 246}};
const std::vector<Line> class_w{{0, 80, 0, 561},    {5, 6, 40, 568},    {10, 7, 104, 526}, {15, 6, 8, 561},
                                {20, 9, 168, 477},  {25, 16, 128, 477}, {30, 16, 0, 589},  {35, 0, 40, 554},
                                {40, 5, 120, 484},  {45, 15, 0, 589},   {50, 2, 72, 540},  {55, 8, 96, 512},
                                {60, 26, 224, 498}, {65, 12, 8, 575},   {70, 1, 56, 533},  {75, 9, 104, 505},
                                {80, 9, 0, 568},    {85, 0, 72, 505},   {90, 8, 232, 358}, {95, 24, 0, 526}};
const std::vector<Line> class_a{
    {0, 286, 0, 2003}, {5, 15, 472, 1695}, {10, 24, 88, 1786}, {15, 33, 120, 1912}, {20, 20, 136, 1933}};

constexpr std::array all_owners{Owners::touching, Owners::balanced,     Owners::block,
                                Owners::cyclic,   Owners::double_block, Owners::reversed_double_block};

/// Of longer sequences the first ones are known.
void check_adaptations(const Solver& solver, const Problem& problem, const std::vector<Line>& expected) {
  REQUIRE(solver.adaptations().size() ==
          static_cast<std::size_t>((problem.steps - 1) / problem.adapt_every + 1));
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const auto& done = solver.adaptations()[i];
    CHECK(done.step == expected[i].step);
    CHECK(done.splits == expected[i].refined);
    CHECK(done.merged == expected[i].merged);
    CHECK(done.elements == expected[i].total);
  }
}

/// The integral of a class after all its steps; the first one that was computed, of all numbers of ranks.
void check_class(mpi::CommView comm, const char* name, const std::vector<Line>& lines,
                 std::int64_t element_steps, Owners owners, const std::string& transport = "persistent") {
  const NpbClass& npb = *find_class(name);
  const Problem problem = npb.problem();
  trace::Log log("test");
  Solver solver(comm, problem, {.transport = transport, .owners = owners}, log);
  solver.begin();
  for (StepIndex step = 1; step <= problem.steps; ++step) solver.advance(step);
  const auto result = result_of(problem, solver);
  CHECK(result.verified() == true);
  CHECK(std::abs(*result.difference()) < 2e-12);
  CHECK(solver.element_steps() == element_steps);
  check_adaptations(solver, problem, lines);
  static std::map<std::string, double> first;
  CHECK(first.try_emplace(name, result.integral).first->second == result.integral);
}

/// Class S by each `stride`-th transport, from `first` on, of those that this MPI library has and `auto`:
/// with the bits of all others.
void check_transports(mpi::CommView comm, Owners owners, std::size_t first = 0, std::size_t stride = 1) {
  std::vector<std::string> usable{"auto"};
  for (const auto& transport : exchange::transports())
    if (transport.obstacle.empty() && transport.open_sums == nullptr) usable.emplace_back(transport.name);
  CHECK(usable.size() >= 3);
  for (std::size_t i = first; i < usable.size(); i += stride) {
    CAPTURE(usable[i]);
    check_class(comm, "S", class_s, 9080, owners, usable[i]);
  }
}

}  // namespace

MPI_CASE("class S verifies, with the same bits on any number of ranks", shared_by{1, 2, 3, 4, 7}) {
  check_class(comm, "S", class_s, 9080, comm.size() % 2 == 0 ? Owners::balanced : Owners::touching);
}

MPI_CASE("class S has the same bits with every transport, each on one number of ranks", shared_by{2, 3, 7}) {
  check_transports(comm, Owners::touching, static_cast<std::size_t>(comm.size()) % 3, 3);
}
MPI_CASE("full: class S has the same bits with every transport, touching", ranks{1, 2, 3, 4, 7}) {
  check_transports(comm, Owners::touching);
}
MPI_CASE("full: class S has the same bits with every transport, balanced", ranks{1, 2, 3, 4, 7}) {
  check_transports(comm, Owners::balanced);
}
MPI_CASE("full: class S has the same bits with every transport, block", ranks{1, 2, 3, 4, 7}) {
  check_transports(comm, Owners::block);
}
MPI_CASE("full: class S has the same bits with every transport, cyclic", ranks{1, 2, 3, 4, 7}) {
  check_transports(comm, Owners::cyclic);
}
MPI_CASE("full: class S has the same bits with every transport, double block", ranks{1, 2, 3, 4, 7}) {
  check_transports(comm, Owners::double_block);
}
MPI_CASE("full: class S has the same bits with every transport, reversed double block",
         ranks{1, 2, 3, 4, 7}) {
  check_transports(comm, Owners::reversed_double_block);
}

MPI_CASE("class W verifies, with the same bits on any number of ranks", ranks{1, 2, 5}) {
  check_class(comm, "W", class_w, 52495, Owners::touching);
}

MPI_CASE("full: class A verifies on two ranks", ranks{2}) {
  check_class(comm, "A", class_a, 395945, Owners::touching);
}

MPI_CASE("results have the same bits whoever owns the mortar points", ranks{1, 2, 3, 7}) {
  Problem problem = find_class("S")->problem();
  problem.steps = 11;  // with two adaptations
  trace::Log log("test");
  const auto integral_of = [&](Owners owners, SumRule sum) {
    Solver solver(comm, problem, {.transport = "persistent", .owners = owners, .sum = sum}, log);
    solver.begin();
    for (StepIndex step = 1; step <= problem.steps; ++step) solver.advance(step);
    return solver.integral();
  };
  static std::optional<double> of_all;  // numbers of ranks
  for (const Owners owners : all_owners) {
    CAPTURE(static_cast<int>(owners));
    const double integral = integral_of(owners, SumRule::exact);
    if (!of_all) of_all = integral;
    CHECK(integral == *of_all);
  }
  for (const Owners owners : {Owners::touching, Owners::cyclic})
    CHECK(std::abs(integral_of(owners, SumRule::fast) / *of_all - 1) < 1e-10);
}

MPI_CASE("ranks own the mortar points that the rules of numbers give them", ranks{1, 3, 7}) {
  const Problem problem = find_class("S")->problem();
  const auto forest = make_forest(comm, problem.level, problem.ball_at(0));
  const auto points = bench::ua_mortars(bench::ua_leaves(bench::ua_class('S'), 0));
  const std::int64_t others = points.points - points.vertices;
  const int ranks = comm.size();
  const std::vector<std::pair<Owners, exchange::Distribution>> rules{
      {Owners::block, exchange::Block(points.points, ranks)},
      {Owners::cyclic, exchange::Cyclic(points.points, ranks)},
      {Owners::double_block, exchange::DoubleBlock(points.vertices, others, ranks)},
      {Owners::reversed_double_block, exchange::ReversedDoubleBlock(points.vertices, others, ranks)}};
  for (const auto& [owners, expected] : rules) {
    Mortars mortars(comm, {.transport = "persistent", .owners = owners});
    mortars.rebuild(forest);
    CHECK(mortars.total() == points.points);
    CHECK(static_cast<std::int64_t>(mortars.owned()) == expected.count(comm.rank()));
  }
}

MPI_CASE("the mesh is that of brute force at every adaptation", ranks{1, 2, 3, 4, 7}) {
  for (const char* name : {"S", "W"}) {
    const Problem problem = find_class(name)->problem();
    double time = 0;
    for (StepIndex step = 0; step < problem.steps; ++step, time += problem.dt) {
      if (step % problem.adapt_every != 0 || (name[0] == 'W' && step % 25 != 0)) continue;
      const auto forest = make_forest(comm, problem.level, problem.ball_at(time));
      const auto expected = bench::ua_leaves(bench::ua_class(name[0]), time);
      REQUIRE(forest.total == static_cast<std::int64_t>(expected.size()));
      std::size_t at = static_cast<std::size_t>(
          mpi::exclusive_scan(comm, static_cast<std::int64_t>(forest.leaves.size())));
      const std::int32_t scale = unit_length >> (problem.level + 1);
      for (const Leaf& leaf : forest.leaves) {
        const auto& other = expected[at++];
        CHECK(leaf.size() == other.size * scale);
        for (std::size_t d = 0; d < 3; ++d) CHECK(leaf.low[d] == other.low[d] * scale);
        CHECK(forest.owner(leaf.key()) == comm.rank());
        CHECK(forest.owner(leaf.end_key() - 1) == comm.rank());
      }
    }
  }
}

MPI_CASE("mortar points are those of brute force, also on ranks without elements", ranks{1, 2, 3, 4, 7}) {
  for (const double time : {0.0, 0.025}) {
    const Problem problem = find_class("S")->problem();
    Mortars mortars(comm, {.transport = "persistent", .owners = Owners::balanced});
    const auto forest = make_forest(comm, problem.level, problem.ball_at(time));
    mortars.rebuild(forest);
    const auto expected = bench::ua_mortars(bench::ua_leaves(bench::ua_class('S'), time));
    CHECK(mortars.total() == expected.points);
    CHECK(mpi::sum(comm, static_cast<std::int64_t>(mortars.positions())) ==
          static_cast<std::int64_t>(expected.indices.size()));
  }
  Mortars mortars(comm, {.transport = "persistent"});
  mortars.rebuild(root_forest(comm));
  CHECK(mortars.total() == 98);
}

namespace {

/// <Q m, x> and <m, Q^T x> for mortar values and values of elements from a random sequence.
template <int order>
void check_transpose(mpi::CommView comm) {
  const Problem problem = find_class("S")->problem();
  Mortars mortars(comm, {.transport = "persistent"}, order);
  const auto forest = make_forest(comm, problem.level, problem.ball_at(0));
  mortars.rebuild(forest);
  std::vector<double> values(mortars.slots()), sums(mortars.slots()), contributions(mortars.positions());
  SplitMix64 random(static_cast<std::uint64_t>(comm.rank()) + 1);
  for (std::size_t slot = 0; slot < mortars.owned(); ++slot) values[slot] = random.unit() - 0.5;
  mortars.begin_gather(values).finish();
  BatchMortars<order> batches;
  batches.rebuild(mortars, forest.leaves.size());
  Whole<order> with{}, found{};
  double forth = 0, back = 0, size = 0;
  for (std::size_t e = 0; e < forest.leaves.size(); ++e) {
    const std::size_t batch = e / batch_elements, lane = e % batch_elements;
    if (lane == 0) {
      for (std::size_t p = 0; p < element_points<order>; ++p)
        for (std::size_t i = 0; i < batch_elements; ++i) with.value(p, i) = random.unit() - 0.5;
      batches.read(batch, values.data(), found);
      batches.write(batch, with, contributions.data());
    }
    for (const std::size_t point : boundary<order>) {
      const double product = found.value(point, lane) * with.value(point, lane);
      forth += product;
      size += std::abs(product);
    }
  }
  mortars.begin_scatter(contributions, sums).finish();
  for (std::size_t slot = 0; slot < mortars.owned(); ++slot) back += values[slot] * sums[slot];
  CHECK(std::abs(mpi::sum(comm, forth) - mpi::sum(comm, back)) < 1e-13 * mpi::sum(comm, size));
}

/// Polynomials on the elements of a mesh are the same on those of another.
template <int order>
void check_transfer(mpi::CommView comm) {
  constexpr std::size_t n = points<order>;
  const Problem problem = find_class("S")->problem();
  const auto before = make_forest(comm, problem.level, problem.ball_at(0)),
             after = make_forest(comm, problem.level, problem.ball_at(0.0375));
  const auto values_on = [](const Leaf& leaf) {
    ElementValues<order> values{};
    const auto at = [&](std::size_t d, std::size_t i) {
      return to_length(leaf.low[d]) + to_length(leaf.size()) * (gll_places<order>[i] + 1) / 2;
    };
    for (std::size_t p = 0; p < element_points<order>; ++p) {
      const double x = at(0, p % n), y = at(1, p / n % n), z = at(2, p / (n * n));
      values[p] = std::pow(x, order) - y * std::pow(z, order - 1) + 3 * x * y * y;
    }
    return values;
  };
  std::vector<ElementValues<order>> old;
  for (const Leaf& leaf : before.leaves) old.push_back(values_on(leaf));
  const Transfer<order> transfer(comm, before, after, [&](std::size_t i) { return old[i]; });
  double worst = 0;
  for (const Leaf& leaf : after.leaves) {
    const auto moved = transfer.at(leaf), expected = values_on(leaf);
    for (std::size_t p = 0; p < element_points<order>; ++p)
      worst = std::max(worst, std::abs(moved[p] - expected[p]));
  }
  CHECK(mpi::max(comm, worst) < 1e-13);
}

/// Calls `body(order)` for some orders.
template <class Body>
void for_orders(const std::vector<int>& orders, Body body) {
  for (const int order : orders) {
    CAPTURE(order);
    with_order(order, body);
  }
}

}  // namespace

MPI_CASE("what brings mortar values to elements is the transpose of what brings them back", ranks{1, 3, 7}) {
  for_orders({2, 3, 4, 5, 6, 7, 8}, [comm](auto order) { check_transpose<order>(comm); });
}

MPI_CASE("repartition moves every leaf once, and polynomials of each order survive", ranks{1, 2, 4, 7}) {
  for_orders({2, 3, 4, 5, 6, 7, 8}, [comm](auto order) { check_transfer<order>(comm); });
}

MPI_CASE("polynomials of other orders than NPB's have the same bits on any number of ranks",
         ranks{1, 2, 3, 7}) {
  static std::map<int, double> first;
  for (const int order : {2, 3, 6, 7}) {
    CAPTURE(order);
    Problem problem = find_class("S")->problem();
    problem.order = order;
    problem.steps = 6;  // with an adaptation
    problem.dt = default_time_step(problem.level, order);
    CHECK(class_of(problem) == nullptr);
    trace::Log log("test");
    Solver solver(comm, problem, {.transport = "persistent"}, log);
    solver.begin();
    for (StepIndex step = 1; step <= problem.steps; ++step) solver.advance(step);
    const double integral = solver.integral();
    CHECK(first.try_emplace(order, integral).first->second == integral);
  }
}

MPI_CASE("a time step that is too large is found", ranks{2}) {
  Problem problem = find_class("S")->problem();
  problem.dt = 1e3;
  trace::Log log("test");
  Solver solver(comm, problem, {.transport = "persistent"}, log);
  solver.begin();
  const auto error = test::error_of([&] {
    for (StepIndex step = 1; step <= 200; ++step) solver.advance(step);
  });
  REQUIRE(error);
  CHECK(error->kind == ErrorKind::unstable);
}
