// SPDX-License-Identifier: BSD-3-Clause
/// Exchanges at arbitrary indices: every transport on every load, one after the other in each round, beside
/// the same gathers written by hand in five ways and by the libraries of others that were found; with --puts,
/// single values put into symmetric memory; or, with --counts, what ownership rules cost in values,
/// peers and memory on any number of ranks, inspected by one process. JSON on standard output.
///   mpirun -n 2 tailrace-bench-exchange --rounds 30
///   tailrace-bench-exchange --counts C --ranks 8 64 512
///   mpirun -n 64 tailrace-bench-exchange --real ua-C
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>

#include "adaptive_mesh.hpp"
#include "exchange/inspection.hpp"
#include "exchange_maps.hpp"
#include "exchange_ownership.hpp"
#include "exchange_puts.hpp"
#include "exchange_times.hpp"
#include "tailrace/exchange/access_map.hpp"

using namespace tailrace;
using namespace tailrace::bench;

namespace {

struct Settings : TimingSettings {
  char counts = ' ';
  std::int64_t puts = 0;
  std::string real;
  std::vector<int> ranks{8, 64, 128, 512, 1024, 2048};
};

double spread(const std::vector<std::int64_t>& values) {
  double sum = 0;
  for (const auto value : values) sum += static_cast<double>(value);
  if (sum == 0) return 1;
  return static_cast<double>(*std::max_element(values.begin(), values.end())) *
         static_cast<double>(values.size()) / sum;
}

/// One rule on so many ranks, inspected rank by rank.
nlohmann::json count(const Mortars& mortars, const std::string& rule, int ranks) {
  const OwnedMortars owned = own(mortars, rule, ranks);
  std::vector<std::int64_t> reads(static_cast<std::size_t>(ranks)), read(static_cast<std::size_t>(ranks));
  std::int64_t remote = 0, peers = 0;
  std::size_t max_bytes = 0;
  for (int rank = 0; rank < ranks; ++rank) {
    const auto seen = exchange::inspect(owned.distribution, rank, owned.of_rank(mortars, rank));
    reads[static_cast<std::size_t>(rank)] = static_cast<std::int64_t>(seen.wanted.size());
    for (const auto& source : seen.sources) read[static_cast<std::size_t>(source.rank)] += source.count;
    remote += static_cast<std::int64_t>(seen.wanted.size());
    peers += static_cast<std::int64_t>(seen.sources.size());
    max_bytes = std::max(max_bytes, seen.memory_bytes());
  }
  return {{"rule", rule},
          {"ranks", ranks},
          {"remote_per_point", static_cast<double>(remote) / static_cast<double>(mortars.points)},
          {"reads_max_over_mean", spread(reads)},
          {"read_max_over_mean", spread(read)},
          {"peers", static_cast<double>(peers) / ranks},
          {"max_map_bytes", max_bytes}};
}

nlohmann::json count_rules(const Settings& settings) {
  const UaClass which = ua_class(settings.counts);
  double time_s = 0;
  for (int step = 0; step < 100; ++step) time_s += which.step_s();
  const auto leaves = ua_leaves(which, time_s);
  const Mortars mortars = ua_mortars(leaves);
  auto rows = nlohmann::json::array();
  for (const int ranks : settings.ranks)
    for (const auto& rule : ownership_rules()) rows.push_back(count(mortars, rule, ranks));
  return {{"elements", leaves.size()}, {"points", mortars.points}, {"rows", rows}};
}

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
  CLI::App app("Exchanges at arbitrary indices");
  app.add_option("--loads", settings.loads, "Which loads, of those that there are")
      ->check(CLI::IsMember(index_loads()));
  app.add_option("--rounds", settings.rounds, "Measured rounds")->check(CLI::PositiveNumber);
  app.add_option("--components", settings.components, "Numbers per value")->check(CLI::PositiveNumber);
  app.add_option("--puts", settings.puts, "Put so many single values per rank, measure nothing else");
  app.add_option("--counts", settings.counts, "Count on the mesh of this class of UA, measure nothing");
  app.add_option("--real", settings.real, "Count a gather of this load by all ranks, measure nothing")
      ->check(CLI::IsMember(counted_loads()));
  app.add_option("--ranks", settings.ranks, "Numbers of ranks to count for")->check(CLI::PositiveNumber);
  CLI11_PARSE(app, argc, argv);
  if (settings.counts != ' ' && !world.is_root()) return 0;
  const auto found = settings.counts != ' '   ? count_rules(settings)
                     : !settings.real.empty() ? count_real(world, settings.real)
                     : settings.puts > 0      ? time_puts(world, settings.puts, settings.rounds)
                                              : time_loads(world, settings);
  if (world.is_root()) fmt::print("{}\n", found.dump(1));
  return 0;
} catch (const std::exception& error) {
  fmt::print(stderr, "tailrace-bench-exchange: error: {}\n", error.what());
  mpi::Environment::abort(2);
}
