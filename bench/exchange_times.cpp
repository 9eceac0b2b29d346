// SPDX-License-Identifier: BSD-3-Clause
#include "exchange_times.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <utility>

#include "base/random.hpp"
#include "base/system.hpp"
#include "exchange/line.hpp"
#include "exchange_peers.hpp"
#include "peers/libraries.hpp"
#include "tailrace/error.hpp"
#include "tailrace/exchange/access_map.hpp"

namespace tailrace::bench {

namespace {

using exchange::AccessMap;
using exchange::Order;

/// Seconds of an action that all ranks begin together, of the slowest rank.
template <class Action>
double timed(mpi::CommView comm, Action action) {
  mpi::barrier(comm);
  const double start_s = monotonic_s();
  action();
  return mpi::max(comm, monotonic_s() - start_s);
}

using Samples = std::map<std::string, std::vector<double>>;

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

struct Contestant {
  std::string name;
  std::unique_ptr<AccessMap> map;
  std::vector<double> x;
};

/// Everything that is named, with what a map is made with. Sums of words are added as all others.
std::map<std::string, exchange::AccessOptions> named_options() {
  std::map<std::string, exchange::AccessOptions> all{
      {"auto", {}}, {"rma-lock-words", {.transport = "rma-lock", .aggregate = false}}};
  for (const auto& transport : exchange::transports())
    if (transport.obstacle.empty())
      all[std::string(transport.name)] = {.transport = std::string(transport.name),
                                          .order = transport.open_sums ? Order::fast : Order::fixed};
  return all;
}

std::vector<Contestant> contestants(mpi::CommView comm, const IndexLoad& load, int components,
                                    Samples& samples) {
  std::vector<Contestant> all;
  for (const auto& [name, options] : named_options()) {
    Contestant one{name, nullptr, {}};
    samples["build " + name].push_back(timed(comm, [&, &options = options] {
      one.map = std::make_unique<AccessMap>(AccessMap::make(comm, load.distribution, load.indices, options));
    }));
    one.x.resize(static_cast<std::size_t>(one.map->array_size() * components));
    all.push_back(std::move(one));
  }
  return all;
}

/// Another way to do the same, by hand or by a library.
struct OtherWay {
  std::string name;
  std::unique_ptr<HandWritten> way;
  std::vector<double> x;
};

std::vector<OtherWay> make_ways(mpi::CommView comm, const std::string& kind,
                                const std::vector<NamedPeer>& peers, std::size_t numbers, Samples& samples) {
  std::vector<OtherWay> ways;
  for (const auto& [name, make] : peers) {
    OtherWay one{kind + name, nullptr, std::vector<double>(numbers)};
    samples["build " + one.name].push_back(timed(comm, [&] { one.way = make(); }));
    ways.push_back(std::move(one));
  }
  return ways;
}

/// What a way does wrong, or nothing: it brings other values than a map does, or adds up others. The same on
/// all ranks.
std::string fault_of(mpi::CommView comm, OtherWay& one, std::vector<double> x,
                     const std::vector<double>& gathered, const std::vector<double>& summed,
                     std::size_t owned) {
  one.way->gather(x);
  if (mpi::min(comm, std::int64_t{x == gathered}) == 0) return "brings wrong values";
  const bool adds = one.way->scatter_add(x);
  const bool right = !adds || std::equal(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(owned),
                                         summed.begin());  // whole numbers: exact in any order
  return mpi::min(comm, std::int64_t{right}) == 0 ? "adds up wrongly" : "";
}

/// Refuses ways by hand that do something else than a map does; leaves out those of libraries, and names
/// them.
nlohmann::json check_ways(mpi::CommView comm, const IndexLoad& load, int components,
                          const Contestant& contestant, std::vector<OtherWay>& ways) {
  auto gathered = contestant.x;
  const auto owned = static_cast<std::size_t>(contestant.map->owned() * components);
  for (std::size_t i = 0; i < owned; ++i)
    gathered[i] = static_cast<double>(i) + 1e7 * (comm.rank() + 1) + load.distribution.ranks();
  const auto before = gathered;
  contestant.map->begin_gather(contestant.map->view(std::span(gathered), components)).finish();
  auto summed = gathered;
  contestant.map->begin_scatter_add(contestant.map->view(std::span(summed), components)).finish();
  auto faults = nlohmann::json::object();
  std::erase_if(ways, [&](OtherWay& one) {
    const auto fault = fault_of(comm, one, before, gathered, summed, owned);
    if (fault.empty()) return false;
    if (!one.name.starts_with("by library"))
      throw Error(ErrorKind::internal, "the exchange " + one.name + " " + fault);
    faults[one.name] = "left out: " + fault;
    return true;
  });
  return faults;
}

/// Contributions of each position in each order, all by the same transport.
void time_orders(mpi::CommView comm, const IndexLoad& load, const TimingSettings& settings,
                 Samples& samples) {
  const std::map<std::string, Order> orders{
      {"fast", Order::fast}, {"fixed", Order::fixed}, {"partition_free", Order::partition_free}};
  const std::vector<double> values(load.indices.size() * static_cast<std::size_t>(settings.components), 1.0);
  std::map<std::string, Contestant> maps;
  for (const auto& [name, order] : orders) {
    auto& one = maps[name];
    one.map = std::make_unique<AccessMap>(
        AccessMap::make(comm, load.distribution, load.indices, {.transport = "persistent", .order = order}));
    one.x.resize(static_cast<std::size_t>(one.map->array_size() * settings.components));
  }
  auto given = values;
  for (int round = -2; round < settings.rounds; ++round)
    for (auto& [name, one] : maps) {
      const exchange::Contribution contribution{exchange::field(std::span(given), settings.components),
                                                one.map->view(std::span(one.x), settings.components)};
      const double taken_s = timed(comm, [&] { one.map->begin_scatter_add(contribution).finish(); });
      if (round >= 0) samples["order " + name].push_back(taken_s);
    }
}

/// A computation of so many seconds in parts, between which the flight may continue.
void compute(double seconds, exchange::Flight* flight) {
  constexpr int parts = 4;
  const double start_s = monotonic_s();
  for (int part = 1; part <= parts; ++part) {
    while (monotonic_s() - start_s < seconds * part / parts) {
    }
    if (flight != nullptr && part < parts) flight->progress();
  }
}

/// The computation takes as long as an exchange: both one after the other would be 2, hidden wholly 1.
void time_overlap(mpi::CommView comm, Contestant& one, int rounds, int components, Samples& samples) {
  const auto field = one.map->view(std::span(one.x), components);
  const double exchange_s = median(samples["gather " + one.name]);
  for (int round = 0; round < rounds; ++round) {
    samples["alone " + one.name].push_back(timed(comm, [&] { one.map->begin_gather(field).finish(); }));
    const double cost_before_s = one.map->counts().cost_s;
    samples["overlapped " + one.name].push_back(timed(comm, [&] {
      auto flight = one.map->begin_gather(field);
      compute(exchange_s, &flight);
      flight.finish();
    }));
    // Messages had come meanwhile: what the flight still took is packing and copying, on the same core.
    samples["copied " + one.name].push_back(mpi::max(comm, one.map->counts().cost_s - cost_before_s));
    samples["computed " + one.name].push_back(timed(comm, [&] { compute(exchange_s, nullptr); }));
  }
}

void time_rebuilds(mpi::CommView comm, const IndexLoad& load, int rounds, Contestant& one, Samples& samples) {
  constexpr int most = 5;  // a build takes as long as several exchanges
  for (int round = 0; round < std::min(rounds, most); ++round) {
    samples["rebuild " + one.name].push_back(
        timed(comm, [&] { one.map->rebuild(load.distribution, load.indices); }));
    samples["make " + one.name].push_back(timed(comm, [&] {
      const auto made = AccessMap::make(comm, load.distribution, load.indices, {.transport = one.name});
      static_cast<void>(made);
    }));
  }
}

struct Measured {
  Samples samples;
  nlohmann::json libraries, chosen;
};

/// A gather and a scatter-add of one who takes part in a round; each has an array of its own, which it has
/// just written, as a computation would have.
void run_contestant(mpi::CommView comm, Contestant& one, int components, bool keep, Samples& samples) {
  std::fill(one.x.begin(), one.x.end(), 0);
  const auto field = one.map->view(std::span(one.x), components);
  const double gathered_s = timed(comm, [&] { one.map->begin_gather(field).finish(); });
  const double added_s = timed(comm, [&] { one.map->begin_scatter_add(field).finish(); });
  if (!keep) return;
  samples["gather " + one.name].push_back(gathered_s);
  samples["scatter_add " + one.name].push_back(added_s);
}

void run_way(mpi::CommView comm, OtherWay& one, bool keep, Samples& samples) {
  std::fill(one.x.begin(), one.x.end(), 0);
  bool adds = false;
  const double gathered_s = timed(comm, [&] { one.way->gather(one.x); });
  const double added_s = timed(comm, [&] { adds = one.way->scatter_add(one.x); });
  if (!keep) return;
  samples[one.name].push_back(gathered_s);
  if (adds) samples["scatter_add " + one.name].push_back(added_s);
}

/// Who takes part, in another order in each round, the same on all ranks.
std::vector<std::size_t> order_of_round(std::size_t count, int round) {
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  SplitMix64 random(static_cast<std::uint64_t>(round) + 1000);
  for (std::size_t i = count; i > 1; --i) std::swap(order[i - 1], order[random.next() % i]);
  return order;
}

/// Rounds in which all take part. `auto` chooses in the first ones, under the same conditions as later; what
/// takes long joins for the last of them.
void run_rounds(mpi::CommView comm, std::vector<Contestant>& all, std::vector<OtherWay>& ways,
                const TimingSettings& settings, Samples& samples) {
  constexpr int warm_up = 60, of_slow = 5;
  for (int round = -warm_up; round < settings.rounds; ++round)
    for (const std::size_t which : order_of_round(all.size() + ways.size(), round + warm_up)) {
      const bool is_map = which < all.size();
      const bool slow = is_map ? all[which].name.ends_with("-words")
                               : ways[which - all.size()].name.starts_with("by library");
      if (slow && round < -of_slow) continue;
      if (is_map)
        run_contestant(comm, all[which], settings.components, round >= 0, samples);
      else
        run_way(comm, ways[which - all.size()], round >= 0, samples);
    }
}

/// What `auto` has chosen for each kind of flight.
nlohmann::json choices_of(const AccessMap& map) {
  auto found = nlohmann::json::object();
  for (const auto& choice : map.choices())
    for (const auto& timing : choice.timings)
      if (timing.chosen) found[choice.flights] = timing.name;
  return found;
}

Measured measure(mpi::CommView comm, const IndexLoad& load, const TimingSettings& settings) {
  Measured found;
  Samples& samples = found.samples;
  auto all = contestants(comm, load, settings.components, samples);
  Contestant& automatic = all.front();  // the first by name
  const std::size_t numbers = automatic.x.size();
  auto ways = make_ways(comm, "by hand ", hand_written(comm, load, settings.components), numbers, samples);
  for (const Library& library : libraries(comm, load, settings.components)) {
    found.libraries[library.name] = library.version;
    for (auto& way : make_ways(comm, "by library ", library.peers, numbers, samples))
      ways.push_back(std::move(way));
  }
  found.libraries.update(check_ways(comm, load, settings.components, automatic, ways));
  run_rounds(comm, all, ways, settings, samples);
  found.chosen = choices_of(*automatic.map);
  time_overlap(comm, automatic, settings.rounds, settings.components, samples);
  time_orders(comm, load, settings, samples);
  for (auto& one : all)
    if (one.name == "persistent") time_rebuilds(comm, load, settings.rounds, one, samples);
  return found;
}

}  // namespace

nlohmann::json time_loads(mpi::CommView comm, const TimingSettings& settings) {
  auto rows = nlohmann::json::array();
  for (const auto& name : settings.loads) {
    const IndexLoad load = index_load(name, comm.rank(), comm.size());
    const Measured found = measure(comm, load, settings);
    auto map = AccessMap::make(comm, load.distribution, load.indices);
    const auto summary = map.describe();
    rows.push_back({{"load", name},
                    {"components", settings.components},
                    {"positions", mpi::sum(comm, summary.positions)},
                    {"values_sent", mpi::sum(comm, summary.sent)},
                    {"libraries", found.libraries},
                    {"chosen", found.chosen},
                    {"samples_s", found.samples}});
    if (comm.is_root()) fmt::print(stderr, "{}\n", name);
  }
  return {{"mpi", mpi::Environment::library_version()}, {"ranks", comm.size()}, {"rows", rows}};
}

}  // namespace tailrace::bench
