// SPDX-License-Identifier: BSD-3-Clause
#include "tailrace/exchange/heap.hpp"

#include <fmt/format.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "environment.hpp"
#include "error_of.hpp"
#include "mpi_case.hpp"

using namespace tailrace;
using namespace tailrace::exchange;

namespace {

/// Ways in which ranks reach each other: none, some or all by loads and stores; small operations packed or
/// not.
struct Ground {
  int ranks_per_node;
  std::int64_t aggregate_bytes;
};
constexpr std::array grounds{Ground{1, 16384}, Ground{2, 0}, Ground{100, 16384}, Ground{1, 0},
                             Ground{2, 300}};

/// Calls `body` with a heap on each ground.
template <class Body>
void on_each_ground(mpi::CommView comm, Body body) {
  for (const auto& [ranks, bytes] : grounds) {
    CAPTURE(ranks);
    CAPTURE(bytes);
    const test::RanksPerNode nodes(ranks);
    Heap heap(comm, {.segment_bytes = 4096, .aggregate_bytes = bytes});
    body(heap);
  }
}

/// Elements of a rank's part: none on one of them, never as many on two.
std::int64_t uneven(int rank) {
  return rank == 1 ? 0 : 5 + 3 * rank;
}

std::int64_t value_of(int from, int to, std::int64_t index) {
  return 10000 * from + 100 * to + index + 1;
}

std::vector<std::int64_t> values_for(int from, int to, std::int64_t count) {
  std::vector<std::int64_t> values(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) values[static_cast<std::size_t>(i)] = value_of(from, to, i);
  return values;
}

int next_of(const Heap& heap) {
  return (heap.rank() + 1) % heap.size();
}
int before(const Heap& heap) {
  return (heap.rank() + heap.size() - 1) % heap.size();
}

}  // namespace

MPI_CASE("what is put is there after a barrier, and can be got by all, whatever the sizes",
         ranks{1, 2, 3, 4, 7}) {
  on_each_ground(comm, [](Heap& heap) {
    auto x = heap.allocate<std::int64_t>(uneven(heap.rank()));
    const int to = next_of(heap);
    REQUIRE(heap.count(x, to) == uneven(to));
    heap.put(x.on(to), values_for(heap.rank(), to, uneven(to)));
    heap.barrier_all();
    const auto expected = values_for(before(heap), heap.rank(), uneven(heap.rank()));
    CHECK(std::equal(expected.begin(), expected.end(), x.local().begin(), x.local().end()));
    for (int rank = 0; rank < heap.size(); ++rank) {
      std::vector<std::int64_t> got(static_cast<std::size_t>(uneven(rank)));
      heap.get(x.on(rank), got);
      CHECK(got == values_for((rank + heap.size() - 1) % heap.size(), rank, uneven(rank)));
      if (uneven(rank) > 2) CHECK(heap.get(x.on(rank, 2)) == got[2]);
    }
    heap.barrier_all();
    heap.free(x);
  });
}

MPI_CASE("strided and indexed elements, and reads that are waited for later", ranks{1, 2, 3, 7}) {
  on_each_ground(comm, [](Heap& heap) {
    auto x = heap.allocate<std::int32_t>(40);
    const int to = next_of(heap);
    heap.put_strided(x.on(to, 1), 3, std::vector<std::int32_t>{10, 11, 12, 13});
    const std::vector<std::int64_t> indices{30, 2, 0, 39};
    heap.put_indexed(x.on(to), indices, std::vector<std::int32_t>{-1, -2, -3, -4});
    heap.barrier_all();
    std::vector<std::int32_t> expected(40);
    expected[1] = 10, expected[4] = 11, expected[7] = 12, expected[10] = 13;
    expected[30] = -1, expected[2] = -2, expected[0] = -3, expected[39] = -4;
    CHECK(std::equal(expected.begin(), expected.end(), x.local().begin()));
    std::vector<std::int32_t> some(4), others(4), part(3);
    heap.start_get_strided(x.on(to, 10), -3, some);
    heap.start_get_indexed(x.on(to), indices, others);
    heap.start_get(x.on(before(heap), 37), part);
    heap.quiet();
    CHECK(some == std::vector<std::int32_t>{13, 12, 11, 10});
    CHECK(others == std::vector<std::int32_t>{-1, -2, -3, -4});
    CHECK(part == std::vector<std::int32_t>{0, 0, -4});
  });
}

