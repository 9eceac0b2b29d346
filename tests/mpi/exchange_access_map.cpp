// SPDX-License-Identifier: BSD-3-Clause
#include "tailrace/exchange/access_map.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.hpp"
#include "base/system.hpp"
#include "environment.hpp"
#include "error_of.hpp"
#include "exchange_transports.hpp"
#include "mpi_case.hpp"
#include "tailrace/error.hpp"

using namespace tailrace;
using namespace tailrace::exchange;
using test::usable_transports;

namespace {

using Indices = std::vector<std::int64_t>;

/// Who reads what: a function of the rank, so that every rank knows all of it.
struct Pattern {
  std::string name;
  std::int64_t size;
  Indices (*indices)(std::int64_t size, int rank, int ranks);
};

Indices random_of(std::int64_t size, int rank, int ranks) {
  SplitMix64 random(static_cast<std::uint64_t>(rank) * 977 + static_cast<std::uint64_t>(ranks));
  Indices indices(random.next() % 200);
  for (auto& index : indices)
    index = static_cast<std::int64_t>(random.next() % static_cast<std::uint64_t>(size));
  return indices;
}

const std::vector<Pattern>& patterns() {
  static const std::vector<Pattern> list{
      {"random", 150, random_of},
      {"fewer indices than ranks", 3, random_of},
      {"one word per peer", 70,
       [](std::int64_t size, int rank, int ranks) {
         Indices indices;
         for (int other = 0; other < ranks; ++other) indices.push_back((size * other + rank) / ranks % size);
         return indices;
       }},
      {"own values only", 40,
       [](std::int64_t size, int rank, int ranks) {
         const Block block(size, ranks);
         Indices indices;
         for (std::int64_t i = 0; i < block.count(rank); ++i) indices.push_back(block.global(rank, i));
         return indices;
       }},
      {"all of the first rank", 40,
       [](std::int64_t size, int, int ranks) {
         Indices indices;
         for (std::int64_t i = 0; i < Block(size, ranks).count(0); ++i) indices.push_back(i);
         return indices;
       }},
      {"the last rank reads all", 40,
       [](std::int64_t size, int rank, int ranks) {
         Indices indices;
         for (std::int64_t i = size; rank == ranks - 1 && i > 0; --i) indices.push_back(i - 1);
         return indices;
       }},
      {"ranks without neighbours", 60,
       [](std::int64_t size, int rank, int ranks) {
         return rank % 3 == 1 ? Indices{size - 1 - (rank + ranks) % 2, 0, 0} : Indices{};
       }},
      {"nobody reads", 10, [](std::int64_t, int, int) { return Indices{}; }}};
  return list;
}

std::vector<Distribution> distributions(std::int64_t size, int ranks) {
  return {Block(size, ranks), Cyclic(size, ranks), ReversedDoubleBlock(size / 3, size - size / 3, ranks)};
}

std::int64_t value_of(std::int64_t index, int component) {
  return 1000 * index + component + 1;
}

template <class T>
void fill_owned(std::vector<T>& array, const Distribution& distribution, int rank, int components) {
  for (std::int64_t local = 0; local < distribution.count(rank); ++local)
    for (int c = 0; c < components; ++c)
      array[static_cast<std::size_t>(local * components + c)] =
          static_cast<T>(value_of(distribution.global(rank, local), c));
}

/// How many positions of an array do not have the value of their index.
template <class T>
int wrong_values(const AccessMap& map, const Indices& indices, const std::vector<T>& array, int components) {
  int wrong = 0;
  for (std::size_t i = 0; i < indices.size(); ++i)
    for (int c = 0; c < components; ++c)
      wrong += array[static_cast<std::size_t>(map.slots()[i]) * static_cast<std::size_t>(components) +
                     static_cast<std::size_t>(c)] != static_cast<T>(value_of(indices[i], c));
  return wrong;
}

template <class T>
std::vector<T> array_for(const AccessMap& map, int components = 1) {
  return std::vector<T>(static_cast<std::size_t>(map.array_size() * components));
}

/// What a position contributes: whole numbers, so that sums are exact in any order.
std::int64_t contribution_of(int rank, std::size_t position) {
  return 7 * rank + static_cast<std::int64_t>(position) % 13 + 1;
}

/// What all ranks together contribute to the values of one.
std::vector<std::int64_t> sums_for(const Pattern& pattern, const Distribution& distribution, int rank) {
  std::vector<std::int64_t> sums(static_cast<std::size_t>(distribution.count(rank)));
  for (int other = 0; other < distribution.ranks(); ++other) {
    const auto indices = pattern.indices(pattern.size, other, distribution.ranks());
    for (std::size_t i = 0; i < indices.size(); ++i)
      if (distribution.is_local(indices[i], rank))
        sums[static_cast<std::size_t>(distribution.local(indices[i]))] += contribution_of(other, i);
  }
  return sums;
}

void check_gather(AccessMap& map, const Distribution& distribution, const Indices& indices, int rank) {
  auto x = array_for<double>(map), y = array_for<double>(map);
  auto k = array_for<std::int32_t>(map, 3);
  fill_owned(x, distribution, rank, 1);
  y = x;
  fill_owned(k, distribution, rank, 3);
  map.begin_gather(map.view(std::span(x))).finish();
  CHECK(wrong_values(map, indices, x, 1) == 0);
  const std::vector<Field> both{map.view(std::span(y)), map.view(std::span(k), 3)};
  map.begin_gather(both).finish();
  CHECK(wrong_values(map, indices, y, 1) == 0);
  CHECK(wrong_values(map, indices, k, 3) == 0);
}

void check_scatter(AccessMap& map, const std::vector<std::int64_t>& expected, const Indices& indices,
                   int rank, bool single) {
  std::vector<std::int64_t> values;
  for (std::size_t i = 0; i < indices.size(); ++i) values.push_back(contribution_of(rank, i));
  auto sums = array_for<std::int64_t>(map);
  if (single) {
    map.begin_scatter_add(Contribution{field(std::span(values)), map.view(std::span(sums))}).finish();
  } else {
    for (std::size_t i = 0; i < indices.size(); ++i)
      sums[static_cast<std::size_t>(map.slots()[i])] += values[i];
    map.begin_scatter_add(map.view(std::span(sums))).finish();
  }
  CHECK(std::equal(expected.begin(), expected.end(), sums.begin()));
}

AccessMap map_of(mpi::CommView comm, const Distribution& distribution, const Indices& indices,
                 const std::string& transport, Order order = Order::fixed) {
  return AccessMap::make(comm, distribution, indices, {.transport = transport, .order = order});
}

/// What a transport that combines as contributions come can be asked for.
Order order_for(const Transport& transport, Order wanted) {
  return transport.open_sums != nullptr ? Order::fast : wanted;
}

AccessMap map_by(mpi::CommView comm, const Distribution& distribution, const Indices& indices,
                 const Transport& transport) {
  return map_of(comm, distribution, indices, std::string(transport.name), order_for(transport, Order::fixed));
}

constexpr std::array orders{Order::fast, Order::fixed, Order::partition_free};

void check_pattern(mpi::CommView comm, const Transport& transport, const Pattern& pattern,
                   const Distribution& distribution, Order wanted) {
  const Order order = order_for(transport, wanted);
  CAPTURE(transport.name);
  CAPTURE(pattern.name);
  const auto indices = pattern.indices(pattern.size, comm.rank(), comm.size());
  const auto expected = sums_for(pattern, distribution, comm.rank());
  auto map = map_of(comm, distribution, indices, std::string(transport.name), order);
  check_gather(map, distribution, indices, comm.rank());
  if (order != Order::partition_free) check_scatter(map, expected, indices, comm.rank(), false);
  check_scatter(map, expected, indices, comm.rank(), true);
}

/// Numbers of very different sizes, whose sums depend on the order.
double uneven_value(std::size_t position) {
  SplitMix64 random(position + 1);
  return std::ldexp(random.unit() - 0.5, static_cast<int>(random.next() % 60));
}

}  // namespace

