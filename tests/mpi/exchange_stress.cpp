// SPDX-License-Identifier: BSD-3-Clause
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "exchange_transports.hpp"
#include "mpi_case.hpp"
#include "tailrace/exchange/access_map.hpp"

using namespace tailrace;
using namespace tailrace::exchange;

namespace {

/// An epoch: a space of random size with a random distribution, and random indices, all functions of its
/// number, so that every rank knows those of all ranks.
struct Epoch {
  std::uint64_t number;
  int ranks;

  [[nodiscard]] SplitMix64 random(int rank) const {
    return SplitMix64(number * 1009 + static_cast<std::uint64_t>(rank + 1));
  }
  [[nodiscard]] std::int64_t size() const { return static_cast<std::int64_t>(random(-1).next() % 400 + 1); }
  [[nodiscard]] Distribution distribution() const {
    const std::int64_t n = size();
    if (number % 3 == 0) return Block(n, ranks);
    if (number % 3 == 1) return Cyclic(n, ranks);
    return DoubleBlock(n / 3, n - n / 3, ranks);
  }
  [[nodiscard]] std::vector<std::int64_t> indices(int rank) const {
    auto of_rank = random(rank);
    std::vector<std::int64_t> list(of_rank.next() % 120);
    for (auto& index : list)
      index = static_cast<std::int64_t>(of_rank.next() % static_cast<std::uint64_t>(size()));
    return list;
  }
  /// The value of an index, and the contribution of a position. Sums are taken modulo 2^64.
  [[nodiscard]] std::int64_t value(std::int64_t index) const {
    return static_cast<std::int64_t>(SplitMix64(number ^ static_cast<std::uint64_t>(index) << 20U).next() >>
                                     8U);
  }
  [[nodiscard]] std::int64_t contribution(int rank, std::size_t position) const {
    return static_cast<std::int64_t>(
        SplitMix64(number + 7919 * static_cast<std::uint64_t>(rank) + (position << 32U)).next() >> 40U);
  }
};

/// How many positions do not have the value of their index after a gather.
int wrong_after_gather(AccessMap& map, const Epoch& epoch, int rank) {
  const auto distribution = epoch.distribution();
  const auto indices = epoch.indices(rank);
  std::vector<std::int64_t> x(static_cast<std::size_t>(map.array_size()), -1);
  for (std::int64_t local = 0; local < map.owned(); ++local)
    x[static_cast<std::size_t>(local)] = epoch.value(distribution.global(rank, local));
  map.begin_gather(map.view(std::span(x))).finish();
  int wrong = 0;
  for (std::size_t i = 0; i < indices.size(); ++i)
    wrong += x[static_cast<std::size_t>(map.slots()[i])] != epoch.value(indices[i]);
  return wrong;
}

/// How far the weighted sum of all owners' sums is from that of all contributions, which needs no map.
std::int64_t difference_after_scatter(mpi::CommView comm, AccessMap& map, const Epoch& epoch) {
  const auto weight = [](std::int64_t index) { return index % 97 + 1; };
  const int rank = comm.rank();
  const auto indices = epoch.indices(rank);
  std::vector<std::int64_t> values;
  for (std::size_t i = 0; i < indices.size(); ++i) values.push_back(epoch.contribution(rank, i));
  std::vector<std::int64_t> sums(static_cast<std::size_t>(map.array_size()));
  map.begin_scatter_add(Contribution{field(std::span(values)), map.view(std::span(sums))}).finish();
  std::int64_t here = 0;
  for (std::size_t i = 0; i < indices.size(); ++i) here += weight(indices[i]) * values[i];
  const auto distribution = epoch.distribution();
  for (std::int64_t local = 0; local < map.owned(); ++local)
    here -= weight(distribution.global(rank, local)) * sums[static_cast<std::size_t>(local)];
  return mpi::sum(comm, here);
}

void run_epochs(mpi::CommView comm, std::uint64_t first, std::uint64_t epochs) {
  constexpr std::uint64_t epochs_of_a_map = 50;
  std::vector<std::string> names{"auto"};  // which is the one that the environment names, where it does
  for (const Transport& transport : test::usable_transports()) names.emplace_back(transport.name);
  std::optional<AccessMap> map;
  for (std::uint64_t number = first; number < first + epochs; ++number) {
    const Epoch epoch{number, comm.size()};
    const auto indices = epoch.indices(comm.rank());
    const std::uint64_t life = number / epochs_of_a_map;
    if (number % epochs_of_a_map == 0) {
      const std::string& name = names[life % names.size()];
      const bool as_they_come = name != "auto" && find_transport(name).open_sums != nullptr;
      map.emplace(AccessMap::make(
          comm, epoch.distribution(), indices,
          {.transport = name, .order = as_they_come ? Order::fast : static_cast<Order>(life % 3)}));
    } else {
      map->rebuild(epoch.distribution(), indices);
    }
    REQUIRE(wrong_after_gather(*map, epoch, comm.rank()) == 0);
    REQUIRE(difference_after_scatter(comm, *map, epoch) == 0);
  }
}

}  // namespace

MPI_CASE("epochs of random maps, each checked by sums that need no map", ranks{1, 3}) {
  run_epochs(comm, 0, 60);
}

MPI_CASE("full: ten thousand epochs of random maps", ranks{1, 2, 4}) {
  run_epochs(comm, 0, 10000);
}
// In quarters: more ranks than cores take their time.
MPI_CASE("full: ten thousand epochs of random maps, first quarter", ranks{3, 7}) {
  run_epochs(comm, 0, 2500);
}
MPI_CASE("full: ten thousand epochs of random maps, second quarter", ranks{3, 7}) {
  run_epochs(comm, 2500, 2500);
}
MPI_CASE("full: ten thousand epochs of random maps, third quarter", ranks{3, 7}) {
  run_epochs(comm, 5000, 2500);
}
MPI_CASE("full: ten thousand epochs of random maps, last quarter", ranks{3, 7}) {
  run_epochs(comm, 7500, 2500);
}
