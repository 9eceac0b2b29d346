// SPDX-License-Identifier: BSD-3-Clause
// What moving molecules between ranks costs in a step, without forces: packing, messages and unpacking of the
// halo, and of the molecules that leave; and finding a new decomposition. Best and median of rounds, the
// slowest rank.
//   mpirun -n 2 bench-molecules-exchange [MOLECULES_PER_RANK [DENSITY [REACH [ROUNDS]]]]
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "balancer.hpp"
#include "base/bytes.hpp"
#include "base/system.hpp"
#include "exchange.hpp"

using namespace tailrace;
using namespace tailrace::molecules;

namespace {

struct Settings {
  int molecules_per_rank = 16000;
  double density = 0.8442, reach = 2.5;
  int rounds = 200;
};

Settings settings_of(int argc, char** argv) {
  Settings settings;
  if (argc > 1) settings.molecules_per_rank = std::stoi(argv[1]);
  if (argc > 2) settings.density = std::stod(argv[2]);
  if (argc > 3) settings.reach = std::stod(argv[3]);
  if (argc > 4) settings.rounds = std::stoi(argv[4]);
  return settings;
}

/// Describes what a copy of a molecule with one centre is.
struct Copy {
  Vec3 position{};
  std::uint64_t id = 0;
};

std::vector<Molecule> molecules_in(const Region& region, int count, int rank) {
  std::mt19937_64 draw(static_cast<unsigned>(rank));
  std::vector<Molecule> molecules(static_cast<std::size_t>(count));
  for (Molecule& molecule : molecules) {
    for (std::size_t d = 0; d < 3; ++d)
      molecule.position[d] = std::uniform_real_distribution<double>(region.low[d], region.high[d])(draw);
    molecule.id = draw();
  }
  return molecules;
}

/// Times rounds of an action that all ranks do together; prints microseconds of the slowest rank.
void report(mpi::CommView comm, const std::string& what, int rounds, const std::function<void()>& action) {
  std::vector<double> times_us;
  for (int round = 0; round < rounds; ++round) {
    mpi::barrier(comm);
    const double start_s = monotonic_s();
    action();
    times_us.push_back(mpi::max(comm, (monotonic_s() - start_s) * 1e6));
  }
  std::ranges::sort(times_us);
  if (comm.is_root())
    fmt::print("{:<36}{:>10.1f} us best{:>10.1f} us median\n", what, times_us.front(),
               times_us[times_us.size() / 2]);
}

void measure_halo(mpi::CommView comm, const Settings& settings, Exchange& exchange,
                  const std::vector<Molecule>& own) {
  // A container knows from its cells which molecules a target wants: the search is not part of this.
  std::vector<std::vector<Copy>> wanted;
  std::int64_t halo = 0;
  for (const HaloTarget& target : exchange.targets()) {
    auto& list = wanted.emplace_back();
    for (const Molecule& molecule : own)
      if (target.region.contains(molecule.position))
        list.push_back({molecule.position + target.shift, molecule.id});
    halo += static_cast<std::int64_t>(list.size());
  }
  std::vector<Copy> received(static_cast<std::size_t>(2 * halo));
  const auto pack = [&](const HaloTarget& target, std::vector<std::byte>& out) {
    const auto number = static_cast<std::size_t>(&target - exchange.targets().data());
    append_bytes(out, std::as_bytes(std::span(wanted[number])));
  };
  report(comm, fmt::format("halo, {} copies", halo), settings.rounds, [&] {
    exchange.start_halo(pack);
    auto* next = reinterpret_cast<std::byte*>(received.data());
    exchange.finish_halo(pack, [&](std::span<const std::byte> bytes) {
      if (!bytes.empty()) std::memcpy(next, bytes.data(), bytes.size());
      next += bytes.size();
    });
  });
}

void measure_migration(mpi::CommView comm, const Settings& settings, Exchange& exchange,
                       const std::vector<Molecule>& own) {
  // A step moves them by about a hundredth of the reach.
  std::vector<Molecule> leavers;
  for (Molecule moved : own) {
    for (double& x : moved.position) x += 0.01 * settings.reach;
    if (!exchange.decomposition().region(comm.rank()).contains(moved.position)) leavers.push_back(moved);
  }
  report(comm, fmt::format("migration, {} leavers", leavers.size()), settings.rounds,
         [&] { static_cast<void>(exchange.migrate(leavers)); });
}

void measure_balance(mpi::CommView comm, const Settings& settings, const Exchange& exchange,
                     const std::vector<Molecule>& own) {
  const Balancer balancer(comm, exchange.decomposition().box(), settings.reach, {});
  report(comm, fmt::format("decomposition, {} cells", balancer.grid().volume()), 10, [&] {
    CellCounter counter(balancer.grid(), exchange.decomposition().region(comm.rank()));
    for (const Molecule& molecule : own) counter.add(molecule.position);
    static_cast<void>(balancer.plan(counter));
  });
}

void measure(mpi::CommView comm, const Settings& settings) {
  const double edge = std::cbrt(settings.molecules_per_rank * comm.size() / settings.density);
  Exchange exchange(comm, Decomposition::regular({edge, edge, edge}, comm.size()), settings.reach);
  const auto own =
      molecules_in(exchange.decomposition().region(comm.rank()), settings.molecules_per_rank, comm.rank());
  measure_halo(comm, settings, exchange, own);
  measure_migration(comm, settings, exchange, own);
  measure_balance(comm, settings, exchange, own);
  if (comm.is_root())
    fmt::print("{} messages to rank 0's neighbours in a round, {} bytes for messages\n", exchange.partners(),
               exchange.memory_bytes());
}

}  // namespace

int main(int argc, char** argv) {
  mpi::Environment environment(argc, argv);
  measure(environment.world(), settings_of(argc, argv));
}
