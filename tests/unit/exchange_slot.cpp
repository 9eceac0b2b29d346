// SPDX-License-Identifier: BSD-3-Clause
#include "exchange/transports/slot.hpp"

#include <doctest/doctest.h>

#include <cstring>
#include <thread>

#include "base/aligned.hpp"

using namespace tailrace;
using exchange::Slot;

namespace {

// Not a multiple of a cache line.
constexpr std::size_t numbers = 37, bytes = numbers * sizeof(std::uint64_t);
constexpr std::uint64_t rounds = 1000;

void send_all(Slot slot) {
  for (std::uint64_t round = 1; round <= rounds; ++round) {
    while (!slot.has_room(round)) std::this_thread::yield();
    for (std::size_t i = 0; i < numbers; ++i) {
      const std::uint64_t value = round * numbers + i;
      std::memcpy(slot.message(round) + i * sizeof value, &value, sizeof value);
    }
    slot.send(round);
  }
}

/// How many numbers were not those of their round.
int receive_all(Slot slot) {
  int wrong = 0;
  for (std::uint64_t round = 1; round <= rounds; ++round) {
    while (!slot.has_come(round)) std::this_thread::yield();
    for (std::size_t i = 0; i < numbers; ++i) {
      std::uint64_t value = 0;
      std::memcpy(&value, slot.message(round) + i * sizeof value, sizeof value);
      wrong += value != round * numbers + i;
    }
    slot.give_back(round);
  }
  return wrong;
}

}  // namespace

// The same memory and counters as between two ranks; threads of one process are what a thread sanitizer sees.
TEST_CASE("messages through a slot come whole and in their rounds") {
  AlignedVector<std::byte> memory(Slot::size_bytes(bytes));
  const Slot slot{memory.data(), bytes};
  slot.clear();
  std::thread sender(send_all, slot);
  CHECK(receive_all(slot) == 0);
  sender.join();
}

TEST_CASE("a sender is two rounds ahead at most") {
  AlignedVector<std::byte> memory(Slot::size_bytes(bytes));
  const Slot slot{memory.data(), bytes};
  slot.clear();
  CHECK(slot.has_room(2));
  CHECK(!slot.has_room(3));
  slot.send(1);
  CHECK(slot.has_come(1));
  CHECK(!slot.has_come(2));
  CHECK(!slot.has_room(3));
  slot.give_back(1);
  CHECK(slot.has_room(3));
  CHECK(slot.message(1) != slot.message(2));
  CHECK(slot.message(1) == slot.message(3));
}
