// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>
#include <vector>

#include "base/system.hpp"
#include "exchange/choice.hpp"
#include "mpi/node.hpp"
#include "tailrace/error.hpp"

/// Sends messages around a ring of its ranks by each transport of exchanges, and says as JSON which of them
/// are right here, how long a gather takes with each, and what is wrong with the others: what `tailrace
/// doctor` shows.
namespace tailrace::exchange {
namespace {

/// What is known of a transport: as `auto` would find it, or for one that `auto` leaves alone as it is built.
std::string obstacle_of(const Transport& transport, const std::vector<TransportTiming>& probed) {
  for (const auto& one : probed)
    if (one.name == transport.name) return one.obstacle;
  return std::string(transport.obstacle);
}

constexpr std::int64_t values = 1000;

/// Seconds for a gather in which every rank reads all values of the next one: the median over rounds of the
/// slowest rank. @collective{world}
double gather_s(mpi::CommView world, const Transport& transport) {
  constexpr std::size_t rounds = 21;
  const int next = (world.rank() + 1) % world.size();
  std::vector<std::int64_t> indices(static_cast<std::size_t>(values));
  std::iota(indices.begin(), indices.end(), values * next);
  auto map = AccessMap::make(world, Block(values * world.size(), world.size()), indices,
                             {.transport = std::string(transport.name), .order = Order::fast});
  std::vector<double> x(static_cast<std::size_t>(map.array_size())), times;
  for (std::size_t round = 0; round < rounds; ++round) {
    mpi::barrier(world);
    const double start_s = monotonic_s();
    map.begin_gather(map.view(std::span(x))).finish();
    times.push_back(mpi::max(world, monotonic_s() - start_s));
  }
  std::nth_element(times.begin(), times.begin() + rounds / 2, times.end());
  return times[rounds / 2];
}

nlohmann::json answer(mpi::CommView world) {
  const mpi::Node node(world);
  const auto probed = probe(world, node);
  auto list = nlohmann::json::array();
  for (const Transport& transport : transports()) {
    const auto obstacle = obstacle_of(transport, probed);
    list.push_back({{"name", transport.name},
                    {"description", transport.description},
                    {"obstacle", obstacle},
                    {"chosen_by_auto", !transport.ablation}});
    if (obstacle.empty()) list.back()["gather_s"] = gather_s(world, transport);
  }
  return {{"ranks", world.size()}, {"values", values}, {"transports", list}};
}

}  // namespace
}  // namespace tailrace::exchange

int main(int argc, char** argv) {
  using namespace tailrace;
  const mpi::Environment environment(argc, argv);
  try {
    const auto found = exchange::answer(environment.world());
    if (environment.world().is_root()) say(stdout, found.dump(2) + "\n");
    return 0;
  } catch (const Error& error) {
    say(stderr, fmt::format("tailrace-transports: {}. Fix: {}\n", error.info().message, error.info().hint));
    mpi::Environment::abort(3);
  }
}