MPI_CASE("arrays of many batches, more than may be on the way", ranks{1, 2, 3}) {
  on_each_ground(comm, [](Heap& heap) {
    constexpr std::size_t count = 1'100'000;
    auto x = heap.allocate<std::uint64_t>(count + 1);
    std::vector<std::uint64_t> values(count), back(count);
    SplitMix64 random(static_cast<std::uint64_t>(heap.rank()));
    for (auto& value : values) value = random.next();
    heap.put(x.on(next_of(heap), 1), values);
    heap.get(x.on(next_of(heap), 1), back);
    CHECK(back == values);
    heap.barrier_all();
    SplitMix64 other(static_cast<std::uint64_t>(before(heap)));
    CHECK(std::all_of(x.local().begin() + 1, x.local().end(),
                      [&](auto value) { return value == other.next(); }));
    CHECK(heap.counts().largest_message <= heap.describe().buffer_bytes);
  });
}

MPI_CASE("atomic operations of all ranks on the numbers of one add up", ranks{1, 2, 3, 4, 7}) {
  on_each_ground(comm, [](Heap& heap) {
    const int ranks = heap.size(), owner = ranks / 2;
    constexpr int rounds = 40;
    auto i32 = heap.allocate<std::int32_t>(4);
    auto u64 = heap.allocate<std::uint64_t>(4);
    auto f32 = heap.allocate<float>(1);
    auto f64 = heap.allocate<double>(1);
    std::vector<std::int32_t> tickets;
    for (int i = 0; i < rounds; ++i) {
      heap.add(f64.on(owner), 0.5);
      heap.add(f32.on(owner), 0.25F);
      tickets.push_back(heap.fetch_add(i32.on(owner), 1));
      heap.bit_xor(u64.on(owner), std::uint64_t{1} << heap.rank());
      heap.add(u64.on(owner, 3), std::uint64_t{1} << 40);
    }
    heap.bit_or(u64.on(owner, 1), std::uint64_t{1} << heap.rank());
    const auto seen = heap.fetch_or(u64.on(owner, 1), 0);
    CHECK((seen >> heap.rank() & 1U) == 1);
    // A counter by compare and swap.
    for (std::int32_t old = 0, found = 0;; old = found)
      if ((found = heap.compare_swap(i32.on(owner, 1), old, old + 1)) == old) break;
    heap.barrier_all();
    CHECK(heap.fetch(f64.on(owner)) == 0.5 * rounds * ranks);
    CHECK(heap.fetch(f32.on(owner)) == 0.25F * rounds * static_cast<float>(ranks));
    CHECK(heap.fetch(i32.on(owner)) == rounds * ranks);
    CHECK(heap.fetch(i32.on(owner, 1)) == ranks);
    CHECK(heap.fetch(u64.on(owner)) == 0);
    CHECK(heap.fetch(u64.on(owner, 1)) == (std::uint64_t{1} << ranks) - 1);
    CHECK(heap.fetch(u64.on(owner, 3)) == (std::uint64_t{1} << 40) * rounds * static_cast<unsigned>(ranks));
    CHECK(std::is_sorted(tickets.begin(), tickets.end()));
    auto all = heap.collect<std::int32_t>(tickets);
    std::sort(all.begin(), all.end());
    for (std::size_t i = 0; i < all.size(); ++i) CHECK(all[i] == static_cast<std::int32_t>(i));
    heap.barrier_all();
    CHECK(heap.swap(f64.on(heap.rank()), 3.5) == (heap.rank() == owner ? 0.5 * rounds * ranks : 0));
    heap.set(i32.on(heap.rank(), 2), 12);
    CHECK(heap.fetch_and(i32.on(heap.rank(), 2), 10) == 12);
    CHECK(heap.fetch_xor(i32.on(heap.rank(), 2), 1) == 8);
    heap.bit_and(i32.on(heap.rank(), 2), 1);
    CHECK(heap.fetch(i32.on(heap.rank(), 2)) == 1);
  });
}

