// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <vector>

#include "checkpoint_damage.hpp"
#include "error_of.hpp"
#include "mpi_case.hpp"
#include "output_fixture.hpp"
#include "solver.hpp"
#include "tailrace/checkpoint.hpp"

/// Runs that are saved on some ranks and continue on others, to the same bits.
namespace tailrace::heat {

namespace {

using checkpoint::fixture::on_first;
using output::fixture::SharedDir;

constexpr StepIndex saved_step = 8;

Problem short_problem(int order = npb_order) {
  Problem problem = find_class("S")->problem();
  problem.order = order;
  problem.steps = 11;  // adapted before and after the checkpoint
  return problem;
}

/// A run on the ranks of a communicator.
class Run {
 public:
  explicit Run(mpi::CommView comm, const Problem& problem = short_problem())
      : comm_(comm), problem_(problem), solver_(comm, problem_, {.transport = "persistent"}, log_) {}

  void compute(StepIndex first, StepIndex last) {
    for (StepIndex step = first; step <= last; ++step) solver_.advance(step);
  }
  void save(const std::string& directory) {
    checkpoint::save(
        comm_, directory, {.simulation = "heat", .program = "test", .step = saved_step, .time_s = 0},
        [this](checkpoint::StateArchive& archive) { solver_.state(archive); }, 2);
  }
  void restore(const std::string& directory) {
    const auto restored = checkpoint::restore_newest(
        comm_, directory, "heat", [this](checkpoint::StateArchive& archive) { solver_.state(archive); });
    CHECK(restored.step == saved_step);
    solver_.restored(restored.step);
  }
  [[nodiscard]] Solver& solver() noexcept { return solver_; }
  /// What ends the same if all has been the same.
  [[nodiscard]] std::vector<double> outcome() {
    return {solver_.integral(), solver_.time(), static_cast<double>(solver_.element_steps()),
            static_cast<double>(solver_.adaptations().size()), static_cast<double>(solver_.forest().total)};
  }

 private:
  mpi::CommView comm_;
  Problem problem_;
  trace::Log log_{"restart"};
  Solver solver_;
};

}  // namespace

namespace {

/// Saves on each number of these ranks, and continues on each.
void check_restarts(mpi::CommView comm, const Problem& problem, const std::vector<int>& counts) {
  std::vector<double> whole;
  for (const int from : counts) {
    if (from > comm.size()) continue;
    const SharedDir directory(comm);
    std::vector<double> saved;
    on_first(comm, from, [&](mpi::CommView part) {
      Run run(part, problem);
      run.solver().begin();
      run.compute(1, saved_step);
      run.save(directory.path());
      saved = run.outcome();
      if (!whole.empty()) return;
      run.compute(saved_step + 1, problem.steps);
      whole = run.outcome();
    });
    mpi::broadcast(comm, saved, 0);
    mpi::broadcast(comm, whole, 0);
    for (const int to : counts) {
      if (to > comm.size()) continue;
      CAPTURE(from);
      CAPTURE(to);
      on_first(comm, to, [&](mpi::CommView part) {
        Run run(part, problem);
        run.restore(directory.path());
        CHECK(run.outcome() == saved);
        run.compute(saved_step + 1, problem.steps);
        CHECK(run.outcome() == whole);
      });
    }
  }
}

}  // namespace

MPI_CASE("a run continues on any number of ranks to the same bits", ranks{7}) {
  check_restarts(comm, short_problem(), {1, 2, 3, 4, 7});
}

MPI_CASE("a run of another order than NPB's continues on other ranks to the same bits", ranks{3}) {
  for (const int order : {3, 6}) check_restarts(comm, short_problem(order), {1, 3});
}

MPI_CASE("a checkpoint of another problem is refused", ranks{2}) {
  const SharedDir directory(comm);
  Run run(comm);
  run.solver().begin();
  run.save(directory.path());
  Problem other = short_problem();
  other.radius = 0.05;
  Run wrong(comm, other);
  const auto error = test::error_of([&] { wrong.restore(directory.path()); });
  REQUIRE(error);
  CHECK(error->message.ends_with(
      "the checkpoint is of a run with radius = 0.04, not 0.05. Fix: resume with the case that wrote it"));
}

MPI_CASE("a checkpoint of another order is refused", ranks{2}) {
  const SharedDir directory(comm);
  Run run(comm, short_problem(6));
  run.solver().begin();
  run.save(directory.path());
  Run wrong(comm, short_problem());
  const auto error = test::error_of([&] { wrong.restore(directory.path()); });
  REQUIRE(error);
  CHECK(error->message.ends_with(
      "the checkpoint is of a run with order = 6, not 4. Fix: resume with the case that wrote it"));
}

}  // namespace tailrace::heat
