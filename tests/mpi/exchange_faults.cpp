// SPDX-License-Identifier: BSD-3-Clause
/// What may go wrong between ranks that make and use a map.
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "environment.hpp"
#include "error_of.hpp"
#include "mpi_case.hpp"
#include "tailrace/error.hpp"
#include "tailrace/exchange/access_map.hpp"
#include "tailrace/exchange/heap.hpp"

using namespace tailrace;
using namespace tailrace::exchange;
using test::error_info_of;

namespace {

AccessMap make(mpi::CommView comm, const Distribution& distribution) {
  const std::vector<std::int64_t> indices{0, 9};
  return AccessMap::make(comm, distribution, indices, {.transport = "persistent", .limit_s = 5});
}

/// Says that everything is with the first rank, but counts otherwise.
struct Contradictory {
  Block block;
  [[nodiscard]] std::int64_t size() const { return block.size(); }
  [[nodiscard]] int ranks() const { return block.ranks(); }
  [[nodiscard]] int owner(std::int64_t) const { return 0; }
  [[nodiscard]] std::int64_t local(std::int64_t index) const { return index; }
  [[nodiscard]] std::int64_t global(int rank, std::int64_t local) const { return block.global(rank, local); }
  [[nodiscard]] std::int64_t count(int rank) const { return block.count(rank); }
};

#ifdef TAILRACE_DEBUG_CHECKS
/// Equal blocks, but that two indices of the first rank have the same number there.
struct TwiceTheSame {
  Block block;
  [[nodiscard]] std::int64_t size() const { return block.size(); }
  [[nodiscard]] int ranks() const { return block.ranks(); }
  [[nodiscard]] int owner(std::int64_t index) const { return block.owner(index); }
  [[nodiscard]] std::int64_t local(std::int64_t index) const { return index == 7 ? 8 : block.local(index); }
  [[nodiscard]] std::int64_t global(int rank, std::int64_t local) const { return block.global(rank, local); }
  [[nodiscard]] std::int64_t count(int rank) const { return block.count(rank); }
};

/// A map that is never freed, as messages of its flights are never received.
AccessMap& kept_map(mpi::CommView comm, double limit_s) {
  static std::vector<AccessMap*> kept;
  const std::vector<std::int64_t> indices{0, 9};
  kept.push_back(new AccessMap(AccessMap::make(comm, Block(10, comm.size()), indices,
                                               {.transport = "persistent", .limit_s = limit_s})));
  return *kept.back();
}

/// An array for a map, which outlives its flights.
template <class T>
Field kept_field(const AccessMap& map) {
  static std::vector<T> x;
  x.assign(static_cast<std::size_t>(map.array_size()), 0);
  return map.view(std::span(x));
}
#endif

}  // namespace

MPI_CASE("what is wrong on one rank is the same error on all", ranks{1, 2, 3}) {
  const Distribution ten = Block(10, comm.size());
  const bool last = comm.rank() == comm.size() - 1;
  const std::vector<std::int64_t> good{0, 9}, bad{0, 12};
  const auto out_of_range = error_info_of([&] { AccessMap::make(comm, ten, last ? bad : good); });
  CHECK(out_of_range.kind == ErrorKind::input);
  CHECK(out_of_range.message == "index 12 at position 1 of a space of 10");
  CHECK(out_of_range.rank == comm.size() - 1);
  const std::vector<std::int64_t> negative{-3};
  CHECK(error_info_of([&] { AccessMap::make(comm, ten, last ? negative : good); }).message ==
        "index -3 at position 0 of a space of 10");
  const auto ranks = error_info_of([&] { make(comm, Block(10, comm.size() + 1)); });
  CHECK(ranks.message.find("a distribution over") == 0);
  const auto name = error_info_of([&] { AccessMap::make(comm, ten, good, {.transport = "pigeons"}); });
  CHECK(name.kind == ErrorKind::usage);
  CHECK(name.hint.find("persistent, shared, isend") != std::string::npos);
}

MPI_CASE("ranks that have different distributions all learn it", ranks{2, 3, 7}) {
  const bool last = comm.rank() == comm.size() - 1;
  const auto sizes = error_info_of([&] { make(comm, Block(last ? 12 : 10, comm.size())); });
  CHECK(sizes.kind == ErrorKind::input);
  CHECK(sizes.message == "ranks have distributions of 10 to 12 indices");
  CHECK(sizes.hint == "the same distribution on all ranks");
  const auto rules = error_info_of([&] {
    make(comm, last ? Distribution(Cyclic(30, comm.size())) : Distribution(Block(30, comm.size())));
  });
  CHECK(rules.message == "ranks have different distributions of 30 indices");
}

MPI_CASE("ranks that give different options all learn it", ranks{2, 3, 7}) {
  const bool last = comm.rank() == comm.size() - 1;
  const std::vector<std::int64_t> indices{0, 9};
  const auto refusal = [&](const AccessOptions& others, const AccessOptions& of_last) {
    return error_info_of(
               [&] { AccessMap::make(comm, Block(10, comm.size()), indices, last ? of_last : others); })
        .message;
  };
  const std::string different = "an access map with different options on different ranks: ";
  CHECK(refusal({}, {.order = Order::partition_free}) == different + "order");
  CHECK(refusal({}, {.transport = "isend"}) == different + "transport");
  CHECK(refusal({.transport = "get"}, {.transport = "isend", .aggregate = false}) ==
        different + "transport, aggregate");
}

