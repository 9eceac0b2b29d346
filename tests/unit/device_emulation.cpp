// SPDX-License-Identifier: BSD-3-Clause
#include <doctest/doctest.h>

#include <numeric>
#include <vector>

#include "device/devices.hpp"
#include "device/emulation.hpp"
#include "device/launch.hpp"
#include "error_of.hpp"
#include "tailrace/error.hpp"

using namespace tailrace;
using namespace tailrace::device;

namespace {

struct Double {
  int* values;
  void operator()(std::int64_t i) const { values[i] *= 2; }
};

}  // namespace

TEST_CASE("work of a queue is done later and in order, and an event says when") {
  const auto device = emulate({.copy_delay_s = 0.02});
  const auto queue = device->make_queue();
  const auto event = device->make_event();
  CHECK(event->reached());
  std::vector<int> values(100), back(100, -1);
  std::iota(values.begin(), values.end(), 0);
  const Buffer buffer(*device, values.size() * sizeof(int));
  queue->copy_to_device(buffer.data(), values.data(), buffer.bytes());
  launch(*queue, 100, Double{reinterpret_cast<int*>(buffer.data())});
  queue->copy_to_host(back.data(), buffer.data(), buffer.bytes());
  queue->record(*event);
  CHECK_FALSE(event->reached());
  event->wait();
  CHECK(event->reached());
  for (int i = 0; i < 100; ++i) CHECK(back[static_cast<std::size_t>(i)] == 2 * i);
}

TEST_CASE("a queue waits for the mark of another one") {
  const auto device = emulate({.copy_delay_s = 0.02});
  const auto first = device->make_queue(), second = device->make_queue();
  const auto event = device->make_event();
  int from = 1, to = 0, seen = -1;
  const Buffer buffer(*device, sizeof(int));
  first->copy_to_device(buffer.data(), &from, sizeof(int));
  first->copy_to_host(&to, buffer.data(), sizeof(int));
  first->record(*event);
  second->wait_for(*event);
  second->emulation()->enqueue([&] { seen = to; });
  second->synchronize();
  CHECK(seen == 1);
}

TEST_CASE("memory that is not there is refused, and given back memory is free") {
  const auto device = emulate({.memory_bytes = 1000});
  {
    const Buffer most(*device, 900);
    CHECK(device->free_bytes() == 100);
    const auto error = test::error_of([&] { Buffer(*device, 101); });
    REQUIRE(error);
    CHECK(error->kind == ErrorKind::resource);
  }
  CHECK(device->free_bytes() == 1000);
  CHECK(device->counts().max_allocated_bytes == 900);
}

TEST_CASE("a copy that fails is an error for whoever waits, then and afterwards") {
  const auto device = emulate({.failing_copy = 2});
  const auto queue = device->make_queue();
  const auto event = device->make_event();
  int value = 0;
  const Buffer buffer(*device, sizeof(int));
  queue->copy_to_host(&value, buffer.data(), sizeof(int));
  queue->record(*event);
  CHECK_NOTHROW(event->wait());
  queue->copy_to_host(&value, buffer.data(), sizeof(int));
  queue->record(*event);
  CHECK_THROWS_AS(event->wait(), Error);
  CHECK_THROWS_AS(static_cast<void>(event->reached()), Error);
  CHECK_THROWS_AS(queue->synchronize(), Error);
}

TEST_CASE("pins are counted by the copies that go through them") {
  const auto device = emulate();
  const auto queue = device->make_queue();
  std::vector<std::byte> memory(64);
  const Buffer buffer(*device, 32);
  {
    const Pin pin(*device, memory);
    queue->copy_to_host(memory.data() + 32, buffer.data(), 32);
    queue->synchronize();
    CHECK(device->counts().unpinned_copies == 0);
  }
  queue->copy_to_host(memory.data(), buffer.data(), 32);
  queue->synchronize();
  CHECK(device->counts().unpinned_copies == 1);
}

TEST_CASE("looking for devices ends with devices or a reason") {
  const auto found = find_devices();
  CHECK(found.devices.empty() == !found.why_none.empty());
  if (found.devices.empty()) CHECK_THROWS_AS(open_device(0), Error);
}
