// SPDX-License-Identifier: BSD-3-Clause
/// Task graphs by one of several systems: seconds of all tasks for tasks of several lengths; or the best rate
/// of the kernel. JSON on standard output. A wrong input ends it with status 3.
///   mpirun -n 2 tailrace-bench-graphs --system fragments --pattern stencil_1d --iterations 0 64 1024
///   tailrace-bench-graphs --peak --kernel compute -t 2
#include <fmt/format.h>
#include <omp.h>

#include <map>
#include <nlohmann/json.hpp>

#include "base/system.hpp"
#include "systems.hpp"
#include "tailrace/option_parser.hpp"

using namespace tailrace;
using namespace tailrace::bench;

namespace tailrace::bench {

std::span<const System> systems() {
  static constexpr System all[] = {
    {"fragments", true, true, run_fragments},
    {"mpi", true, false, run_mpi},
    {"openmp", false, true, run_openmp},
#if TAILRACE_HAVE_STARPU
    {"starpu", false, true, run_starpu},
#endif
#if TAILRACE_HAVE_TBB
    {"tbb", false, true, run_tbb},
#endif
  };
  return all;
}

}  // namespace tailrace::bench

namespace {

struct Settings {
  std::string system = "fragments", pattern, kernel;
  Shape shape;
  Load load;
  int graphs = 1, workers = 1, repeat = 1;
  bool peak = false, list = false, steals = false;
  std::vector<std::int64_t> iterations{0};
};

/// Changes a value to the one of this name, if there is a name.
template <class T>
void choose(const std::vector<std::pair<std::string, T>>& names, const std::string& wanted, T& value) {
  for (const auto& [word, one] : names)
    if (word == wanted) value = one;
}

void add_options(OptionParser& parser, Settings& s) {
  parser.option("--system", s.system, "Who executes the tasks");
  parser.option("--pattern", s.pattern).name_in(pattern_names());
  parser.option("--kernel", s.kernel).name_in(kernel_names());
  parser.option("--width", s.shape.width).within(1, 4096);
  parser.option("--steps", s.shape.steps).within(1, 10'000'000);
  parser.option("--radix", s.shape.radix).positive();
  parser.option("--period", s.shape.period).positive();
  parser.option("--fraction", s.shape.fraction).within(0.0, 1.0);
  parser.option("--bytes", s.load.bytes, "Of each output").within(min_bytes, std::size_t{1} << 28U);
  parser.option("--graphs", s.graphs, "That run at once").within(1, 63);
  parser.option("--imbalance", s.load.imbalance).within(0.0, 2.0);
  parser.option("--iterations", s.iterations, "Of the kernel, one row each").not_negative();
  parser.option("--repeat", s.repeat, "Runs of each row, of which the fastest counts").positive();
  parser.option("-t,--workers", s.workers, "Threads of a rank").within(1, 1024);
  parser.flag("--steal", s.steals, "Fragments move to ranks that have nothing to do");
  parser.flag("--plant", s.load.planted, "One output is wrong: the run has to end with an error");
  parser.flag("--peak", s.peak, "The best rate of the kernel on all threads instead");
  parser.flag("--list", s.list, "The systems of this build instead");
}

/// Work per second of the kernel alone, all threads of all ranks at once.
double peak(mpi::CommView comm, const Settings& settings) {
  const Load& load = settings.load;
  double best = 0;
  for (int round = 0; round < settings.repeat; ++round) {
    mpi::barrier(comm);
    const double start_s = monotonic_s();
#pragma omp parallel num_threads(settings.workers)
    compute(load.kernel, load.iterations);
    best = std::max(best, load.work() / mpi::max(comm, monotonic_s() - start_s));
  }
  return best * settings.workers * comm.size();
}

const System& find_system(const Settings& settings, int ranks) {
  std::string known;
  for (const auto& system : systems()) {
    known += fmt::format("{}{}", known.empty() ? "" : ", ", system.name);
    if (settings.system != system.name) continue;
    if ((ranks > 1 && !system.several_ranks) || (settings.workers > 1 && !system.several_workers))
      throw std::invalid_argument(
          fmt::format("{} does not run on {} ranks x {} threads", system.name, ranks, settings.workers));
    return system;
  }
  throw std::invalid_argument(
      fmt::format("--system {}: not in this build. Choose one of {}.", settings.system, known));
}

/// An output that nobody reads cannot be found to be wrong.
void check_planted(const Load& load) {
  if (load.planted && !load.has_planted())
    throw std::invalid_argument("--plant: nobody reads the output of the middle step in this graph");
}

nlohmann::json measure(mpi::CommView comm, Settings settings) {
  const auto& system = find_system(settings, comm.size());
  const Team team{comm, settings.workers, settings.steals};
  auto& load = settings.load;
  load.graphs.assign(static_cast<std::size_t>(settings.graphs), Graph(settings.shape));
  check_planted(load);
  nlohmann::json rows = nlohmann::json::array();
  load.iterations = settings.iterations.back();
  system.run(team, load);  // to warm up
  for (const auto iterations : settings.iterations) {
    load.iterations = iterations;
    double best_s = system.run(team, load);
    for (int i = 1; i < settings.repeat; ++i) best_s = std::min(best_s, system.run(team, load));
    rows.push_back(
        {{"iterations", iterations}, {"tasks", load.tasks()}, {"work", load.work()}, {"seconds", best_s}});
  }
  return {{"system", system.name}, {"ranks", comm.size()}, {"workers", settings.workers}, {"rows", rows}};
}

nlohmann::json answer(mpi::CommView comm, Settings& settings) {
  if (settings.list) {
    nlohmann::json names = nlohmann::json::array();
    for (const auto& system : systems()) names.push_back(system.name);
    return names;
  }
  if (!settings.peak) return measure(comm, settings);
  settings.load.graphs.assign(1, Graph({.pattern = Pattern::trivial, .width = 1, .steps = 1, .radix = 1}));
  settings.load.iterations = settings.iterations.front();
  return {{"work_per_s", peak(comm, settings)}};
}

}  // namespace

int main(int argc, char** argv) {
  const mpi::Environment environment(argc, argv);
  const auto comm = environment.world();
  Settings settings;
  OptionParser parser("Task graphs by one of several systems", "tailrace-bench-graphs");
  add_options(parser, settings);
  if (const auto status = parser.read_or_end(argc, argv, comm.is_root())) return *status;
  choose(pattern_names(), settings.pattern, settings.shape.pattern);
  choose(kernel_names(), settings.kernel, settings.load.kernel);
  try {
    const auto found = answer(comm, settings);
    if (comm.is_root()) say(stdout, found.dump() + "\n");
  } catch (const std::invalid_argument& error) {
    if (comm.is_root()) say(stderr, fmt::format("{}\n", error.what()));
    return 2;
  } catch (const std::runtime_error& error) {
    if (comm.is_root()) say(stderr, fmt::format("{}\n", error.what()));
    return 3;
  }
  return 0;
}