MPI_CASE("all patterns are gathered and scattered by every transport, in every order",
         shared_by{1, 2, 3, 4, 7}) {
  // Each pair of transport and pattern is for odd or for even numbers; distributions and orders take turns.
  auto turn = static_cast<std::size_t>(comm.size());
  for (const Transport& transport : usable_transports())
    for (const Pattern& pattern : patterns()) {
      const auto mine = turn++;
      if (mine % 2 == 1) continue;
      const auto all = distributions(pattern.size, comm.size());
      check_pattern(comm, transport, pattern, all[mine % all.size()],
                    orders[mine / all.size() % orders.size()]);
    }
}

namespace {

/// All patterns with every transport, distribution and order, with so many ranks to a node.
void check_all(mpi::CommView comm, int per_node) {
  const test::RanksPerNode nodes(per_node);
  for (const Transport& transport : usable_transports())
    for (const Pattern& pattern : patterns())
      for (const Distribution& distribution : distributions(pattern.size, comm.size()))
        for (const Order order : orders)
          if (order == order_for(transport, order))
            check_pattern(comm, transport, pattern, distribution, order);
}

}  // namespace

MPI_CASE("full: all patterns by every transport, in every order, one rank to a node", ranks{2, 3, 4, 7}) {
  check_all(comm, 1);
}
MPI_CASE("full: all patterns by every transport, in every order, two ranks to a node", ranks{3, 4, 7}) {
  check_all(comm, 2);
}
MPI_CASE("full: all patterns by every transport, in every order, on one node", ranks{1, 2, 3, 4, 7}) {
  check_all(comm, 7);
}

