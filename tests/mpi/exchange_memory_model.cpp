// SPDX-License-Identifier: BSD-3-Clause
// Litmus tests of the rules M1 to M9 in docs/explain/exchange.md. Each plays rounds between pairs of ranks,
// or all of them, within nodes and between them, with and without aggregation.
#include <algorithm>
#include <array>
#include <vector>

#include "environment.hpp"
#include "mpi_case.hpp"
#include "tailrace/exchange/heap.hpp"

using namespace tailrace;
using namespace tailrace::exchange;

namespace {

struct Ground {
  int ranks_per_node;
  std::int64_t aggregate_bytes;
};
constexpr std::array grounds{Ground{1, 16384}, Ground{1, 0}, Ground{2, 16384}, Ground{100, 16384}};

/// A rule at work, so many times. A heap, and a number of rounds.
using Litmus = void (*)(Heap& heap, std::uint64_t rounds);

void play(mpi::CommView comm, Litmus litmus, std::uint64_t rounds) {
  for (const auto& [ranks, bytes] : grounds) {
    CAPTURE(ranks);
    CAPTURE(bytes);
    const test::RanksPerNode nodes(ranks);
    Heap heap(comm, {.aggregate_bytes = bytes});
    litmus(heap, rounds);
    heap.barrier_all();
  }
}

int next_of(const Heap& heap) {
  return (heap.rank() + 1) % heap.size();
}
int before(const Heap& heap) {
  return (heap.rank() + heap.size() - 1) % heap.size();
}
using Word = std::uint64_t;

// A rank's later read of an element sees its own earlier write there.
void own_writes(Heap& heap, Word rounds) {
  auto x = heap.allocate<Word>(heap.size());
  for (Word round = 1; round <= rounds; ++round) {
    const int to = static_cast<int>(round % static_cast<Word>(heap.size()));
    heap.put(x.on(to, heap.rank()), round);
    CHECK(heap.get(x.on(to, heap.rank())) == round);
    heap.add(x.on(to, heap.rank()), round);
    CHECK(heap.fetch(x.on(to, heap.rank())) == 2 * round);
  }
}

// Of two writes of a rank to one element, the later one stays.
void last_write_stays(Heap& heap, Word rounds) {
  auto x = heap.allocate<Word>(8);
  for (Word round = 1; round <= rounds; ++round) {
    for (Word i = 0; i < 3; ++i) heap.put(x.on(next_of(heap)), std::vector<Word>(8, 10 * round + i));
    heap.set(x.on(next_of(heap), 7), round);
    heap.barrier_all();
    CHECK(std::all_of(x.local().begin(), x.local().end() - 1,
                      [&](Word word) { return word == 10 * round + 2; }));
    CHECK(x.local()[7] == round);
    heap.barrier_all();
  }
}

// Message passing: who sees what was written after a fence, sees what was written before it.
void message_passing(Heap& heap, Word rounds) {
  auto data = heap.allocate<Word>(100);
  auto flag = heap.allocate<Word>(1), taken = heap.allocate<Word>(1);
  for (Word round = 1; round <= rounds; ++round) {
    heap.put(data.on(next_of(heap)), std::vector<Word>(100, round));
    heap.fence();
    if (round % 2 == 0)
      heap.put(flag.on(next_of(heap)), round);
    else
      heap.set(flag.on(next_of(heap)), round);
    heap.wait_until(flag, 0, Compare::greater_equal, round);
    CHECK(std::all_of(data.local().begin(), data.local().end(), [&](Word word) { return word == round; }));
    heap.set(taken.on(before(heap)), round);
    heap.wait_until(taken, 0, Compare::greater_equal, round);
  }
}

// Who sees a signal sees the values that were written with it.
void signals(Heap& heap, Word rounds) {
  auto data = heap.allocate<std::int32_t>(33);
  auto signal = heap.allocate<Word>(1), taken = heap.allocate<Word>(1);
  for (Word round = 1; round <= rounds; ++round) {
    const auto content = static_cast<std::int32_t>(3 * round);
    const std::vector<std::int32_t> values(33, content);
    if (round % 2 == 0)
      heap.put_signal(data.on(next_of(heap)), values, signal.on(next_of(heap)), round);
    else
      heap.put_signal(data.on(next_of(heap)), values, signal.on(next_of(heap)), 1, SignalOp::add);
    CHECK(heap.wait_until(signal, 0, Compare::equal, round) == round);
    CHECK(
        std::all_of(data.local().begin(), data.local().end(), [&](auto value) { return value == content; }));
    heap.put_signal(data.on(heap.rank()), {}, taken.on(before(heap)), round);
    heap.wait_until(taken, 0, Compare::equal, round);
  }
}

// Store buffering: after quiet all see what was written, so that of two ranks at least one sees the other's.
void store_buffering(Heap& heap, Word rounds) {
  auto x = heap.allocate<Word>(1);
  const int partner = heap.rank() ^ 1;
  for (Word round = 1; round <= rounds; ++round) {
    Word seen = round;
    if (partner < heap.size()) {
      // Each writes into the memory of one of the two, and reads what the other has written there.
      heap.put(x.on(partner), round);
      heap.quiet(partner);
      seen = heap.get(x.on(heap.rank()));
    }
    const auto all = heap.collect<Word>(std::vector<Word>{seen});
    if (partner < heap.size())
      CHECK((all[static_cast<std::size_t>(heap.rank())] == round ||
             all[static_cast<std::size_t>(partner)] == round));
  }
}

// Atomic operations and single values put to one number are each whole, and no addition is lost.
void atomics_against_puts(Heap& heap, Word rounds) {
  auto sum = heap.allocate<Word>(1);
  auto word = heap.allocate<Word>(1);
  auto real = heap.allocate<double>(1);
  for (Word round = 1; round <= rounds; ++round) {
    heap.add(sum.on(0), 1);
    heap.add(real.on(0), 0.5);
    heap.put(word.on(0), round * 0x0000000100000001U);
    const Word seen = heap.fetch(word.on(0));
    CHECK((seen >> 32U) == (seen & 0xFFFFFFFFU));
  }
  heap.barrier_all();
  const Word all = rounds * static_cast<Word>(heap.size());
  CHECK(heap.fetch(sum.on(0)) == all);
  CHECK(heap.fetch(real.on(0)) == 0.5 * static_cast<double>(all));
}

// What a started read brings is there after quiet, and is not older than what the last barrier has ordered.
void started_reads(Heap& heap, Word rounds) {
  auto x = heap.allocate<Word>(64);
  for (Word round = 1; round <= rounds; ++round) {
    std::fill(x.local().begin(), x.local().end(), round + static_cast<Word>(heap.rank()));
    heap.barrier_all();
    std::vector<Word> got(64), one(1);
    heap.start_get(x.on(next_of(heap)), got);
    heap.start_get(x.on(before(heap), 63), one);
    heap.quiet();
    const auto is = [&](int rank) {
      return [=](Word word) { return word == round + static_cast<Word>(rank); };
    };
    CHECK(std::all_of(got.begin(), got.end(), is(next_of(heap))));
    CHECK(is(before(heap))(one[0]));
    heap.barrier_all();
  }
}

// Two heaps order nothing between them but what quiet completes, and who waits in one serves the other.
void two_heaps(Heap& heap, Word rounds, Heap& other) {
  auto data = heap.allocate<Word>(16);
  auto flag = other.allocate<Word>(1);
  auto x = other.allocate<Word>(1);
  for (Word round = 1; round <= rounds; ++round) {
    heap.put(data.on(next_of(heap)), std::vector<Word>(16, round));
    heap.quiet();
    other.set(flag.on(next_of(heap)), round);
    other.quiet();
    other.wait_until(flag, 0, Compare::greater_equal, round);
    CHECK(std::all_of(data.local().begin(), data.local().end(), [&](Word word) { return word == round; }));
    // Ranks that wait for each other in different heaps.
    if (heap.rank() % 2 == 0)
      CHECK(heap.get(data.on(next_of(heap), 3)) >= round);
    else
      other.fetch_add(x.on(next_of(heap)), 1);
    heap.barrier_all();
  }
}

void play_two_heaps(mpi::CommView comm, Word rounds) {
  const test::RanksPerNode nodes(2);
  Heap other(comm);
  for (const int ranks : {1, 100}) {
    const test::RanksPerNode other_nodes(ranks);
    Heap heap(comm);
    two_heaps(heap, rounds, other);
    heap.barrier_all();
    other.barrier_all();
  }
}

constexpr Word some = 100, many = 10'000;

}  // namespace

