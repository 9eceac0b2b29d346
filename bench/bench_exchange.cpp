// SPDX-License-Identifier: BSD-3-Clause
/// Exchanges at arbitrary indices: every transport on every load, one after the other in each round, beside
/// the same gathers written by hand in five ways and by the libraries of others that were found; with --puts,
/// single values put into symmetric memory; or, with --counts, what ownership rules cost in values,
/// peers and memory on any number of ranks, inspected by one process. JSON on standard output.
///   mpirun -n 2 tailrace-bench-exchange --rounds 30
///   tailrace-bench-exchange --counts C --ranks 8 64 512 --change 5
///   mpirun -n 64 tailrace-bench-exchange --real ua-C
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "exchange_counts.hpp"
#include "exchange_maps.hpp"
#include "exchange_puts.hpp"
#include "exchange_times.hpp"
#include "tailrace/error.hpp"
#include "tailrace/exchange/access_map.hpp"
#include "tailrace/option_parser.hpp"

using namespace tailrace;
using namespace tailrace::bench;

namespace {

struct Settings : TimingSettings {
  CountSettings counts{.npb_class = ' '};
  std::int64_t puts = 0;
  std::string real;
};

/// What the map of a load is and moves in a gather, on all ranks of the program.
nlohmann::json count_real(mpi::CommView comm, const std::string& name) {
  const IndexLoad load = shared_out_load(comm, name);
  auto map = exchange::AccessMap::make(comm, load.distribution, load.indices, {.transport = "persistent"});
  std::vector<double> x(static_cast<std::size_t>(map.array_size()));
  map.begin_gather(map.view(std::span(x))).finish();
  const auto summary = map.describe();
  const auto& counts = map.counts();
  nlohmann::json row{{"load", name}, {"ranks", comm.size()}, {"points", load.distribution.size()}};
  const auto add = [&](const char* what, std::int64_t here) {
    row[what] = {{"mean", static_cast<double>(mpi::sum(comm, here)) / comm.size()},
                 {"most", mpi::max(comm, here)}};
  };
  add("positions", summary.positions);
  add("landing", summary.landing);
  add("reads_from", summary.reads_from);
  add("messages", counts.messages);
  add("bytes", counts.bytes);
  add("memory_bytes", summary.memory_bytes);
  return row;
}

}  // namespace

int main(int argc, char** argv) try {
  mpi::Environment environment(argc, argv);
  const auto world = environment.world();
  Settings settings;
  OptionParser parser("Exchanges at arbitrary indices", "tailrace-bench-exchange");
  parser.option("--loads", settings.loads, "Which loads, of those that there are").one_of(index_loads());
  parser.option("--rounds", settings.rounds, "Measured rounds").positive();
  parser.option("--components", settings.components, "Numbers per value").positive();
  parser.option("--puts", settings.puts, "Put so many single values per rank, measure nothing else");
  parser.option("--counts", settings.counts.npb_class,
                "Count on the mesh of this class of UA, measure nothing");
  parser.option("--step", settings.counts.step, "After which the mesh is counted").not_negative();
  parser
      .option("--change", settings.counts.change,
              "Also count what its change from so many steps before sends")
      .positive();
  parser.option("--real", settings.real, "Count a gather of this load by all ranks, measure nothing")
      .one_of(counted_loads());
  parser.option("--ranks", settings.counts.ranks, "Numbers of ranks to count for").positive();
  if (const auto status = parser.read_or_end(argc, argv, world.is_root())) return *status;
  const bool counts = settings.counts.npb_class != ' ';
  if (settings.counts.change > settings.counts.step)
    throw Error(
        ErrorKind::usage,
        fmt::format("--change {} is more than --step {}", settings.counts.change, settings.counts.step),
        "a later step");
  if (counts && !world.is_root()) return 0;
  const auto found = counts                   ? count_rules(settings.counts)
                     : !settings.real.empty() ? count_real(world, settings.real)
                     : settings.puts > 0      ? time_puts(world, settings.puts, settings.rounds)
                                              : time_loads(world, settings);
  if (world.is_root()) fmt::print("{}\n", found.dump(1));
  return 0;
} catch (const std::exception& error) {
  fmt::print(stderr, "tailrace-bench-exchange: error: {}\n", error.what());
  mpi::Environment::abort(2);
}