MPI_CASE("ranks of one node exchange through memory, those of others by messages", ranks{2, 3, 4, 7}) {
  for (const int per_node : {1, 2}) {
    const test::RanksPerNode nodes(per_node);
    for (const Pattern& pattern : patterns())
      check_pattern(comm, find_transport("shared"), pattern, Cyclic(pattern.size, comm.size()), Order::fixed);
  }
}

MPI_CASE("partition_free adds in one global order, with the same bits on any number of ranks",
         ranks{1, 2, 3, 4, 7}) {
  constexpr std::int64_t size = 40, positions = 2000;
  const Block extents(positions, comm.size());
  Indices all;
  std::vector<double> values, expected(size);
  SplitMix64 random(3);
  for (std::int64_t i = 0; i < positions; ++i) {
    all.push_back(static_cast<std::int64_t>(random.next() % size));
    values.push_back(uneven_value(static_cast<std::size_t>(i)));
    expected[static_cast<std::size_t>(all.back())] += values.back();
  }
  const auto first = extents.global(comm.rank(), 0), count = extents.count(comm.rank());
  const Indices indices(all.begin() + first, all.begin() + first + count);
  std::vector<double> mine(values.begin() + first, values.begin() + first + count);
  for (const Transport& transport : usable_transports())
    for (const Distribution& distribution : distributions(size, comm.size())) {
      if (transport.open_sums != nullptr) continue;  // it has no order: see exchange_accumulate.cpp
      auto map = map_of(comm, distribution, indices, std::string(transport.name), Order::partition_free);
      auto sums = array_for<double>(map);
      map.begin_scatter_add(Contribution{field(std::span(mine)), map.view(std::span(sums))}).finish();
      int wrong = 0;
      for (std::int64_t local = 0; local < map.owned(); ++local)
        wrong += sums[static_cast<std::size_t>(local)] !=
                 expected[static_cast<std::size_t>(distribution.global(comm.rank(), local))];
      CHECK(wrong == 0);
    }
}