MPI_CASE("rule M1: a rank sees its own writes", ranks{1, 2, 3, 4, 7}) {
  play(comm, own_writes, some);
}
MPI_CASE("rule M2: of two puts to one element the later one stays", ranks{1, 2, 3, 4, 7}) {
  play(comm, last_write_stays, some);
}
MPI_CASE("rule M3: message passing through a fence", ranks{1, 2, 3, 4, 7}) {
  play(comm, message_passing, some);
}
MPI_CASE("rule M4: a signal brings its values", ranks{1, 2, 3, 4, 7}) {
  play(comm, signals, some);
}
MPI_CASE("rule M5: store buffering ends at quiet", ranks{1, 2, 3, 4, 7}) {
  play(comm, store_buffering, some);
}
MPI_CASE("rule M6: atomic operations against puts", ranks{1, 2, 3, 4, 7}) {
  play(comm, atomics_against_puts, some);
}
MPI_CASE("rule M7: reads that were started are there after quiet", ranks{1, 2, 3, 4, 7}) {
  play(comm, started_reads, some);
}
MPI_CASE("rule M8: two heaps, and ranks that wait in different ones", ranks{1, 2, 3, 4, 7}) {
  play_two_heaps(comm, some);
}
#define MANY_ROUNDS(rule, litmus)                                        \
  MPI_CASE("full: rule " rule ", 10,000 rounds", ranks{1, 2, 3, 4, 7}) { \
    play(comm, litmus, many / grounds.size());                           \
  }
MANY_ROUNDS("M1", own_writes)
MANY_ROUNDS("M2", last_write_stays)
MANY_ROUNDS("M3", message_passing)
MANY_ROUNDS("M4", signals)
MANY_ROUNDS("M5", store_buffering)
MANY_ROUNDS("M6", atomics_against_puts)
MANY_ROUNDS("M7", started_reads)
MPI_CASE("full: rule M8, 10,000 rounds", ranks{1, 2, 3, 4, 7}) {
  play_two_heaps(comm, many / 2);
}
