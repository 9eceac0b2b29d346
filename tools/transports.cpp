// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/system.hpp"
#include "exchange/choice.hpp"
#include "mpi/node.hpp"
#include "tailrace/error.hpp"

/// Sends messages around a ring of its ranks by each transport of exchanges, and says as JSON which of them
/// are right here and what is wrong with the others: what `tailrace doctor` shows.
namespace tailrace::exchange {
namespace {

/// What is known of a transport: as `auto` would find it, or for one that `auto` leaves alone as it is built.
std::string obstacle_of(const Transport& transport, const std::vector<TransportTiming>& probed) {
  for (const auto& one : probed)
    if (one.name == transport.name) return one.obstacle;
  return std::string(transport.obstacle);
}

nlohmann::json answer(mpi::CommView world) {
  const mpi::Node node(world);
  const auto probed = probe(world, node);
  auto list = nlohmann::json::array();
  for (const Transport& transport : transports())
    list.push_back({{"name", transport.name},
                    {"description", transport.description},
                    {"obstacle", obstacle_of(transport, probed)},
                    {"chosen_by_auto", !transport.ablation}});
  return {{"ranks", world.size()}, {"transports", list}};
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