MPI_CASE("a scatter-add is the adjoint of a gather", ranks{1, 2, 3, 7}) {
  const auto indices = random_of(90, comm.rank(), comm.size());
  const Distribution distribution = Cyclic(90, comm.size());
  for (const Transport& transport : usable_transports()) {
    auto map = map_by(comm, distribution, indices, transport);
    auto x = array_for<std::int64_t>(map), sums = x;
    fill_owned(x, distribution, comm.rank(), 1);
    map.begin_gather(map.view(std::span(x))).finish();
    std::int64_t gathered = 0, scattered = 0;
    for (std::size_t i = 0; i < indices.size(); ++i) {
      const auto slot = static_cast<std::size_t>(map.slots()[i]);
      gathered += x[slot] * contribution_of(comm.rank(), i);
      sums[slot] += contribution_of(comm.rank(), i);
    }
    map.begin_scatter_add(map.view(std::span(sums))).finish();
    for (std::size_t local = 0; local < static_cast<std::size_t>(map.owned()); ++local)
      scattered += x[local] * sums[local];
    CHECK(mpi::sum(comm, gathered) == mpi::sum(comm, scattered));
  }
}

MPI_CASE("flights finish in another order than they began, and say what has arrived", ranks{2, 3, 7}) {
  const auto indices = random_of(90, comm.rank(), comm.size());
  const Distribution distribution = Block(90, comm.size());
  for (const Transport& transport : usable_transports()) {
    auto map = map_by(comm, distribution, indices, transport);
    auto x = array_for<double>(map), y = x, z = array_for<double>(map, 2);
    fill_owned(x, distribution, comm.rank(), 1);
    fill_owned(y, distribution, comm.rank(), 1);
    fill_owned(z, distribution, comm.rank(), 2);
    for (int round = 0; round < 3; ++round) {
      Flight first = map.begin_gather(map.view(std::span(x))),
             second = map.begin_gather(map.view(std::span(y))),
             third = map.begin_gather(map.view(std::span(z), 2));
      std::vector<int> arrivals;
      second.on_arrival([&](int rank) { arrivals.push_back(rank); });
      third.progress();
      third.finish();
      second.finish();
      first.finish();
      const auto again = test::error_info_of([&] { first.finish(); });
      CHECK((again.kind == ErrorKind::usage && again.message == "finish of a flight that has finished"));
      CHECK(static_cast<int>(arrivals.size()) == map.describe().reads_from);
    }
    CHECK(wrong_values(map, indices, x, 1) + wrong_values(map, indices, y, 1) +
              wrong_values(map, indices, z, 2) ==
          0);
    CHECK(map.counts().flights == 9);
    CHECK(map.counts().messages == 9 * map.describe().read_by);
  }
}

MPI_CASE("a map that is rebuilt has other owners, and refuses arrays of before", ranks{1, 2, 3, 7}) {
  for (const Transport& transport : usable_transports()) {
    auto indices = random_of(90, comm.rank(), comm.size());
    auto map = map_by(comm, Block(90, comm.size()), indices, transport);
    auto before = array_for<double>(map);
    const Field old = map.view(std::span(before));
    map.begin_gather(old).finish();
    const Distribution changed = Cyclic(120, comm.size());
    indices = random_of(120, comm.rank() + 1, comm.size());
    map.rebuild(changed, indices);
    CHECK(map.generation() == 2);
    check_gather(map, changed, indices, comm.rank());
    CHECK(test::error_info_of([&] { static_cast<void>(map.begin_gather(old)); }).message ==
          "an array of build 1 of a map that is in its build 2");
  }
}

