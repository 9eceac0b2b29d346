// SPDX-License-Identifier: BSD-3-Clause
#include <doctest/doctest.h>

#include <map>
#include <vector>

#include "base/random.hpp"
#include "exchange/heap/memory.hpp"
#include "exchange/heap/segment.hpp"

using namespace tailrace;
using namespace tailrace::exchange;

TEST_CASE("places of a segment never overlap, and all of it is free again after any order of giving back") {
  constexpr std::size_t size = 64 * 500, head = 64;
  FreeRanges ranges(size, head);
  std::map<std::size_t, std::size_t> taken;
  std::vector<int> owner(size, 0);
  SplitMix64 random(3);
  for (int round = 0; round < 4000; ++round) {
    const std::size_t bytes = 1 + random.next() % 1500;
    const auto place = random.next() % 5 < 3 ? ranges.find(bytes) : std::nullopt;
    if (place) {
      ranges.take(*place, bytes);
      REQUIRE(*place >= head);
      REQUIRE(*place % alignment_bytes == 0);
      for (std::size_t i = 0; i < bytes; ++i) REQUIRE(owner.at(*place + i)++ == 0);
      taken[*place] = bytes;
    } else if (!taken.empty()) {
      const auto which = std::next(taken.begin(), static_cast<std::ptrdiff_t>(random.next() % taken.size()));
      ranges.give_back(which->first, which->second);
      for (std::size_t i = 0; i < which->second; ++i) --owner[which->first + i];
      taken.erase(which);
    }
  }
  for (const auto& [first, bytes] : taken) ranges.give_back(first, bytes);
  CHECK(ranges.free_bytes() == size - head);
  CHECK(ranges.find(size - head) == head);
  CHECK_FALSE(ranges.find(size - head + 1));
}

TEST_CASE("atomic operations do to each type what the language does") {
  const auto run = [](auto start, AtomicOp op, auto operand, auto expected) {
    using T = decltype(start);
    alignas(8) T value = start;
    const Change change{.op = op,
                        .number = exchange::detail::atomic_number<T>,
                        .operand = exchange::detail::bits_of<T>(operand),
                        .expected = exchange::detail::bits_of<T>(expected)};
    const T old = exchange::detail::of_bits<T>(apply_change(reinterpret_cast<std::byte*>(&value), change));
    CHECK(old == start);
    return value;
  };
  CHECK(run(std::int32_t{-5}, AtomicOp::add, 3, 0) == -2);
  CHECK(run(std::uint32_t{0xFFFFFFFF}, AtomicOp::add, 2, 0) == 1);
  CHECK(run(std::int64_t{1} << 40, AtomicOp::add, std::int64_t{-1}, 0) == (std::int64_t{1} << 40) - 1);
  CHECK(run(1.5F, AtomicOp::add, 0.25F, 0.F) == 1.75F);
  CHECK(run(-1e300, AtomicOp::add, 1e300, 0.) == 0);
  CHECK(run(std::uint64_t{12}, AtomicOp::bit_and, std::uint64_t{10}, 0) == 8);
  CHECK(run(std::int32_t{12}, AtomicOp::bit_or, 3, 0) == 15);
  CHECK(run(std::int64_t{12}, AtomicOp::bit_xor, std::int64_t{10}, 0) == 6);
  CHECK(run(std::int32_t{4}, AtomicOp::compare_swap, 9, 4) == 9);
  CHECK(run(std::int32_t{4}, AtomicOp::compare_swap, 9, 5) == 4);
  CHECK(run(2.5, AtomicOp::swap, 7.5, 0.) == 7.5);
  CHECK(run(2.5F, AtomicOp::load, 7.5F, 0.F) == 2.5F);
}
