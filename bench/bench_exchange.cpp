// SPDX-License-Identifier: BSD-3-Clause
/// Exchanges at arbitrary indices: every transport on every load, one after the other in each round, beside
/// the same gathers written by hand in five ways; or, with --counts, what ownership rules cost in values,
/// peers and memory on any number of ranks, inspected by one process. JSON on standard output.
///   mpirun -n 2 tailrace-bench-exchange --rounds 30
///   tailrace-bench-exchange --counts C --ranks 8 64 512
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "adaptive_mesh.hpp"
#include "base/system.hpp"
#include "exchange/inspection.hpp"
#include "exchange/line.hpp"
#include "exchange_maps.hpp"
#include "exchange_ownership.hpp"
#include "exchange_peers.hpp"
#include "tailrace/error.hpp"
#include "tailrace/exchange/access_map.hpp"

using namespace tailrace;
using namespace tailrace::bench;
using exchange::AccessMap;

namespace {

struct Settings {
  std::vector<std::string> loads = index_loads();
  int rounds = 30, components = 1;
  char counts = ' ';
  std::vector<int> ranks{8, 64, 128, 512, 1024, 2048};
};

/// Seconds of an action that all ranks begin together, of the slowest rank.
template <class Action>
double timed(mpi::CommView comm, Action action) {
  mpi::barrier(comm);
  const double start_s = monotonic_s();
  action();
  return mpi::max(comm, monotonic_s() - start_s);
}

using Samples = std::map<std::string, std::vector<double>>;

struct Contestant {
  std::string name;
  std::unique_ptr<AccessMap> map;
  std::vector<double> x;
};

std::vector<Contestant> contestants(mpi::CommView comm, const IndexLoad& load, int components,
                                    Samples& samples) {
  std::vector<std::string> names{"auto"};
  for (const auto& transport : exchange::transports())
    if (transport.obstacle.empty()) names.emplace_back(transport.name);
  std::vector<Contestant> all;
  for (const auto& name : names) {
    Contestant one{name, nullptr, {}};
    samples["build " + name].push_back(timed(comm, [&] {
      one.map = std::make_unique<AccessMap>(
          AccessMap::make(comm, load.distribution, load.indices, {.transport = name}));
    }));
    one.x.resize(static_cast<std::size_t>(one.map->array_size() * components));
    all.push_back(std::move(one));
  }
  return all;
}

/// Refuses ways by hand that bring other values than a map does.
void check_peers(mpi::CommView comm, const IndexLoad& load, int components, const Contestant& contestant,
                 const std::vector<NamedPeer>& peers) {
  auto expected = contestant.x;
  const auto owned = static_cast<std::size_t>(contestant.map->owned() * components);
  for (std::size_t i = 0; i < owned; ++i)
    expected[i] = static_cast<double>(i) + 1e7 * (comm.rank() + 1) + load.distribution.ranks();
  const auto before = expected;
  contestant.map->begin_gather(contestant.map->view(std::span(expected), components)).finish();
  for (const auto& [name, way] : peers) {
    auto x = before;
    way->gather(x);
    if (mpi::min(comm, std::int64_t{x == expected}) == 0)
      throw Error(ErrorKind::internal, "the exchange by hand " + name + " brings wrong values");
  }
}

Samples measure(mpi::CommView comm, const IndexLoad& load, const Settings& settings) {
  constexpr int warm_up = 60;  // auto has chosen then
  Samples samples;
  auto all = contestants(comm, load, settings.components, samples);
  const auto peers = hand_written(comm, load, settings.components);
  auto x = all.front().x;
  check_peers(comm, load, settings.components, all.front(), peers);
  for (int round = -warm_up; round < settings.rounds; ++round) {
    const auto keep = [&](const std::string& name, double seconds) {
      if (round >= 0) samples[name].push_back(seconds);
    };
    for (auto& [name, map, values] : all) {
      const auto field = map->view(std::span(values), settings.components);
      keep("gather " + name, timed(comm, [&] { map->begin_gather(field).finish(); }));
      keep("scatter_add " + name, timed(comm, [&] { map->begin_scatter_add(field).finish(); }));
      std::fill(values.begin(), values.end(), 0);
    }
    for (const auto& [name, way] : peers) keep("by hand " + name, timed(comm, [&] { way->gather(x); }));
  }
  return samples;
}

nlohmann::json time_loads(mpi::CommView comm, const Settings& settings) {
  auto rows = nlohmann::json::array();
  for (const auto& name : settings.loads) {
    const IndexLoad load = index_load(name, comm.rank(), comm.size());
    const Samples samples = measure(comm, load, settings);
    auto map = AccessMap::make(comm, load.distribution, load.indices);
    const auto summary = map.describe();
    rows.push_back({{"load", name},
                    {"components", settings.components},
                    {"positions", mpi::sum(comm, summary.positions)},
                    {"values_sent", mpi::sum(comm, summary.sent)},
                    {"samples_s", samples}});
    if (comm.is_root()) fmt::print(stderr, "{}\n", name);
  }
  return {{"mpi", mpi::Environment::library_version()}, {"ranks", comm.size()}, {"rows", rows}};
}

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
  app.add_option("--counts", settings.counts, "Count on the mesh of this class of UA, measure nothing");
  app.add_option("--ranks", settings.ranks, "Numbers of ranks to count for")->check(CLI::PositiveNumber);
  CLI11_PARSE(app, argc, argv);
  if (settings.counts != ' ' && !world.is_root()) return 0;
  const auto found = settings.counts != ' ' ? count_rules(settings) : time_loads(world, settings);
  if (world.is_root()) fmt::print("{}\n", found.dump(1));
  return 0;
} catch (const std::exception& error) {
  fmt::print(stderr, "tailrace-bench-exchange: error: {}\n", error.what());
  mpi::Environment::abort(2);
}