MPI_CASE("values of all ranks: broadcast, sum, minimum, maximum, collect, all to all", ranks{1, 2, 3, 4, 7}) {
  on_each_ground(comm, [](Heap& heap) {
    const int rank = heap.rank(), ranks = heap.size();
    std::vector<std::int32_t> from_root(3, rank);
    heap.broadcast(std::span(from_root), ranks - 1);
    CHECK(from_root == std::vector<std::int32_t>(3, ranks - 1));
    CHECK(heap.sum(std::int64_t{rank} + 1) == std::int64_t{ranks} * (ranks + 1) / 2);
    CHECK(heap.min(1.5F + static_cast<float>(rank)) == 1.5F);
    CHECK(heap.max(std::int32_t{-rank}) == 0);
    std::vector<double> pair{1.0 * rank, -1.0 * rank};
    heap.max(std::span(pair));
    CHECK(pair == std::vector<double>{ranks - 1.0, 0});
    heap.sum(std::span(pair));
    CHECK(pair == std::vector<double>{ranks * (ranks - 1.0), 0});
    heap.min(std::span(pair));

    std::vector<std::int64_t> expected;
    for (int from = 0; from < ranks; ++from)
      for (std::int64_t i = 0; i < uneven(from); ++i) expected.push_back(value_of(from, 0, i));
    CHECK(heap.collect<std::int64_t>(values_for(rank, 0, uneven(rank))) == expected);

    std::vector<std::int64_t> out, in, sizes, came;
    for (int to = 0; to < ranks; ++to) out.push_back(value_of(rank, to, 0));
    for (int from = 0; from < ranks; ++from) in.push_back(value_of(from, rank, 0));
    CHECK(heap.all_to_all<std::int64_t>(out) == in);
    out.clear(), in.clear();
    for (int other = 0; other < ranks; ++other) {
      const auto to_other = values_for(rank, other, (rank + 2 * other) % 4);
      out.insert(out.end(), to_other.begin(), to_other.end());
      sizes.push_back((rank + 2 * other) % 4);
      const auto from_other = values_for(other, rank, (other + 2 * rank) % 4);
      in.insert(in.end(), from_other.begin(), from_other.end());
      came.push_back((other + 2 * rank) % 4);
    }
    const auto [values, counts] = heap.all_to_all<std::int64_t>(out, sizes);
    CHECK(values == in);
    CHECK(counts == came);
  });
}

MPI_CASE("arrays come and go in any order, stay where they are, and begin with zeros", ranks{1, 2, 3, 7}) {
  on_each_ground(comm, [](Heap& heap) {
    struct Kept {
      Symmetric<std::int64_t> array;
      std::int64_t* place;
      std::int64_t content;
    };
    std::vector<Kept> kept;
    SplitMix64 random(11);  // the same on all ranks
    for (std::int64_t round = 1; round <= 60; ++round) {
      if (random.next() % 5 < 3 || kept.empty()) {
        const auto count = static_cast<std::int64_t>(random.next() % 300) * (heap.rank() % 3);
        auto array = heap.allocate<std::int64_t>(count);
        CHECK(std::all_of(array.local().begin(), array.local().end(), [](auto value) { return value == 0; }));
        heap.barrier_all();
        // What is on its way when an array is given back does not reach the next one there.
        const int to = next_of(heap);
        heap.put(array.on(to),
                 std::vector<std::int64_t>(static_cast<std::size_t>(heap.count(array, to)), round));
        kept.push_back({array, array.local().data(), round});
      } else {
        const auto which = kept.begin() + static_cast<std::ptrdiff_t>(random.next() % kept.size());
        heap.free(which->array);
        kept.erase(which);
      }
    }
    heap.barrier_all();
    for (const auto& [array, place, content] : kept) {
      CHECK(array.local().data() == place);
      CHECK(std::all_of(array.local().begin(), array.local().end(),
                        [&](auto value) { return value == content; }));
    }
    for (const auto& one : kept) heap.free(one.array);
    const HeapSummary summary = heap.describe();
    CHECK(summary.used_bytes == 64 * summary.segments);
    CHECK(summary.segments >= 1);
  });
}

