// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <limits>
#include <map>
#include <optional>

#include "checkpoint/restore.hpp"
#include "checkpoint/save.hpp"
#include "checkpoint/store.hpp"
#include "checkpoint_damage.hpp"
#include "generator.hpp"
#include "molecules_share.hpp"
#include "mpi_case.hpp"
#include "output_fixture.hpp"
#include "simulation.hpp"

/// Runs that are saved on some ranks and continue on others, from any decomposition to any other one.
namespace tailrace::molecules {

namespace {

using checkpoint::fixture::on_first;
using fixture::gathered;
using output::fixture::SharedDir;
using Kind = DecompositionOptions::Kind;

constexpr StepIndex saved_step = 6;
constexpr std::array kinds{Kind::regular, Kind::kd};

/// Atoms and molecules that turn, of which a run takes one step more than what is saved.
Problem problem(Kind kind) {
  Problem given;
  given.length = {9, 10, 11};
  given.dt = 0.002;
  given.steps = saved_step + 1;
  auto& model = given.model;
  model.components.resize(2);
  model.components[0].lennard_jones = {{.mass = 1, .epsilon = 1, .sigma = 1}};
  model.components[1].lennard_jones = {{.place = {0, 0, 0.3}, .mass = 1, .epsilon = 1, .sigma = 0.9},
                                       {.place = {0, 0, -0.3}, .mass = 1, .epsilon = 1, .sigma = 0.9}};
  model.mixing = {{}};
  model.cutoff = model.lj_cutoff = 2.5;
  given.start = StartLattice{.density = 0.4, .temperature = 1.2, .seed = 3, .fractions = {}, .droplet = {}};
  given.thermostat.temperature = 1;
  given.decomposition = {.kind = kind, .grid = {}, .every = 2, .limit = 1, .kd = {}};
  return given;
}

/// A simulation at its start, on the ranks of a communicator.
class Run {
 public:
  Run(mpi::CommView comm, Kind kind)
      : comm_(comm), problem_(problem(kind)), simulation_(comm, problem_, log_) {
    simulation_.place(generate(comm, std::get<StartLattice>(problem_.start), problem_.model, problem_.length,
                               simulation_.decomposition().region(comm.rank())));
    const auto molecules = simulation_.order().size();
    simulation_.set_outputs(
        std::make_unique<Samples>(comm, std::vector<output::Stream>{}, Samples::space({}, molecules),
                                  problem_.length, problem_.model, simulation_.order()),
        {});
  }

  [[nodiscard]] checkpoint::StateFunction state() {
    return [this](checkpoint::StateArchive& archive) { simulation_.state(archive); };
  }
  void compute(StepIndex first, StepIndex last) {
    if (first == 1) simulation_.begin();
    for (StepIndex step = first; step <= last; ++step) simulation_.advance(step);
  }
  void save(const std::string& directory) {
    checkpoint::Saving(comm_, directory,
                       {.simulation = "molecules", .program = "test", .step = saved_step, .time_s = 1},
                       state(), {}, {.buffer_bytes = 1 << 20}, log_)
        .finish();
  }
  void restore(const std::string& directory) {
    CHECK(checkpoint::restore_newest(comm_, directory, "molecules", state()).step == saved_step);
  }
  void resume() {
    simulation_.restored(saved_step);
    compute(saved_step + 1, problem_.steps);
  }
  /// Of all ranks, by id.
  [[nodiscard]] std::vector<Molecule> molecules() const {
    std::vector<Molecule> own;
    const auto list = simulation_.list();
    for (std::int64_t i = 0; i < list.count; ++i) own.push_back(list.molecule(i));
    return gathered(comm_, own);
  }
  [[nodiscard]] std::vector<double> observables() const {
    return {simulation_.values().begin(), simulation_.values().end()};
  }