MPI_CASE("the environment of the first rank names the transport where the program leaves it open",
         ranks{1, 2, 3}) {
  const auto indices = random_of(90, comm.rank(), comm.size());
  const Distribution distribution = Cyclic(90, comm.size());
  const auto choices_after_a_flight = [&](const std::string& transport) {
    auto map = map_of(comm, distribution, indices, transport);
    auto x = array_for<double>(map);
    fill_owned(x, distribution, comm.rank(), 1);
    map.begin_gather(map.view(std::span(x))).finish();
    CHECK(wrong_values(map, indices, x, 1) == 0);
    return map.choices().size();
  };
  {
    const test::Environment wanted("TAILRACE_EXCHANGE", comm.is_root() ? "isend" : "no such transport");
    CHECK(choices_after_a_flight("auto") == 0);
  }
  const test::Environment wanted("TAILRACE_EXCHANGE", "no such transport");
  const auto error = test::error_info_of([&] { map_of(comm, distribution, indices, "auto"); });
  CHECK(error.kind == ErrorKind::usage);
  CHECK(error.message == "TAILRACE_EXCHANGE: no exchange transport is called \"no such transport\"");
  CHECK(choices_after_a_flight("persistent") == 0);
}

static bool is_usable(std::string_view name) {
  const auto all = usable_transports();
  return std::any_of(all.begin(), all.end(), [&](const Transport& one) { return one.name == name; });
}

MPI_CASE("auto tries the transports on the first flights, and all ranks keep the same one",
         ranks{1, 2, 3, 7}) {
  const auto indices = random_of(90, comm.rank(), comm.size());
  const Distribution distribution = Cyclic(90, comm.size());
  const test::Environment no_wish("TAILRACE_EXCHANGE", std::nullopt);
  auto map = AccessMap::make(comm, distribution, indices);
  auto x = array_for<double>(map);
  fill_owned(x, distribution, comm.rank(), 1);
  const auto exchange = [&](int flights) {
    for (int i = 0; i < flights; ++i) {
      std::fill(x.begin() + map.owned(), x.end(), 0);
      map.begin_gather(map.view(std::span(x))).finish();
      REQUIRE(wrong_values(map, indices, x, 1) == 0);
    }
  };
  const auto chosen = [&] {
    std::string names;
    for (const auto& choice : map.choices())
      for (const TransportTiming& timing : choice.timings)
        if (timing.chosen) names += choice.flights + " " + timing.name;
    return names;
  };
  exchange(4);
  CHECK(chosen().empty());
  for (int i = 0; i < 200 && chosen().empty(); ++i) exchange(1);  // with more, a rebuild may choose anew
  const std::string name = chosen();
  CHECK(name.find("gather ") == 0);
  CHECK(mpi::broadcast(comm, name, 0) == name);
  const auto choices = map.choices();
  REQUIRE(choices.size() == 1);
  for (const TransportTiming& timing : choices.front().timings) {
    CHECK(timing.name != "rma-fence");
    const bool can = is_usable(timing.name);
    CHECK_MESSAGE(timing.obstacle.empty() == can, timing.name, ": ", timing.obstacle);
    if (comm.is_root()) CHECK((timing.cost_s > 0) == can);
  }
  map.rebuild(distribution, indices);
  CHECK(chosen() == name);
  exchange(2);
  Indices all(9000);
  std::iota(all.begin(), all.end(), 0);
  map.rebuild(Block(9000, comm.size()), all);
  CHECK(chosen() == (comm.size() == 1 ? name : ""));  // with a single rank, the map is as small as before
}

MPI_CASE("interior and rim share out the positions", ranks{1, 3}) {
  const auto indices = random_of(90, comm.rank(), comm.size());
  const Distribution distribution = Block(90, comm.size());
  const auto map = map_of(comm, distribution, indices, "isend");
  std::size_t inside = 0, outside = 0;
  for (std::size_t i = 0; i < indices.size(); ++i) {
    const auto position = static_cast<std::int32_t>(i);
    if (distribution.is_local(indices[i], comm.rank()))
      CHECK(map.interior()[inside++] == position);
    else
      CHECK(map.rim()[outside++] == position);
  }
  CHECK(map.interior().size() == inside);
  CHECK(map.rim().size() == outside);
  CHECK(map.describe().rim == static_cast<std::int64_t>(outside));
}

