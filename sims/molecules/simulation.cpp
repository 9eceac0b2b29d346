// SPDX-License-Identifier: BSD-3-Clause
#include "simulation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/random.hpp"
#include "base/system.hpp"
#include "molecule_rows.hpp"
#include "mpi/verdict.hpp"
#include "row_choice.hpp"

namespace tailrace::molecules {

namespace {

using Kind = DecompositionOptions::Kind;

Decomposition first_decomposition(mpi::CommView comm, const Problem& problem) {
  return Decomposition::regular(problem.length, comm.size(), problem.decomposition.grid);
}

/// The cells of checkpoints: as large as the cutoff, whoever writes.
FileGrid checkpoint_grid(const Problem& problem) {
  return {problem.length, cells_of_cutoff(problem.length, problem.model.cutoff)};
}

}  // namespace

Simulation::Simulation(mpi::CommView comm, const Problem& problem, trace::Log& log)
    : comm_(comm),
      problem_(problem),
      log_(log),
      exchange_(comm, first_decomposition(comm, problem), problem.model.cutoff),
      cells_per_cutoff_(problem.cells_per_cutoff.value_or(1)) {
  if (problem.decomposition.kind == Kind::kd && comm.size() > 1)
    balancer_.emplace(comm, problem.length, problem.model.cutoff,
                      BalanceOptions{.measure = problem.decomposition.measured ? LoadMeasure::seconds
                                                                               : LoadMeasure::counted,
                                     .limit = problem.decomposition.limit,
                                     .kd = problem.decomposition.kd});
  make_particles();
}

/// Anew, without molecules.
void Simulation::make_particles() {
  particles_.emplace(problem_.model, box(), decomposition().region(comm_.rank()), cells_per_cutoff_);
}

MoleculeList Simulation::list() const {
  return {particles_->size(), [this](std::int64_t i) { return particles_->get(i); }};
}

/// Keeps this rank's error until all ranks know of it; meanwhile it takes part in messages and does nothing
/// else.
template <class Action>
void Simulation::attempt(const Action& action) noexcept {
  if (failure_) return;
  try {
    action();
  } catch (...) {
    failure_ = describe_current_exception();
  }
}

CellCounter Simulation::count_cells() const {
  CellCounter counter(balancer_->grid(), decomposition().region(comm_.rank()));
  for (std::int64_t i = 0; i < particles_->size(); ++i) counter.add(particles_->get(i).position);
  return counter;
}

/// Has the ranks share the molecules that they have by the work these make, if their load counts.
void Simulation::balance() {
  if (!balancer_) return;
  std::vector<Molecule> molecules;
  for (std::int64_t i = 0; i < particles_->size(); ++i) molecules.push_back(particles_->get(i));
  exchange_.reset(balancer_->plan(count_cells()));
  make_particles();
  particles_->insert(exchange_.redistribute(molecules));
}

void Simulation::place(const std::vector<Molecule>& molecules) {
  attempt([&] { particles_->insert(molecules); });
  mpi::agree(comm_, std::exchange(failure_, {}));
  balance();
  std::vector<std::uint64_t> ids;
  ids.reserve(molecules.size());
  for (std::int64_t i = 0; i < particles_->size(); ++i) ids.push_back(particles_->get(i).id);
  order_.emplace(comm_, std::move(ids));
  mpi::collectively(comm_, [&] {
    if (order_->size() == 0) throw Error(ErrorKind::input, "there are no molecules");
  });
  const auto counts = mpi::sum(comm_, particles_->count_components());
  mpi::collectively(comm_, [&] { corrections_ = corrections(particles_->field(), counts, volume()); });
}

void Simulation::set_outputs(std::unique_ptr<Samples> samples,
                             std::vector<std::unique_ptr<StepWriter>> writers) {
  samples_ = std::move(samples);
  writers_ = std::move(writers);
}

void Simulation::begin() {
  Totals mine;
  attempt([&] { particles_->sort(); });
  get_copies(0);
  attempt([&] {
    compute_forces(mine);
    particles_->sum_kinetic(mine);
  });
  add_up(0, mine);
  finish_step(0, false);
}

void Simulation::advance(StepIndex step) {
  Totals mine;
  move(step);
  get_copies(step);
  attempt([&] {
    compute_forces(mine);
    particles_->kick(problem_.dt, mine);
  });
  add_up(step, mine);
  finish_step(step, true);
}

void Simulation::compute_forces(Totals& mine) {
  const double begin_s = monotonic_s();
  particles_->compute_forces(mine);
  own_force_s_ += monotonic_s() - begin_s;
}

/// If it is time to look, and there is one.
std::optional<Decomposition> Simulation::better_decomposition(StepIndex step) {
  if (!balancer_ || step % problem_.decomposition.every != 0) return {};
  const double seconds = std::exchange(own_force_s_, 0);
  const double load = problem_.decomposition.measured ? seconds : static_cast<double>(own_pairs_);
  return balancer_->improve(count_cells(), load);
}

/// From the pairs of the last step, which follow from the state alone: runs repeat bit for bit.
void Simulation::choose_cells() {
  if (problem_.cells_per_cutoff) return;
  const double pairs = static_cast<double>(totals_.pairs) / static_cast<double>(totals_.molecules);
  cells_per_cutoff_ = best_cells_per_cutoff(pairs, cells_per_cutoff_);
  particles_->set_cells_per_cutoff(cells_per_cutoff_);
}

/// Drift, and molecules to their new owners.
void Simulation::move(StepIndex step) {
  const auto next = better_decomposition(step);
  std::vector<Molecule> leavers;
  attempt([&] {
    particles_->kick_drift(problem_.dt);
    choose_cells();
    if (next) particles_->reset_region(next->region(comm_.rank()));
    leavers = particles_->take_leavers();
  });
  if (next) exchange_.reset(*next);
  const trace::Scope scope(log_, trace::Kind::exchange, step);
  const auto arrivals = next ? exchange_.redistribute(leavers) : exchange_.migrate(leavers);
  attempt([&] {
    particles_->insert(arrivals);
    particles_->sort();
  });
}

void Simulation::get_copies(StepIndex step) {
  const trace::Scope scope(log_, trace::Kind::exchange, step);
  particles_->clear_halo();
  const auto pack = [&](const HaloTarget& target, std::vector<std::byte>& out) {
    attempt([&] { particles_->pack_halo(target.region, target.shift, out); });
  };
  exchange_.start_halo(pack);
  exchange_.finish_halo(
      pack, [&](std::span<const std::byte> copies) { attempt([&] { particles_->add_halo(copies); }); });
}

/// One reduction: sums, and whether all went well.
void Simulation::add_up(StepIndex step, Totals mine) {
  if (!failure_) failure_ = exchange_.lost();
  if (failure_) failure_->message = fmt::format("step {}: {}", step, failure_->message);
  own_pairs_ = mine.pairs;
  const auto number = [](std::int64_t count) { return static_cast<double>(count); };
  const auto sums = mpi::sum(
      comm_, std::vector<double>{mine.u_lj, mine.u_el, mine.u_rf, mine.virial, mine.twice_kinetic_trans,
                                 mine.twice_kinetic_rot, number(mine.molecules),
                                 number(mine.rotational_freedoms), number(mine.pairs), failure_ ? 1.0 : 0.0});
  const auto count = [&](std::size_t i) { return static_cast<std::int64_t>(sums[i]); };
  totals_ = {.u_lj = sums[0],
             .u_el = sums[1],
             .u_rf = sums[2],
             .virial = sums[3],
             .twice_kinetic_trans = sums[4],
             .twice_kinetic_rot = sums[5],
             .molecules = count(6),
             .rotational_freedoms = count(7),
             .pairs = count(8)};
  if (sums[9] > 0) mpi::agree(comm_, failure_);
  if (totals_.molecules != order_->size())
    throw Error(ErrorInfo{.kind = ErrorKind::unstable,
                          .message = fmt::format("step {}: there are {} molecules now, and there were {}",
                                                 step, totals_.molecules, order_->size()),
                          .path = {},
                          .rank = 0,
                          .hint = "a smaller time.dt"});
}

/// Observables, from sums that are the same on all ranks.
void Simulation::measure(bool counts) {
  const auto seen = observables(totals_, corrections_, volume());
  means_.add({seen.u_potential, seen.u_kinetic, seen.pressure});
  if (!counts) return;
  const auto means = means_.means();
  const auto pairs = static_cast<double>(own_pairs_);
  values_[Observable::potential_energy] = seen.u_potential;
  values_[Observable::kinetic_energy] = seen.u_kinetic;
  values_[Observable::total_energy] = seen.u_potential + seen.u_kinetic;
  values_[Observable::temperature] = seen.temperature;
  values_[Observable::pressure] = seen.pressure;
  values_[Observable::virial] = seen.virial;
  values_[Observable::beta_trans] = scaling_.trans;
  values_[Observable::beta_rot] = scaling_.rot;
  values_[Observable::heat_capacity] =
      heat_capacity(totals_, means_.mean_energy(), means_.mean_square_energy(), seen.temperature);
  values_[Observable::mean_potential_energy] = means[0];
  values_[Observable::mean_kinetic_energy] = means[1];
  values_[Observable::mean_pressure] = means[2];
  values_[Observable::imbalance] =
      totals_.pairs > 0 ? mpi::max(comm_, pairs) * comm_.size() / static_cast<double>(totals_.pairs) : 1;
}

/// Observables, thermostat, and what outputs and writers take.
void Simulation::finish_step(StepIndex step, bool scales) {
  scaling_ = scaling(totals_, problem_.thermostat.temperature);
  const bool sampled = samples_->due(step);
  const bool written =
      std::any_of(writers_.begin(), writers_.end(), [&](const auto& writer) { return writer->due(step); });
  measure(sampled || written || step == problem_.steps);
  if (scales && problem_.thermostat.temperature > 0) particles_->scale(scaling_);
  if (sampled) samples_->take(step, values_, list());
  if (!written) return;
  const auto own = list();
  const StepState state{.step = step,
                        .time = problem_.time_of_step_0 + problem_.dt * static_cast<double>(step),
                        .molecules = totals_.molecules,
                        .values = values_,
                        .own = own,
                        .region = particles_->region()};
  for (const auto& writer : writers_)
    if (writer->due(step)) writer->write(state);
}

void Simulation::gather_last() {
  samples_->take_last(values_, list());
}

std::int64_t Simulation::memory_bytes() const noexcept {
  return particles_->memory_bytes() + exchange_.memory_bytes() + order_->memory_bytes() +
         samples_->memory_bytes();
}

void Simulation::check_same_case(checkpoint::StateArchive& archive) const {
  const std::vector<std::pair<const char*, double>> numbers{
      {"domain.length.x", box()[0]},           {"domain.length.y", box()[1]},
      {"domain.length.z", box()[2]},           {"time.dt", problem_.dt},
      {"model.cutoff", problem_.model.cutoff}, {"model.lj_cutoff", problem_.model.lj_cutoff}};
  for (const auto& [name, mine] : numbers) {
    double saved = mine;
    archive.value(name, saved);
    if (saved != mine)
      throw Error(ErrorInfo{.kind = ErrorKind::input,
                            .message = fmt::format("the checkpoint is of a run with {} = {}, this one has {}",
                                                   name, saved, mine),
                            .path = {},
                            .hint = "resume with the case of the first segment"});
  }
}

/// The ranks resume with their regions, if there are as many as when the state was saved and they may be like
/// that; else they get new ones when the molecules are there. Rows are as high as they were.
void Simulation::pass_decomposition(checkpoint::StateArchive& archive, int version) {
  std::int64_t ranks = comm_.size(), kd = balancer_.has_value() ? 1 : 0;
  auto numbers = decomposition().numbers();
  archive.value("ranks", ranks);
  archive.value("kd", kd);
  archive.values("regions", numbers);
  std::int64_t cells = cells_per_cutoff_;
  if (version >= 2) archive.value("cells_per_cutoff", cells);
  if (!archive.restores()) return;
  if (!problem_.cells_per_cutoff) cells_per_cutoff_ = static_cast<int>(cells);
  keeps_regions_ = ranks == comm_.size() && kd == (balancer_ ? 1 : 0);
  if (keeps_regions_ && balancer_) exchange_.reset(Decomposition::restored(box(), numbers));
  make_particles();
}

void Simulation::state(checkpoint::StateArchive& archive) {
  archive.component("molecules", 2, [&](int version) {
    check_same_case(archive);
    pass_decomposition(archive, version);
    archive.rows("molecule", std::make_unique<MoleculeRows>(checkpoint_grid(problem_),
                                                            decomposition().region(comm_.rank()), list(),
                                                            [this](const Molecule& molecule) {
                                                              particles_->insert({&molecule, 1});
                                                            }));
    auto means = means_.numbers();
    archive.values("means", means);
    if (archive.restores()) means_.restore(means);
  });
}

/// Outputs have a place for each molecule of the start, by its id.
void Simulation::check_same_molecules() {
  std::vector<std::uint64_t> sums(4);
  const auto add = [&sums](std::size_t at, std::uint64_t id) {
    ++sums[at];
    sums[at + 1] += mixed_bits(id);
  };
  for (const auto id : order_->own()) add(0, id);
  for (std::int64_t i = 0; i < particles_->size(); ++i) add(2, particles_->get(i).id);
  sums = mpi::sum(comm_, sums);
  if (sums[0] == sums[2] && sums[1] == sums[3]) return;
  const auto what = sums[0] == sums[2]
                        ? std::string("molecules of other ids than the start of the run has")
                        : fmt::format("{} molecules, and the start of the run has {}", sums[2], sums[0]);
  throw Error(ErrorInfo{.kind = ErrorKind::input,
                        .message = fmt::format("the checkpoint has {}", what),
                        .path = {},
                        .rank = 0,
                        .hint = "a state of this run, or a new run from that state: start.file"});
}

void Simulation::restored(StepIndex step) {
  check_same_molecules();
  if (!keeps_regions_) balance();
  Totals mine;
  attempt([&] { particles_->sort(); });
  get_copies(step);
  attempt([&] {
    compute_forces(mine);
    particles_->sum_kinetic(mine);
  });
  add_up(step, mine);
  for (const auto& writer : writers_) writer->resume(step);
}

}  // namespace tailrace::molecules