MPI_CASE("a distribution whose functions contradict each other is refused when a map is made",
         ranks{1, 2, 3}) {
  const auto error = error_info_of([&] { make(comm, Contradictory{Block(30, comm.size())}); });
  if (comm.size() == 1) {  // where nothing contradicts
    CHECK(error.message.empty());
    return;
  }
  CHECK(error.kind == ErrorKind::input);
  CHECK(error.message == (comm.size() == 2 ? "owner(15) = 0 and local(15) = 15, but count(0) = 15"
                                           : "owner(10) = 0 and local(10) = 10, but count(0) = 10"));
  CHECK(error.hint == "owner, local, global and count of a distribution describe the same bijection");
}

MPI_CASE("a map is not rebuilt while a flight is under way, nor used after it was moved away",
         ranks{1, 2, 3}) {
  const Distribution ten = Block(10, comm.size());
  auto map = make(comm, ten);
  std::vector<double> x(static_cast<std::size_t>(map.array_size()));
  {
    auto flight = map.begin_gather(map.view(std::span(x)));
    const auto error = error_info_of([&] { map.rebuild(ten, std::vector<std::int64_t>{0}); });
    CHECK(error.kind == ErrorKind::usage);
    CHECK(error.message == "a map is rebuilt while a flight of it is under way");
    flight.finish();
  }
  const AccessMap other = std::move(map);
  const auto gone = error_info_of([&] { static_cast<void>(map.begin_gather(field(std::span(x)))); });
  CHECK(gone.message == "an access map that was moved away is used");
  CHECK(error_info_of([&] { map.rebuild(ten, {}); }).kind == ErrorKind::usage);
}

MPI_CASE("a map that goes while a flight is under way is kept for it", ranks{1, 2, 3, 7}) {
  const Distribution ten = Block(10, comm.size());
  std::vector<double> x;
  std::optional<Flight> flight;
  std::vector<std::int32_t> slots;
  {
    auto map = make(comm, ten);
    x.assign(static_cast<std::size_t>(map.array_size()), 0);
    for (std::int64_t local = 0; local < map.owned(); ++local)
      x[static_cast<std::size_t>(local)] = static_cast<double>(ten.global(comm.rank(), local));
    slots.assign(map.slots().begin(), map.slots().end());
    flight.emplace(map.begin_gather(map.view(std::span(x))));
  }
  flight->finish();
  CHECK(x[static_cast<std::size_t>(slots[0])] == 0);
  CHECK(x[static_cast<std::size_t>(slots[1])] == 9);
}

MPI_CASE("an array is freed with what is under way done, and is gone then", ranks{1, 2, 3, 7}) {
  const test::RanksPerNode nodes(1);
  Heap heap(comm);
  auto x = heap.allocate<double>(2);
  x.local()[1] = 10 + comm.rank();
  heap.barrier_all();
  const int next = (comm.rank() + 1) % comm.size();
  std::vector<double> read(1);
  heap.start_get(x.on(next, 1), std::span(read));
  heap.put(x.on(next, 0), 7.0);
  heap.free(x);
  CHECK(read[0] == 10 + next);
  CHECK(error_info_of([&] { heap.put(x.on(next, 0), 1.0); }).message == "an array that was freed already");
}

#ifdef TAILRACE_DEBUG_CHECKS
MPI_CASE("with debug checks, ranks that begin different flights all learn it", ranks{2, 3, 7}) {
  AccessMap& map = kept_map(comm, 5);
  const auto field = kept_field<double>(map);
  const auto error = error_info_of(
      [&] { (comm.is_root() ? map.begin_gather(field) : map.begin_scatter_add(field)).finish(); });
  CHECK(error.kind == ErrorKind::usage);
  CHECK(error.message == "in call 2 of a map some ranks begin a gather, others begin a scatter-add");
  CHECK(error.hint == "the same flights and rebuilds of a map in the same order on all ranks");
}

MPI_CASE("with debug checks, ranks whose fields have entries of other sizes all learn it", ranks{2, 3, 7}) {
  AccessMap& map = kept_map(comm, 5);
  const auto field = comm.is_root() ? kept_field<double>(map) : kept_field<float>(map);
  const auto error = error_info_of([&] { map.begin_gather(field).finish(); });
  CHECK(error.kind == ErrorKind::usage);
  CHECK(error.message == "in call 2 of a map all ranks begin a gather, of 4 to 8 bytes per entry");
}

MPI_CASE("with debug checks, ranks of which some rebuild a map all learn it", ranks{2, 3, 7}) {
  AccessMap& map = kept_map(comm, 5);
  const auto field = kept_field<double>(map);
  const auto error = error_info_of([&] {
    if (comm.is_root())
      map.begin_gather(field).finish();
    else
      map.rebuild(Block(10, comm.size()), std::vector<std::int64_t>{0});
  });
  CHECK(error.kind == ErrorKind::usage);
  CHECK(error.message == "in call 2 of a map some ranks begin a gather, others rebuild it");
}

MPI_CASE("with debug checks, who waits for a rank that does not call its map says so", ranks{2, 3}) {
  AccessMap& map = kept_map(comm, 0.3);
  if (!comm.is_root()) {
    const auto error = error_info_of([&] { static_cast<void>(map.begin_gather(kept_field<double>(map))); });
    CHECK(error.kind == ErrorKind::internal);
    CHECK(error.message == "not all ranks have made call 2 of their map within 0.3 s");
  }
  mpi::barrier(comm);
}

MPI_CASE("with debug checks, a distribution that is wrong at a single index is refused", ranks{1, 2, 3}) {
  const auto error = error_info_of([&] { make(comm, TwiceTheSame{Block(1000, comm.size())}); });
  CHECK(error.kind == ErrorKind::input);
  CHECK(error.message == "global(0, 7) = 7, but owner(7) = 0 and local(7) = 8");
}
#endif
