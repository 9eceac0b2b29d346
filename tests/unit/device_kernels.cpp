// SPDX-License-Identifier: BSD-3-Clause
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "device/boxes.hpp"
#include "device/choice.hpp"
#include "device/devices.hpp"
#include "device/launch_blocks.hpp"
#include "error_of.hpp"
#include "tailrace/error.hpp"

using namespace tailrace;
using namespace tailrace::device;

namespace {

/// Each block turns its part of the values around, through what its threads share.
struct TurnAround {
  static constexpr int threads = 8;
  struct Shared {
    int values[threads];
  };
  struct Thread {
    int mine;
  };
  int* values;

  template <class Block>
  void operator()(Block& block) const {
    int* const part = values + block.number() * threads;
    auto& shared = block.shared();
    block.each([&](int t, Thread& own) { own.mine = shared.values[t] = part[t]; });
    block.each([&](int t, Thread& own) { part[t] = 10 * shared.values[threads - 1 - t] + (own.mine > 0); });
  }
};

std::string message_of(const std::string& text) {
  const auto error = test::error_of([&] { static_cast<void>(parse_wish("--device", text)); });
  return error ? error->message + ". " + error->hint : "";
}

}  // namespace

TEST_CASE("threads of a block see what all of them did before, and keep what is theirs") {
  const auto device = emulate();
  const auto queue = device->make_queue();
  std::vector<int> values(3 * TurnAround::threads);
  std::iota(values.begin(), values.end(), 0);
  launch_blocks(*queue, 3, TurnAround{values.data()});
  queue->synchronize();
  for (int i = 0; i < 24; ++i)
    CHECK(values[static_cast<std::size_t>(i)] == 10 * (i / 8 * 8 + 7 - i % 8) + (i > 0 ? 1 : 0));
}

TEST_CASE("boxes are packed one behind the other, and come back") {
  const auto device = emulate();
  const auto queue = device->make_queue();
  std::vector<double> values(6 * 5 * 4), together(100, -1);
  std::iota(values.begin(), values.end(), 0);
  const auto all = values;
  const Array array{values.data(), 6, 30, sizeof(double)};
  const std::vector<BoxInArray> boxes{{1 + 6 + 30, 2, 3, 2}, {0, 6, 1, 1}, {35, 1, 1, 3}};
  const BoxList list(*device, *queue, boxes);
  CHECK(list.points() == 21);
  auto* const out = reinterpret_cast<std::byte*>(together.data());
  list.pack(*queue, array, out);
  queue->synchronize();
  CHECK(together[0] == 37);
  CHECK(together[3] == 44);
  CHECK(together[6] == 67);
  CHECK(together[12] == 0);
  CHECK(together[20] == 95);
  CHECK(together[21] == -1);
  queue->clear(values.data(), values.size() * sizeof(double));
  list.unpack(*queue, array, out);
  queue->synchronize();
  CHECK(values[44] == 44);
  CHECK(values[6] == 0);
  pack(*queue, array, boxes[2], out);
  unpack(*queue, array, {5, 1, 1, 3}, out);
  queue->synchronize();
  CHECK(together[1] == all[65]);
  CHECK(values[5] == 35);
}

TEST_CASE("a value that is not finite is found wherever it is") {
  const auto device = emulate();
  const auto queue = device->make_queue();
  const Buffer flags(*device, flag_count);
  const auto looks = [&](auto bad, std::size_t at) {
    std::vector<decltype(bad)> values(50 * 50 * 20, 1);
    values[at] = bad;
    return is_finite(*queue, {values.data(), 50, 2500, sizeof bad}, {0, 49, 50, 20}, flags.data());
  };
  for (const std::size_t at : {std::size_t{0}, std::size_t{2500}, std::size_t{49998}}) {
    CHECK_FALSE(looks(std::numeric_limits<float>::quiet_NaN(), at));
    CHECK_FALSE(looks(-std::numeric_limits<double>::infinity(), at));
    CHECK(looks(std::numeric_limits<float>::max(), at));
  }
  CHECK(looks(std::numeric_limits<double>::quiet_NaN(), 49));  // beside the box
}

TEST_CASE("devices that cannot be chosen are refused with what can") {
  for (const std::string text : {"", "all", "-1", "0,0", "1.5", "0,", "emulated2", "emulated:",
                                 "emulated:memory", "emulated:devices=0", "emulated:speed=2", "2000"}) {
    CAPTURE(text);
    CHECK(message_of(text).find("--device " + text) == 0);
  }
  CHECK(message_of("all").find("none, auto, a number") != std::string::npos);
  CHECK(parse_wish("--device", "none").kind == Wish::Kind::none);
  CHECK(parse_wish("--device", "auto").kind == Wish::Kind::any);
  CHECK(parse_wish("--device", "2,0").indices == std::vector{2, 0});
  const auto emulated = parse_wish("--device", "emulated:memory=2MB,devices=3,failing_copy=7");
  CHECK(emulated.emulation.memory_bytes == 2000000);
  CHECK(emulated.emulation.failing_copy == 7);
  const auto offer = offered(emulated);
  REQUIRE(offer.devices.size() == 3);
  CHECK(open(emulated, offer.devices[1])->info().index == 1);
  CHECK(near_to(offer, {0}) == 0b111);  // nobody says where they are
}

TEST_CASE("a device that is not there is refused with those that are") {
  const auto found = find_devices();
  const auto error = test::error_of([] { static_cast<void>(offered(parse_wish("--device", "1000"))); });
  REQUIRE(error);
  CHECK(error->kind == ErrorKind::usage);
  CHECK(error->message.find("--device 1000: there is no device") == 0);
  CHECK(error->hint.find("--device none") != std::string::npos);
  if (!found.devices.empty()) return;
  CHECK(error->message.find(found.why_none) != std::string::npos);
  const auto any = offered(parse_wish("--device", "auto"));
  CHECK(any.devices.empty());
  CHECK(any.why_none == found.why_none);
}

TEST_CASE("ranks share devices out evenly, near ones first") {
  const auto chosen = [](const std::vector<DeviceSet>& near, int devices) {
    return share_out(near, devices);
  };
  constexpr DeviceSet both = 0b11, first = 0b01, second = 0b10, none = 0;
  CHECK(chosen({both, both, both, both, both}, 2) == std::vector{0, 1, 0, 1, 0});  // one after the other
  CHECK(chosen({second, second, first, first}, 2) == std::vector{1, 1, 0, 0});
  CHECK(chosen({both, first}, 2) == std::vector{1, 0});                       // who has no choice comes first
  CHECK(chosen({first, first, first, first}, 2) == std::vector{0, 0, 1, 1});  // evenly before near
  CHECK(chosen({first, first, second, second}, 3) == std::vector{0, 0, 1, 2});
  CHECK(chosen({none, none, second, second}, 2) == std::vector{0, 0, 1, 1});
  CHECK(chosen({0b1000, 0b0100}, 4) == std::vector{3, 2});
  CHECK(chosen({both}, 1) == std::vector{0});
  const auto many = chosen(std::vector<DeviceSet>(100, ~DeviceSet{0}), 80);  // more than a set has bits
  for (int rank = 0; rank < 80; ++rank) CHECK(many[static_cast<std::size_t>(rank)] == rank);
}
