// SPDX-License-Identifier: BSD-3-Clause
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "error_of.hpp"
#include "exchange_transports.hpp"
#include "mpi_case.hpp"
#include "tailrace/exchange/access_map.hpp"

using namespace tailrace;
using namespace tailrace::exchange;

namespace {

/// The least value that anybody has offered for a place, and who did.
struct Offer {
  double value = std::numeric_limits<double>::infinity();
  std::int32_t rank = -1;
  std::int32_t position = -1;

  friend bool operator==(const Offer&, const Offer&) = default;
};

void keep_less(void* into, const void* value, void* calls) {
  auto& kept = *static_cast<Offer*>(into);
  const auto& other = *static_cast<const Offer*>(value);
  ++*static_cast<int*>(calls);
  if (other.value < kept.value || (other.value == kept.value && other.rank < kept.rank)) kept = other;
}

Offer offer_of(int rank, std::size_t position) {
  SplitMix64 random(static_cast<std::uint64_t>(rank) * 100 + position);
  return {random.unit(), rank, static_cast<std::int32_t>(position)};
}

constexpr std::int64_t space = 50;

/// Different indices on each rank, each of them once.
std::vector<std::int64_t> indices_of(int rank) {
  std::vector<std::int64_t> indices;
  for (std::int64_t i = rank; i < space; i += 1 + rank % 3) indices.push_back(space - 1 - i);
  return indices;
}

/// What a loop over all ranks finds for the values of one of them.
std::vector<Offer> expected_for(const Distribution& distribution, int rank) {
  std::vector<Offer> best(static_cast<std::size_t>(distribution.count(rank)));
  int calls = 0;
  for (int other = 0; other < distribution.ranks(); ++other) {
    const auto indices = indices_of(other);
    for (std::size_t i = 0; i < indices.size(); ++i) {
      const Offer offer = offer_of(other, i);
      if (distribution.is_local(indices[i], rank))
        keep_less(&best[static_cast<std::size_t>(distribution.local(indices[i]))], &offer, &calls);
    }
  }
  return best;
}

std::vector<std::string> usable() {
  std::vector<std::string> names;
  for (const Transport& transport : test::usable_transports())
    if (transport.open_sums == nullptr) names.emplace_back(transport.name);
  return names;
}

/// A number that depends on the order in which others come to it.
void append_digit(void* into, const void* value, void*) {
  auto& number = *static_cast<std::uint64_t*>(into);
  number = number * 31 + *static_cast<const std::uint64_t*>(value);
}

}  // namespace

MPI_CASE("objects of a program are combined by its own function, in every order, by every transport",
         ranks{1, 2, 3, 4, 7}) {
  const auto indices = indices_of(comm.rank());
  const Distribution distribution = Cyclic(space, comm.size());
  const auto expected = expected_for(distribution, comm.rank());
  const Offer none;
  for (const auto& transport : usable())
    for (const Order order : {Order::fast, Order::fixed, Order::partition_free}) {
      CAPTURE(transport);
      auto map = AccessMap::make(comm, distribution, indices, {.transport = transport, .order = order});
      std::vector<Offer> offers, best(static_cast<std::size_t>(map.array_size()));
      for (std::size_t i = 0; i < indices.size(); ++i) offers.push_back(offer_of(comm.rank(), i));
      int calls = 0;
      map.begin_scatter_add(Contribution{objects(std::span(offers)), map.view_of_objects(std::span(best))},
                            Combine(keep_less, &calls, &none))
          .finish();
      CHECK(std::equal(expected.begin(), expected.end(), best.begin()));
      CHECK(calls >= static_cast<int>(map.owned() > 0 && !indices.empty() ? 1 : 0));
      map.begin_gather(map.view_of_objects(std::span(best))).finish();
      for (std::size_t i = 0; i < indices.size(); ++i)
        CHECK(best[static_cast<std::size_t>(map.slots()[i])].value <= offers[i].value);
    }
}

MPI_CASE("sums of a program's own slots are combined by its function too", ranks{1, 2, 3, 7}) {
  const auto indices = indices_of(comm.rank());
  const Distribution distribution = Block(space, comm.size());
  auto map = AccessMap::make(comm, distribution, indices, {.transport = "persistent"});
  std::vector<Offer> best(static_cast<std::size_t>(map.array_size()));
  int calls = 0;
  for (std::size_t i = 0; i < indices.size(); ++i) {
    const Offer offer = offer_of(comm.rank(), i);
    keep_less(&best[static_cast<std::size_t>(map.slots()[i])], &offer, &calls);
  }
  map.begin_scatter_add(map.view_of_objects(std::span(best)), Combine(keep_less, &calls)).finish();
  const auto expected = expected_for(distribution, comm.rank());
  CHECK(std::equal(expected.begin(), expected.end(), best.begin()));
}

MPI_CASE("partition_free calls a program's function in one global order on any number of ranks",
         ranks{1, 2, 3, 4, 7}) {
  constexpr std::int64_t size = 20, positions = 300;
  const Block extents(positions, comm.size());
  std::vector<std::int64_t> all;
  std::vector<std::uint64_t> values, expected(size);
  SplitMix64 random(5);
  for (std::int64_t i = 0; i < positions; ++i) {
    all.push_back(static_cast<std::int64_t>(random.next() % size));
    values.push_back(random.next() % 31);
    append_digit(&expected[static_cast<std::size_t>(all.back())], &values.back(), nullptr);
  }
  const auto first = extents.global(comm.rank(), 0), count = extents.count(comm.rank());
  const std::vector<std::int64_t> indices(all.begin() + first, all.begin() + first + count);
  std::vector<std::uint64_t> mine(values.begin() + first, values.begin() + first + count);
  const Distribution distribution = Cyclic(size, comm.size());
  for (const auto& transport : usable()) {
    auto map = AccessMap::make(comm, distribution, indices,
                               {.transport = transport, .order = Order::partition_free});
    std::vector<std::uint64_t> numbers(static_cast<std::size_t>(map.array_size()));
    map.begin_scatter_add(Contribution{objects(std::span(mine)), map.view_of_objects(std::span(numbers))},
                          Combine(append_digit))
        .finish();
    int wrong = 0;
    for (std::int64_t local = 0; local < map.owned(); ++local)
      wrong += numbers[static_cast<std::size_t>(local)] !=
               expected[static_cast<std::size_t>(distribution.global(comm.rank(), local))];
    CHECK(wrong == 0);
  }
}

MPI_CASE("combinations that fields do not have are refused on all ranks", ranks{1, 2, 3}) {
  const std::vector<std::int64_t> indices{0, 9};
  auto map = AccessMap::make(comm, Block(10, comm.size()), indices, {.transport = "isend"});
  std::vector<Offer> offers(static_cast<std::size_t>(map.array_size()));
  std::vector<Offer> single(indices.size());
  const Field all = map.view_of_objects(std::span(offers));
  int calls = 0;
  const auto sum = test::error_info_of([&] { static_cast<void>(map.begin_scatter_add(all)); });
  CHECK(sum.kind == ErrorKind::usage);
  CHECK(sum.message == "objects of a program have no sum, least or greatest");
  const std::vector<Field> two{all, all};
  CHECK(test::error_info_of([&] {
          static_cast<void>(map.begin_scatter_add(two, Combine(keep_less, &calls)));
        }).message == "2 fields combined by a function of the program");
  CHECK(test::error_info_of([&] {
          static_cast<void>(map.begin_scatter_add(Contribution{objects(std::span(single)), all},
                                                  Combine(keep_less, &calls)));
        }).message == "a function that combines contributions has no neutral entry");
}
