// SPDX-License-Identifier: BSD-3-Clause
#include "exchange/aggregator.hpp"

#include <doctest/doctest.h>

#include <map>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "base/random.hpp"

using namespace tailrace;
using namespace tailrace::exchange;

namespace {

std::span<const std::byte> bytes(const std::string& text) {
  return std::as_bytes(std::span(text));
}

/// A clock that says this.
auto at(double now_s) {
  return [now_s] { return now_s; };
}

/// What has left, in its order.
struct Sent {
  std::vector<std::pair<int, std::string>> messages;
  Aggregator::Send send() {
    return [this](int rank, const Aggregator::Message& message) {
      messages.emplace_back(rank, std::string(reinterpret_cast<const char*>(message.data()), message.size()));
    };
  }
};
using Messages = std::vector<std::pair<int, std::string>>;

}  // namespace

TEST_CASE("records to one rank leave as one message, in their order, once it is long enough") {
  Sent sent;
  Aggregator aggregator({.message_bytes = 6, .total_bytes = 100, .age_s = 1}, sent.send());
  aggregator.append(3, bytes("a"), bytes("b"), at(0));
  aggregator.append(1, bytes("x"), {}, at(0));
  aggregator.append(3, bytes("c"), bytes("d"), at(0));
  CHECK(sent.messages.empty());
  CHECK(aggregator.waiting_bytes() == 5);
  aggregator.append(3, bytes("e"), bytes("f"), at(0));
  CHECK(sent.messages == Messages{{3, "abcdef"}});
  CHECK(aggregator.waiting_messages() == 1);
}

TEST_CASE("a flush lets one message leave, or all, and what has left is gone") {
  Sent sent;
  Aggregator aggregator({.message_bytes = 100, .total_bytes = 100, .age_s = 1}, sent.send());
  for (const int rank : {5, 2, 9}) aggregator.append(rank, bytes("r"), bytes(std::to_string(rank)), at(0));
  aggregator.flush(2);
  aggregator.flush(2);
  aggregator.flush(77);
  CHECK(sent.messages == Messages{{2, "r2"}});
  aggregator.flush();
  CHECK(sent.messages == Messages{{2, "r2"}, {5, "r5"}, {9, "r9"}});
  CHECK(aggregator.waiting_bytes() == 0);
}

TEST_CASE("a message leaves when its first record is old, not when its last one is") {
  Sent sent;
  Aggregator aggregator({.message_bytes = 100, .total_bytes = 100, .age_s = 2}, sent.send());
  aggregator.append(0, bytes("a"), {}, at(10));
  aggregator.append(1, bytes("b"), {}, at(11));
  aggregator.append(0, bytes("c"), {}, at(11.9));
  aggregator.flush_old(11.9);
  CHECK(sent.messages.empty());
  aggregator.flush_old(12);
  CHECK(sent.messages == Messages{{0, "ac"}});
  aggregator.flush_old(13);
  CHECK(sent.messages == Messages{{0, "ac"}, {1, "b"}});
}

TEST_CASE("all messages that wait are bounded, however many ranks there are") {
  Sent sent;
  const AggregationRules rules{.message_bytes = 50, .total_bytes = 200, .age_s = 1};
  Aggregator aggregator(rules, sent.send());
  for (int rank = 0; rank < 1000; ++rank) {
    aggregator.append(rank, bytes("head"), bytes("body.."), at(0));
    CHECK(aggregator.waiting_bytes() <= Aggregator::bound_bytes(rules, 10));
    CHECK(aggregator.waiting_messages() <= 20);
  }
  CHECK(sent.messages.size() == 980);
  CHECK(sent.messages.front() == std::pair<int, std::string>{0, "headbody.."});
}

TEST_CASE("switched off, each record leaves alone") {
  Sent sent;
  Aggregator aggregator({.message_bytes = 0}, sent.send());
  for (int i = 0; i < 3; ++i) aggregator.append(4, bytes("r"), bytes(std::to_string(i)), at(0));
  CHECK(sent.messages == Messages{{4, "r0"}, {4, "r1"}, {4, "r2"}});
}

TEST_CASE("nothing is lost, doubled or overtaken, whatever the sizes and flushes") {
  Sent sent;
  Aggregator aggregator({.message_bytes = 64, .total_bytes = 300, .age_s = 0.5}, sent.send());
  SplitMix64 random(1);
  std::map<int, std::string> expected, arrived;
  for (int i = 0; i < 5000; ++i) {
    const int rank = static_cast<int>(random.next() % 13);
    const std::string text = std::to_string(i) + std::string(random.next() % 40, '.');
    aggregator.append(rank, bytes(text), bytes(";"), at(i * 0.01));
    expected[rank] += text + ";";
    if (random.next() % 50 == 0) aggregator.flush(static_cast<int>(random.next() % 13));
    if (random.next() % 20 == 0) aggregator.flush_old(i * 0.01);
  }
  aggregator.flush();
  for (const auto& [rank, text] : sent.messages) arrived[rank] += text;
  CHECK(arrived == expected);
}
