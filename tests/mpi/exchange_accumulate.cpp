// SPDX-License-Identifier: BSD-3-Clause
/// Contributions that are combined in their owner's memory as they come, and words that move one by one.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <vector>

#include "environment.hpp"
#include "error_of.hpp"
#include "exchange_transports.hpp"
#include "mpi_case.hpp"
#include "tailrace/error.hpp"
#include "tailrace/exchange/access_map.hpp"

using namespace tailrace;
using namespace tailrace::exchange;

namespace {

constexpr std::int64_t index_count = 50;

/// Some places read by all ranks, some by one, some twice.
std::vector<std::int64_t> places_of(int rank) {
  std::vector<std::int64_t> list{0, 7, index_count - 1, 7};
  for (std::int64_t i = 0; i < 12; ++i) list.push_back((11 * i + 5 * rank) % index_count);
  return list;
}

/// A whole number, so that sums are exact in any order.
std::int64_t contribution(int rank, std::size_t position, int component) {
  return (13 * rank + 7 * static_cast<std::int64_t>(position) + 3 * component) % 23 - 9;
}

std::int64_t combined(Reduction how, std::int64_t a, std::int64_t b) {
  switch (how) {
    case Reduction::sum:
      return a + b;
    case Reduction::min:
      return std::min(a, b);
    case Reduction::max:
      return std::max(a, b);
    default:
      return a != 0 || b != 0 ? 1 : 0;
  }
}

/// What the owner has at an index in the end, with `start` as its own part.
std::int64_t expected(Reduction how, std::int64_t start, std::int64_t index, int component, int ranks) {
  for (int rank = 0; rank < ranks; ++rank) {
    const auto places = places_of(rank);
    for (std::size_t i = 0; i < places.size(); ++i)
      if (places[i] == index) start = combined(how, start, contribution(rank, i, component));
  }
  return start;
}

template <class T>
std::vector<T> contributions(int rank, int components) {
  std::vector<T> values;
  for (std::size_t i = 0; i < places_of(rank).size(); ++i)
    for (int c = 0; c < components; ++c) values.push_back(static_cast<T>(contribution(rank, i, c)));
  return values;
}

template <class T>
int wrong(const std::vector<T>& sums, const Distribution& distribution, mpi::CommView comm, Reduction how,
          std::int64_t start, int components) {
  int count = 0;
  for (std::int64_t local = 0; local < distribution.count(comm.rank()); ++local)
    for (int c = 0; c < components; ++c)
      count += sums[static_cast<std::size_t>(local * components + c)] !=
               static_cast<T>(expected(how, start, distribution.global(comm.rank(), local), c, comm.size()));
  return count;
}

AccessMap accumulating(mpi::CommView comm, const Distribution& distribution) {
  return AccessMap::make(comm, distribution, places_of(comm.rank()),
                         {.transport = "rma-accumulate", .order = Order::fast});
}

bool is_usable(const char* name) {
  const auto all = transports();
  return std::any_of(all.begin(), all.end(),
                     [&](const Transport& one) { return one.name == name && one.obstacle.empty(); });
}

}  // namespace

MPI_CASE("two fields of other types are combined in their owner's memory, round after round",
         ranks{1, 2, 3, 7}) {
  if (!is_usable("rma-accumulate")) return;
  for (const Distribution& distribution :
       {Distribution(Block(index_count, comm.size())), Distribution(Cyclic(index_count, comm.size()))}) {
    auto map = accumulating(comm, distribution);
    for (const Reduction how : {Reduction::sum, Reduction::max, Reduction::min, Reduction::sum}) {
      const std::int64_t start = how == Reduction::sum ? 4 : 0;
      auto given = contributions<double>(comm.rank(), 1);
      auto whole = contributions<std::int32_t>(comm.rank(), 3);
      const auto slots = static_cast<std::size_t>(map.array_size());
      std::vector<double> sums(slots, static_cast<double>(start));
      std::vector<std::int32_t> triples(3 * slots, static_cast<std::int32_t>(start));
      const std::vector<Contribution> both{{field(std::span(given)), map.view(std::span(sums))},
                                           {field(std::span(whole), 3), map.view(std::span(triples), 3)}};
      for (int round = 0; round < 3; ++round) {
        std::fill(sums.begin(), sums.end(), static_cast<double>(start));
        std::fill(triples.begin(), triples.end(), static_cast<std::int32_t>(start));
        map.begin_scatter_add(both, how).finish();
        CHECK(wrong(sums, distribution, comm, how, start, 1) == 0);
        CHECK(wrong(triples, distribution, comm, how, start, 3) == 0);
      }
    }
  }
}