MPI_CASE("maps of different parts of the ranks work at the same time", ranks{3, 4, 7}) {
  const mpi::Comm half = mpi::Comm::split(comm, comm.rank() % 2);
  const mpi::CommView part = half;
  const auto indices = random_of(60, part.rank(), part.size());
  const Distribution distribution = Cyclic(60, part.size());
  for (const Transport& transport : usable_transports()) {
    auto map = map_by(part, distribution, indices, transport);
    check_gather(map, distribution, indices, part.rank());
  }
}

MPI_CASE("fields that do not fit are refused", ranks{1, 2}) {
  const Indices indices{0, 9};
  auto map = map_of(comm, Block(10, comm.size()), indices, "isend", Order::partition_free);
  std::vector<double> small(1), values(2), sums = array_for<double>(map), longer(sums.size() + 3);
  std::vector<std::int32_t> whole(2);
  const Field into = map.view(std::span(sums));
  CHECK(test::error_info_of([&] {
          static_cast<void>(map.begin_gather(field(std::span(small))));
        }).hint.find("one for each slot") != std::string::npos);
  CHECK(test::error_info_of([&] {
          static_cast<void>(map.begin_gather(map.view(std::span(sums), 0)));
        }).message.find("entries of 0 numbers") != std::string::npos);
  map.begin_gather(map.view(std::span(longer))).finish();  // the first entries are the slots
  CHECK(test::error_info_of([&] { static_cast<void>(map.begin_scatter_add(into)); }).hint ==
        "hand in one contribution per position");
  CHECK(test::error_info_of([&] {
          static_cast<void>(map.begin_scatter_add(Contribution{field(std::span(whole)), into}));
        }).message.find("different types") != std::string::npos);
  CHECK(test::error_info_of([&] {
          static_cast<void>(map.begin_scatter_add(Contribution{field(std::span(small)), into}));
        }).hint.find("one for each position") != std::string::npos);
}

MPI_CASE("a field that does not fit on one rank is the same error on all when the first flight begins",
         ranks{2, 3, 7}) {
  Indices all(21);
  std::iota(all.begin(), all.end(), 0);
  const int failing = comm.size() - 1;
  for (const Transport& transport : usable_transports()) {
    auto map = map_by(comm, Block(21, comm.size()), all, transport);
    auto x = array_for<double>(map);
    const auto field = map.view(std::span(x).first(comm.rank() == failing ? 1 : x.size()));
    const auto error = test::error_info_of([&] { map.begin_gather(field).finish(); });
    CHECK(error.message == fmt::format("an array of 1 entries of 1 numbers on rank {}", failing));
    CHECK(error.hint == "21 entries, one for each slot of the map");
    CHECK(error.rank == failing);
    check_gather(map, Block(21, comm.size()), all, comm.rank());
  }
}

MPI_CASE("a rank that does not take part is named", ranks{2, 3}) {
  const Distribution distribution = Block(10, comm.size());
  const Indices indices{0, 9};
  // Nobody receives its last messages: once it is freed, MPICH may give them to the next map.
  static std::vector<AccessMap*> kept;
  kept.push_back(
      new AccessMap(AccessMap::make(comm, distribution, indices, {.transport = "isend", .limit_s = 0.2})));
  AccessMap& map = *kept.back();
  auto x = array_for<double>(map);
  map.begin_gather(map.view(std::span(x))).finish();  // all ranks meet for the first one
  if (!comm.is_root()) {
    auto flight = map.begin_gather(map.view(std::span(x)));
    const auto error = test::error_info_of([&] { flight.finish(); });
    CHECK(error.message == "no values came from ranks 0 for 0.2 s");
  }
  mpi::barrier(comm);
}