MPI_CASE("no rank pays for the array of another one", ranks{2, 3, 7}) {
  Heap heap(comm, {.segment_bytes = 4096});
  auto x = heap.allocate<double>(comm.rank() == 1 ? 1'000'000 : 10);
  if (comm.rank() == 1)
    CHECK(heap.describe().reserved_bytes >= 8'000'000);
  else
    CHECK(heap.describe().reserved_bytes <= 8192);
  heap.put(x.on(1, 999'000 + comm.rank()), 1.0);
  heap.barrier_all();
  if (comm.rank() == 1) CHECK(std::accumulate(x.local().begin(), x.local().end(), 0.0) == comm.size());
}

MPI_CASE("without room in shared memory, ranks of a node reach each other by messages, and it is said",
         ranks{2, 3}) {
  struct statvfs system {};
  REQUIRE(::statvfs("/dev/shm", &system) == 0);
  // Together the ranks want more than it can hold; each alone wants less than the memory of the machine.
  const auto capacity = static_cast<std::int64_t>(system.f_blocks * system.f_frsize);
  Heap heap(comm, {.segment_bytes = 4096});
  auto near = heap.allocate<std::int64_t>(8);
  const std::int64_t before_it = heap.counts().far;
  auto flag = heap.allocate<std::uint64_t>(8);
  mpi::barrier(comm);
  Heap other(comm, {.segment_bytes = capacity / comm.size() + (1 << 20)});
  auto far = other.allocate<std::int64_t>(8);
  CHECK_FALSE(other.describe().note.empty());
  other.put(far.on(next_of(other), 3), 42);
  other.barrier_all();
  CHECK(far.local()[3] == 42);
  CHECK(other.counts().far > 0);
  CHECK(heap.describe().note.empty());
  CHECK(heap.counts().far == before_it);
}

MPI_CASE("full: 3,000 rounds of random operations leave what a formula says", ranks{1, 2, 3, 4, 7}) {
  on_each_ground(comm, [](Heap& heap) {
    constexpr int rounds = 600;
    constexpr std::int64_t cells = 50;
    auto sums = heap.allocate<std::int64_t>(cells);
    std::vector<std::int64_t> expected(cells);
    for (int round = 0; round < rounds; ++round) {
      for (int rank = 0; rank < heap.size(); ++rank) {
        SplitMix64 random(static_cast<std::uint64_t>(round * 1000 + rank));
        for (std::uint64_t i = random.next() % 30; i > 0; --i) {
          const int to = static_cast<int>(random.next() % static_cast<unsigned>(heap.size()));
          const auto cell = static_cast<std::int64_t>(random.next() % cells);
          const auto value = static_cast<std::int64_t>(random.next() % 1000);
          if (to == heap.rank()) expected[static_cast<std::size_t>(cell)] += value;
          if (rank == heap.rank()) heap.add(sums.on(to, cell), value);
        }
      }
      if (round % 50 == 49) {
        heap.barrier_all();
        CHECK(std::equal(expected.begin(), expected.end(), sums.local().begin()));
        heap.barrier_all();
      }
    }
  });
}
