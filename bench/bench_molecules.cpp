// SPDX-License-Identifier: BSD-3-Clause
/// The parts of the steps of a case of molecules: microseconds per molecule and step, of the slowest rank of
/// each part. Goes to standard output as JSON.
///   mpirun -n 2 tailrace-bench-molecules CASE --warm-up 20 --set time.steps=120
#include <fmt/format.h>
#include <omp.h>

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/system.hpp"
#include "exchange.hpp"
#include "options.hpp"
#include "particles.hpp"
#include "start.hpp"
#include "tailrace/comm.hpp"
#include "tailrace/option_parser.hpp"

using namespace tailrace;
using namespace tailrace::molecules;

namespace {

struct Settings {
  std::string case_file;
  std::vector<std::string> keys;  ///< "key=value" over those of the case
  StepIndex warm_up = 20;
};

/// Molecules of all ranks, moved as `Simulation` does, with a clock for each part of a step.
class Stepper {
 public:
  Stepper(mpi::CommView comm, const Problem& problem)
      : comm_(comm),
        problem_(problem),
        exchange_(comm, Decomposition::regular(problem.length, comm.size(), problem.decomposition.grid),
                  problem.model.cutoff),
        particles_(problem.model, problem.length, exchange_.decomposition().region(comm.rank()),
                   problem.cells_per_cutoff.value_or(1)) {}

  /// @collective
  void place(const Start& start) {
    particles_.insert(start.molecules(comm_, exchange_.decomposition()));
    particles_.sort();
    copy();
    particles_.compute_forces(totals_);
  }
  /// @collective
  void step() {
    totals_ = {};
    timed("drift", [&] { particles_.kick_drift(problem_.dt); });
    timed("migrate", [&] { migrate(); });
    timed("sort", [&] { particles_.sort(); });
    timed("halo", [&] { copy(); });
    timed("forces", [&] { particles_.compute_forces(totals_); });
    timed("kick", [&] { particles_.kick(problem_.dt, totals_); });
    timed("sums", [&] { static_cast<void>(mpi::sum(comm_, std::vector{totals_.u_lj, totals_.virial})); });
  }
  void reset_times() { times_s_.clear(); }

  /// Of all ranks, for so many steps in so many seconds. @collective
  [[nodiscard]] nlohmann::json report(StepIndex steps, double seconds) const {
    const auto all =
        mpi::sum(comm_, std::vector<std::int64_t>{particles_.size(), totals_.pairs,
                                                  particles_.memory_bytes() + exchange_.memory_bytes()});
    const auto molecules = static_cast<double>(all[0]);
    const double energy = mpi::sum(comm_, totals_.u_lj + totals_.u_el + totals_.u_rf);
    const double scale = 1e6 / (molecules * static_cast<double>(steps));
    nlohmann::json reported{{"molecules", all[0]},
                            {"ranks", comm_.size()},
                            {"threads", omp_get_max_threads()},
                            {"steps", steps},
                            {"us_per_molecule_step", scale * mpi::max(comm_, seconds)},
                            {"pairs_per_molecule", static_cast<double>(all[1]) / molecules},
                            {"pair_energy_per_molecule", energy / molecules},
                            {"bytes_per_molecule", static_cast<double>(all[2]) / molecules}};
    for (const auto& [part, part_s] : times_s_) reported["parts_us"][part] = scale * mpi::max(comm_, part_s);
    return reported;
  }

 private:
  template <class Act>
  void timed(const char* part, const Act& act) {
    const double start_s = monotonic_s();
    act();
    times_s_[part] += monotonic_s() - start_s;
  }
  void migrate() { particles_.insert(exchange_.migrate(particles_.take_leavers())); }
  void copy() {
    particles_.clear_halo();
    const auto pack = [&](const HaloTarget& target, std::vector<std::byte>& out) {
      particles_.pack_halo(target.region, target.shift, out);
    };
    exchange_.start_halo(pack);
    exchange_.finish_halo(pack, [&](std::span<const std::byte> copies) { particles_.add_halo(copies); });
  }

  mpi::CommView comm_;
  const Problem& problem_;
  Exchange exchange_;
  Particles particles_;
  Totals totals_;
  std::map<std::string, double> times_s_;
};

/// The case as `tailrace-molecules` reads it.
Problem read_problem(const Settings& settings) {
  std::vector<const char*> words{"tailrace-molecules", "--check", "--case", settings.case_file.c_str()};
  for (const auto& key : settings.keys) {
    words.push_back("--set");
    words.push_back(key.c_str());
  }
  return std::get<Options>(parse_options(static_cast<int>(words.size()), words.data())).problem;
}

nlohmann::json measure(mpi::CommView comm, const Settings& settings) {
  Problem problem = read_problem(settings);
  std::vector<std::string> warnings;
  const Start start(comm, problem, warnings, settings.case_file);
  Stepper stepper(comm, problem);
  stepper.place(start);
  for (StepIndex step = 0; step < settings.warm_up; ++step) stepper.step();
  stepper.reset_times();
  const auto steps = std::max<StepIndex>(1, problem.steps - settings.warm_up);
  const double start_s = monotonic_s();
  for (StepIndex step = 0; step < steps; ++step) stepper.step();
  return stepper.report(steps, monotonic_s() - start_s);
}

}  // namespace

int main(int argc, char** argv) {
  mpi::Environment environment(argc, argv);
  Settings settings;
  OptionParser parser("The parts of a step, in microseconds per molecule", "tailrace-bench-molecules");
  parser.option("case", settings.case_file).required();
  parser.option("--set", settings.keys, "key=value of the case");
  parser.option("--warm-up", settings.warm_up, "steps before the clocks start");
  if (const auto status = parser.read_or_end(argc, argv)) return *status;
  try {
    const auto reported = measure(environment.world(), settings);
    if (environment.world().is_root()) fmt::print("{}\n", reported.dump());
  } catch (const std::exception& error) {
    say(stderr, fmt::format("tailrace-bench-molecules: {}\n", error.what()));
    mpi::Environment::abort(3);
  }
  return 0;
}