MPI_CASE("floats, long numbers and a logical or of them in two flights at once", ranks{1, 2, 3, 7}) {
  if (!is_usable("rma-accumulate")) return;
  const Distribution distribution = Block(index_count, comm.size());
  auto map = accumulating(comm, distribution);
  auto few = contributions<float>(comm.rank(), 2);
  auto many = contributions<std::int64_t>(comm.rank(), 1);
  const auto slots = static_cast<std::size_t>(map.array_size());
  std::vector<float> sums(2 * slots);
  std::vector<std::int64_t> any(slots);
  Flight first = map.begin_scatter_add(Contribution{field(std::span(few), 2), map.view(std::span(sums), 2)});
  Flight second = map.begin_scatter_add(Contribution{field(std::span(many)), map.view(std::span(any))},
                                        Reduction::logical_or);
  second.finish();
  first.finish();
  CHECK(wrong(sums, distribution, comm, Reduction::sum, 0, 2) == 0);
  CHECK(wrong(any, distribution, comm, Reduction::logical_or, 0, 1) == 0);
}

MPI_CASE("what cannot be combined as it comes is refused by name, on all ranks", ranks{1, 2, 3}) {
  if (!is_usable("rma-accumulate")) return;
  const Distribution distribution = Block(index_count, comm.size());
  for (const Order order : {Order::fixed, Order::partition_free}) {
    const auto error = test::error_info_of([&] {
      static_cast<void>(AccessMap::make(comm, distribution, places_of(comm.rank()),
                                        {.transport = "rma-accumulate", .order = order}));
    });
    CHECK(error.kind == ErrorKind::usage);
    CHECK(error.message == "the exchange transport rma-accumulate adds contributions as they come");
    CHECK(error.hint == "the order fast, or another transport");
  }
  auto map = accumulating(comm, distribution);
  std::vector<double> sums(static_cast<std::size_t>(map.array_size()));
  const auto adding = [&](const Combine& how) {
    return test::error_info_of(
               [&] { static_cast<void>(map.begin_scatter_add(map.view(std::span(sums)), how)); })
        .message;
  };
  CHECK(adding(Reduction::logical_or) ==
        "the exchange transport rma-accumulate has no logical or of floating-point numbers");
  CHECK(adding(Combine([](void*, const void*, void*) {})) ==
        "the exchange transport rma-accumulate has no functions of the program");
}

MPI_CASE("words that move one by one bring the same, and are counted one by one", ranks{1, 2, 3, 7}) {
  const Distribution distribution = Cyclic(index_count, comm.size());
  std::vector<std::string> names{"auto"};
  for (const Transport& transport : test::usable_transports())
    if (transport.batches) names.emplace_back(transport.name);
  if (std::getenv("TAILRACE_EXCHANGE") == nullptr) CHECK(names.size() >= 4);
  for (const auto& name : names) {
    CAPTURE(name);
    auto map =
        AccessMap::make(comm, distribution, places_of(comm.rank()), {.transport = name, .aggregate = false});
    std::vector<std::int32_t> x(3 * static_cast<std::size_t>(map.array_size()));
    for (std::int64_t i = 0; i < 3 * map.owned(); ++i)
      x[static_cast<std::size_t>(i)] =
          static_cast<std::int32_t>(3 * distribution.global(comm.rank(), i / 3) + i % 3);
    map.begin_gather(map.view(std::span(x), 3)).finish();
    const auto places = places_of(comm.rank());
    int wrong = 0;
    for (std::size_t i = 0; i < places.size(); ++i)
      for (std::size_t c = 0; c < 3; ++c)
        wrong += x[3 * static_cast<std::size_t>(map.slots()[i]) + c] !=
                 static_cast<std::int32_t>(3 * static_cast<std::size_t>(places[i]) + c);
    CHECK(wrong == 0);
    std::int64_t words = 0;
    for (const PeerTraffic& peer : map.traffic()) words += (peer.bytes + 7) / 8;
    CHECK(map.counts().messages == words);
    CHECK(map.counts().bytes == 12 * map.describe().sent);
    CHECK(map.counts().largest_bytes == (map.describe().sent > 0 ? 8 : 0));
    for (const TransportChoice& choice : map.choices())
      for (const TransportTiming& timing : choice.timings)
        if (timing.name == "persistent")
          CHECK(timing.obstacle == "it sends one message to each rank, not word by word");
  }
  const auto error = test::error_info_of([&] {
    static_cast<void>(AccessMap::make(comm, distribution, places_of(comm.rank()),
                                      {.transport = "persistent", .aggregate = false}));
  });
  CHECK(error.message ==
        "the exchange transport persistent sends one message to each rank, not word by word");
  CHECK(error.hint.find("aggregate, auto, or one of rma-lock") == 0);
}