 private:
  mpi::CommView comm_;
  Problem problem_;
  trace::Log log_{"restart"};
  Simulation simulation_;
};

/// Describes what a run without a stop has: when it is saved, and at its end.
struct Whole {
  std::vector<Molecule> saved, end;
  std::vector<double> observables;
};

Whole run_and_save(mpi::CommView comm, Kind kind, const std::string& directory) {
  Run run(comm, kind);
  Whole whole;
  run.compute(1, saved_step);
  whole.saved = run.molecules();
  run.save(directory);
  run.compute(saved_step + 1, saved_step + 1);
  whole.end = run.molecules();
  whole.observables = run.observables();
  return whole;
}

/// Largest difference of positions and velocities; infinite if these are not the same molecules.
double worst_difference(const std::vector<Molecule>& found, const std::vector<Molecule>& wanted) {
  if (found.size() != wanted.size()) return std::numeric_limits<double>::infinity();
  double worst = 0;
  for (std::size_t i = 0; i < found.size(); ++i)
    for (std::size_t d = 0; d < 3; ++d)
      worst = std::max({worst, std::abs(found[i].position[d] - wanted[i].position[d]),
                        std::abs(found[i].velocity[d] - wanted[i].velocity[d])});
  return worst;
}

void check_observables(const std::vector<double>& found, const std::vector<double>& wanted) {
  for (const auto one : {Observable::potential_energy, Observable::kinetic_energy, Observable::pressure,
                         Observable::beta_trans, Observable::mean_pressure})
    CHECK(found[one] == doctest::Approx(wanted[one]).epsilon(1e-12));
}

/// Continues as another kind of run; `alike` if the ranks are as many as before and share in the same way.
void resume(mpi::CommView comm, Kind kind, const std::string& directory, const Whole& whole, bool alike) {
  Run run(comm, kind);
  run.restore(directory);
  CHECK(run.molecules() == whole.saved);
  run.resume();
  if (alike) {
    CHECK(run.molecules() == whole.end);
    CHECK(run.observables() == whole.observables);
  } else {
    CHECK(worst_difference(run.molecules(), whole.end) < 1e-12);
    check_observables(run.observables(), whole.observables);
  }
}

/// From a number of ranks, with the checkpoint in `directory`, to all that there are in the launch.
void restart_everywhere(mpi::CommView comm, int from, Kind kind, const std::string& directory) {
  Whole whole;
  on_first(comm, from, [&](mpi::CommView part) { whole = run_and_save(part, kind, directory); });
  mpi::broadcast(comm, whole.saved, 0);
  mpi::broadcast(comm, whole.end, 0);
  mpi::broadcast(comm, whole.observables, 0);
  for (const int to : {1, 2, 3, 4, 7}) {
    if (to > comm.size()) continue;
    for (const auto next : kinds) {
      CAPTURE(from);
      CAPTURE(to);
      on_first(comm, to,
               [&](mpi::CommView part) { resume(part, next, directory, whole, from == to && kind == next); });
    }
  }
}

}  // namespace

MPI_CASE("a run continues on any number of ranks in any decomposition", ranks{3, 7}) {
  for (const auto kind : kinds)
    for (const int from : {1, 2, 3, 4, 7}) {
      if (from > comm.size()) continue;
      const SharedDir directory(comm);
      restart_everywhere(comm, from, kind, directory.path());
    }
}

MPI_CASE("any byte of saved molecules that changes is found", ranks{1}) {
  const SharedDir directory(comm);
  static_cast<void>(run_and_save(comm, Kind::regular, directory.path()));
  const auto path = checkpoint::checkpoint_path(directory.path(), saved_step);
  Run run(comm, Kind::regular);
  const auto restore = [&] { checkpoint::Checkpoint(comm, path, "molecules").restore(run.state()); };
  int refusals = 0;
  checkpoint::fixture::damage_a_thousand_bytes(
      path, [&] { refusals += fixture::refusal(restore).empty() ? 0 : 1; });
  CHECK(refusals == 1000);
  restore();
}

}  // namespace tailrace::molecules
