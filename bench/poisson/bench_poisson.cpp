// SPDX-License-Identifier: BSD-3-Clause
/// The methods of the simulation `poisson` as fragment programs beside a plain MPI code of the same methods:
/// the same sweeps by one and then by the other in each round, and how far their results are apart. JSON on
/// standard output.
///   mpirun -n 2 tailrace-bench-poisson --cells 2048 2048 1 --blocks 128 128 1 --method cg --sweeps 50
#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <stop_token>
#include <thread>

#include "base/system.hpp"
#include "base/topology.hpp"
#include "plain_solver.hpp"
#include "solver.hpp"
#include "tailrace/error.hpp"
#include "tailrace/option_parser.hpp"

using namespace tailrace;

namespace {

struct Settings {
  std::vector<std::int64_t> cells{512, 512, 1}, blocks{128, 128, 1};
  std::string method = "cg";
  int sweeps = 20, rounds = 10, workers = 1, slow_rank = -1;
  std::string balance = "off";
};

/// Gives each rank a core of its own, and that of one rank to a second thread too, which takes half of it.
class Burden {
 public:
  Burden(mpi::CommView comm, int slow_rank) {
    const auto cpus = thread_cpus();
    if (std::ssize(cpus) < comm.size())
      throw Error(ErrorKind::usage, "--slow-rank needs a core for each rank", "fewer ranks");
    const Cpus own{*std::next(cpus.begin(), comm.rank())};
    bind_thread(own);
    if (comm.rank() == slow_rank)
      thread_ = std::jthread([own](const std::stop_token& stop) {
        bind_thread(own);
        while (!stop.stop_requested())
          ;
      });
  }

 private:
  std::jthread thread_;
};

poisson::Problem problem_of(const Settings& settings) {
  using poisson::Method;
  poisson::Problem problem;
  auto& grid = problem.grid;
  grid.cells = {settings.cells[0], settings.cells[1], settings.cells[2]};
  grid.dimensions = grid.cells.z == 1 ? 2 : 3;
  for (int axis = 0; axis < grid.dimensions; ++axis)
    grid.spacing_m[static_cast<std::size_t>(axis)] = 1 / grid.length_m(axis);
  problem.block = {settings.blocks[0], settings.blocks[1], settings.blocks[2]};
  for (const auto method : {Method::jacobi, Method::gauss_seidel, Method::conjugate_gradients})
    if (settings.method == poisson::to_string(method)) problem.method = method;
  problem.rhs = poisson::find_formula("smooth", grid).rhs;
  problem.check_every = settings.sweeps;
  return problem;
}

/// Seconds of the slowest rank.
template <class Work>
double time_of(mpi::CommView comm, const Work& work) {
  mpi::barrier(comm);
  const double start_s = monotonic_s();
  work();
  return mpi::max(comm, monotonic_s() - start_s);
}

/// The values of the fragments' u on this rank are those of its blocks; the plain code has them by bricks of
/// points, so both are compared by global index.
std::vector<double> whole(mpi::CommView comm, const poisson::Problem& problem, const Box& own,
                          const std::function<double(Index3)>& at) {
  const Index3 n = problem.grid.cells;
  std::vector<double> values(static_cast<std::size_t>(n.volume()));
  for (auto z = own.lo.z; z < own.hi.z; ++z)
    for (auto y = own.lo.y; y < own.hi.y; ++y)
      for (auto x = own.lo.x; x < own.hi.x; ++x)
        values[static_cast<std::size_t>((z * n.y + y) * n.x + x)] = at({x, y, z});
  return mpi::sum(comm, values);
}

nlohmann::json compare(mpi::CommView comm, const poisson::Problem& problem, const poisson::Solver& fragments,
                       const bench::PlainSolver& plain) {
  const auto view = fragments.field("u");
  const auto* const u = static_cast<const double*>(view.data);
  const auto ours = whole(comm, problem, view.box, [&](Index3 p) {
    return u[(p.z - view.box.lo.z) * view.stride_z + (p.y - view.box.lo.y) * view.stride_y + p.x -
             view.box.lo.x];
  });
  const auto theirs = whole(comm, problem, plain.own(), [&](Index3 p) { return plain.at(p); });
  double difference = 0, largest = 0;
  for (std::size_t i = 0; i < ours.size(); ++i) {
    difference = std::max(difference, std::abs(ours[i] - theirs[i]));
    largest = std::max(largest, std::abs(theirs[i]));
  }
  return {{"difference", difference}, {"largest", largest}};
}

/// Sweeps up to a step without a look on the way.
void sweep_to(poisson::Solver& solver, StepIndex step) {
  solver.compute_on({.last = step,
                     .next = [step](StepIndex /*from*/) { return step; },
                     .look = [](StepIndex /*step*/) { return true; }});
}

nlohmann::json measure(mpi::CommView comm, const Settings& settings) {
  const auto problem = problem_of(settings);
  const poisson::BlockGrid blocks(problem.grid.cells, problem.block, comm.size());
  const Box own = blocks.own_box(comm.rank());
  AlignedVector<double> rhs(static_cast<std::size_t>(own.volume()));
  if (!own.empty()) problem.rhs(own, rhs);
  fragments::Options how;
  how.workers = settings.workers, how.balance = settings.balance;
  std::optional<Burden> burden;
  if (settings.slow_rank >= 0) burden.emplace(comm, settings.slow_rank);
  poisson::Solver fragments(comm, problem, blocks, std::move(rhs), how);
  bench::PlainSolver plain(comm, problem);
  fragments.begin();
  std::vector<double> fragments_s, plain_s;
  for (StepIndex round = 1; round <= settings.rounds; ++round) {
    fragments_s.push_back(time_of(comm, [&] { sweep_to(fragments, round * settings.sweeps); }));
    plain_s.push_back(time_of(comm, [&] { plain.sweep(settings.sweeps); }));
  }
  auto found = compare(comm, problem, fragments, plain);
  found["blocks"] = blocks.blocks();
  found["fragments_s"] = fragments_s;
  found["mpi_s"] = plain_s;
  return found;
}

}  // namespace

int main(int argc, char** argv) {
  const mpi::Environment environment(argc, argv);
  const auto comm = environment.world();
  Settings settings;
  OptionParser parser("Poisson's equation by fragments and by plain MPI, round by round",
                      "tailrace-bench-poisson");
  parser.option("--cells", settings.cells, "Points along x, y, z").values(3).positive();
  parser.option("--blocks", settings.blocks, "Points of a block").values(3).positive();
  parser.option("--method", settings.method).one_of({"jacobi", "gauss-seidel", "cg"});
  parser.option("--sweeps", settings.sweeps, "Sweeps of a round").positive();
  parser.option("--rounds", settings.rounds).positive();
  parser.option("-t,--workers", settings.workers, "Threads of a rank that run fragments").within(1, 1024);
  parser.option("--balance", settings.balance, "Of fragments that may move")
      .one_of(std::vector<std::string>(fragments::balance_words.begin(), fragments::balance_words.end()));
  parser.option("--slow-rank", settings.slow_rank, "A rank that has half of its core, each rank having one")
      .within(0, comm.size() - 1);
  if (const auto status = parser.read_or_end(argc, argv, comm.is_root())) return *status;
  const auto found = measure(comm, settings);
  if (comm.is_root()) say(stdout, found.dump() + "\n");
}
