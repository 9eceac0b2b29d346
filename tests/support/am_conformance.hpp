// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <doctest/doctest.h>

#include <array>
#include <functional>
#include <map>
#include <thread>
#include <vector>

#include "am/endpoint.hpp"
#include "am/launch.hpp"
#include "base/random.hpp"
#include "base/system.hpp"

/// What every transport of messages promises, as bodies for `am::launch`.
namespace tailrace::test {

inline void wait_until(am::Endpoint& endpoint, const std::function<bool()>& met) {
  while (!met()) endpoint.wait(1e-2);
}

/// The bytes of a message by formula; both sides know it.
inline am::Bytes content(int from, int to, int module, int number, std::size_t size) {
  SplitMix64 random(static_cast<std::uint64_t>(((from * 64 + to) * 16 + module) * 100'000 + number));
  am::Bytes bytes(size);
  for (std::size_t at = 0; at + sizeof(std::uint64_t) <= size; at += sizeof(std::uint64_t))
    put_at(std::span(bytes), at, random.next());
  for (std::size_t at = size / 8 * 8; at < size; ++at) bytes[at] = static_cast<std::byte>(at + size);
  return bytes;
}

/// Sizes around everything that changes the way of a message: 0 to 4 MiB.
inline std::size_t body_bytes(int number, std::size_t largest) {
  constexpr std::array<std::size_t, 17> sizes{0,    1,    7,    8,     9,     64,     100,     511,      1000,
                                              4000, 4032, 4033, 16384, 16385, 65'537, 262'145, 1U << 22U};
  const std::size_t size = sizes[static_cast<std::size_t>(number * 7) % sizes.size()];
  return size <= largest && (size < (1U << 22U) || number == 12) ? size : size % 300;
}
inline std::size_t head_bytes(int number) {
  return number % 5 == 0 ? 0 : static_cast<std::size_t>(number * 37 % 120);
}

/// Receives what every rank sends to every other one, and checks it as it comes.
class Traffic {
 public:
  static constexpr int modules = 4;

  Traffic(am::Endpoint& endpoint, int messages, std::size_t largest)
      : endpoint_(&endpoint), messages_(messages), largest_(largest) {
    for (int module = 0; module < modules; ++module)
      endpoint.set_handler(module, module % 2 == 0 ? am::Lane::data : am::Lane::control,
                           [this, module](am::Message& message) { receive(module, message); });
  }

  void run() {
    for (int number = 0; number < messages_; ++number) send_round(number);
    wait_until(*endpoint_, [&] { return received_ == expected() && completed_ == expected(); });
    CHECK(differing_ == 0);
    for (int other = 0; other < endpoint_->size(); ++other) check_tallies(other);
  }

 private:
  [[nodiscard]] int expected() const { return endpoint_->size() * modules * messages_; }

  void send_round(int number) {
    for (int to = 0; to < endpoint_->size(); ++to)
      for (int module = 0; module < modules; ++module) {
        const int me = endpoint_->rank();
        const auto head = content(me, to, module, number, head_bytes(number));
        auto body = std::make_shared<am::Bytes>(
            content(me, to, module, -number, body_bytes(number + module, largest_)));
        endpoint_->send(to, module, {.head = head, .body = *body}, [this, body] { ++completed_; });
      }
    endpoint_->progress();
  }

  void receive(int module, am::Message& message) {
    const int from = message.source(), me = endpoint_->rank();
    const int number = next_[{from, module}]++;
    ++received_;
    const auto head = content(from, me, module, number, head_bytes(number));
    const auto body = content(from, me, module, -number, body_bytes(number + module, largest_));
    if (!std::ranges::equal(head, message.head())) ++differing_;
    const bool aligned = reinterpret_cast<std::uintptr_t>(message.body().data()) % 8 == 0;  // NOLINT
    if (!std::ranges::equal(body, message.body()) || (!body.empty() && !aligned)) ++differing_;
    if (message.take_body() != body) ++differing_;
  }

  void check_tallies(int other) {
    am::Tally all;
    for (int number = 0; number < messages_; ++number)
      for (int module = 0; module < modules; ++module)
        all.add(head_bytes(number) + body_bytes(number + module, largest_));
    CHECK(endpoint_->peer(other).sent == all);
    CHECK(endpoint_->peer(other).received == all);
  }

  am::Endpoint* endpoint_;
  int messages_;
  std::size_t largest_;
  std::map<std::pair<int, int>, int> next_;
  int received_ = 0, completed_ = 0, differing_ = 0;
};

/// Every rank sends to every rank in several modules on both lanes: order, contents, counters, completions.
inline void all_to_all(am::Endpoint& endpoint, int messages, std::size_t largest) {
  Traffic(endpoint, messages, largest).run();
  for (int module = 0; module < Traffic::modules; ++module) {
    CHECK(endpoint.sent().of(module).messages == endpoint.size() * messages);
    CHECK(endpoint.sent().of(module) == endpoint.received().of(module));
  }
}

/// The last rank floods rank 0, which does not look meanwhile: no more goes out than there is credit for.
inline void slow_receiver(am::Endpoint& endpoint) {
  constexpr int messages = 2000;
  constexpr std::size_t bytes = 1000;
  int handled = 0;
  endpoint.set_handler(0, am::Lane::data, [&](am::Message& message) {
    if (value_at<int>(message.body()) == handled) ++handled;
  });
  if (endpoint.rank() == endpoint.size() - 1 && endpoint.size() > 1) {
    am::Bytes body(bytes);
    for (int i = 0; i < messages; ++i) {
      put_at(std::span(body), 0, i);
      endpoint.send(0, 0, {.body = body});
    }
    CHECK(endpoint.costs().frames_sent == endpoint.options().frames_in_flight);
    CHECK(endpoint.waiting_bytes() > static_cast<std::int64_t>(messages * bytes / 2));
    CHECK(endpoint.costs().credit_waits > 0);
    wait_until(endpoint, [&] { return endpoint.waiting_bytes() == 0; });
  }
  if (endpoint.rank() == 0 && endpoint.size() > 1) wait_until(endpoint, [&] { return handled == messages; });
}

/// All ranks send small and large messages to one, which answers each; nobody sends more before the answer.
inline void many_to_one(am::Endpoint& endpoint) {
  constexpr int rounds = 60;
  int answers = 0, asked = 0;
  const int last = endpoint.size() - 1;
  endpoint.set_handler(3, am::Lane::data, [&](am::Message& message) {
    ++asked;
    endpoint.send(message.source(), 4,
                  {.head = message.head(), .body = message.body().first(message.body().size() / 2)});
  });
  endpoint.set_handler(4, am::Lane::data, [&](am::Message& message) {
    const int number = value_at<int>(message.head());
    if (number == answers && message.body().size() == body_bytes(number, 1U << 16U) / 2) ++answers;
  });
  for (int number = 0; number < rounds; ++number) {
    const am::Bytes body(body_bytes(number, 1U << 16U));
    bool complete = false;
    endpoint.send(last, 3, {.head = std::as_bytes(std::span(&number, 1)), .body = body},
                  [&] { complete = true; });
    wait_until(endpoint, [&] { return complete && answers == number + 1; });
  }
  if (endpoint.rank() == last) wait_until(endpoint, [&] { return asked == rounds * endpoint.size(); });
}

/// Worker threads hand messages over; each thread's arrive in order, and the communicating thread is woken.
inline void handed_over(am::Endpoint& endpoint) {
  constexpr int workers = 3, messages = 400;
  std::map<std::pair<int, int>, int> next;  // by source and worker
  int received = 0, disorder = 0, completed = 0;
  endpoint.set_handler(1, am::Lane::data, [&](am::Message& message) {
    const auto [worker, number] = value_at<std::array<int, 2>>(message.head());
    if (next[{message.source(), worker}]++ != number || message.body().size() != 40'000 * (number % 10 == 0))
      ++disorder;
    ++received;
  });
  const am::Bytes large(40'000);
  const int to = (endpoint.rank() + 1) % endpoint.size();
  std::vector<std::thread> threads;
  for (int worker = 0; worker < workers; ++worker)
    threads.emplace_back([&, worker] {
      for (int number = 0; number < messages; ++number) {
        const std::array<int, 2> head{worker, number};
        const auto body = number % 10 == 0 ? std::span<const std::byte>(large) : std::span<const std::byte>();
        endpoint.hand_over(to, 1, {.head = std::as_bytes(std::span(head)), .body = body},
                           [&] { ++completed; });
      }
    });
  const auto done = [&] { return received == workers * messages && completed == workers * messages; };
  while (!done()) endpoint.wait();  // without a limit: the workers wake it
  for (std::thread& thread : threads) thread.join();
  CHECK(disorder == 0);
}

/// A rank to which nothing comes looks a bounded number of times, then sleeps. What others send when they
/// have finished ends a wait.
inline void waiting_is_cheap(am::Endpoint& endpoint) {
  constexpr double wait_s = 0.2;
  while (endpoint.progress()) {
  }
  const am::Costs before = endpoint.costs();
  const double end_s = monotonic_s() + wait_s;
  int waits = 0;
  for (; monotonic_s() < end_s; ++waits) endpoint.wait(end_s - monotonic_s());
  const auto looks = endpoint.costs().looks - before.looks, sleeps = endpoint.costs().sleeps - before.sleeps;
  CHECK(sleeps >= 1);
  CHECK(looks - sleeps <= 301 * waits);
  // Pauses from 20 us, a thousandth of what has been waited: 1000 until 20 ms, then 1000 ln(0.2 s / 20 ms).
  CHECK(sleeps <= 3400 * waits);
  CHECK(waits <= 20);
}

/// Messages that cause messages: a random tree from every rank, whose size both sides of a message know.
class Avalanche {
 public:
  Avalanche(am::Endpoint& endpoint, std::uint64_t seed) : endpoint_(&endpoint), seed_(seed) {
    for (int module = 0; module < 3; ++module)
      endpoint.set_handler(module, am::Lane::data, [this](am::Message& message) {
        ++handled_;
        spread(value_at<std::uint64_t>(message.head()), value_at<int>(message.head(), 8));
      });
  }

  /// Runs until termination is detected; the messages handled on all ranks are then those of the trees.
  void run() {
    spread(mixed_bits(seed_ + static_cast<std::uint64_t>(endpoint_->rank())), depth);
    am::Termination termination(*endpoint_);
    while (!termination.reached(endpoint_->quiet())) endpoint_->wait(1e-2);
    std::int64_t expected = 0;
    for (int rank = 0; rank < endpoint_->size(); ++rank)
      expected += size_of(mixed_bits(seed_ + static_cast<std::uint64_t>(rank)), depth);
    am::TreeSum& sums = endpoint_->sums();
    sums.start({handled_});
    wait_until(*endpoint_, [&] { return sums.complete(); });
    CHECK(sums.result()[0] == expected);
    CHECK(termination.waves() >= 2);
  }

 private:
  static constexpr int depth = 6;
  static int children(std::uint64_t node, int left) { return left == 0 ? 0 : static_cast<int>(node % 4); }
  static std::uint64_t child(std::uint64_t node, int i) {
    return mixed_bits(node + static_cast<std::uint64_t>(i) + 1);
  }
  static std::int64_t size_of(std::uint64_t node, int left) {
    std::int64_t sum = children(node, left);
    for (int i = 0; i < children(node, left); ++i) sum += size_of(child(node, i), left - 1);
    return sum;
  }

  void spread(std::uint64_t node, int left) {
    for (int i = 0; i < children(node, left); ++i) {
      const std::uint64_t next = child(node, i);
      std::array<std::byte, 16> head{};
      put_at(std::span(head), 0, next);
      put_at(std::span(head), 8, left - 1);
      const auto to = static_cast<int>((next >> 8U) % static_cast<std::uint64_t>(endpoint_->size()));
      const bool large = (next >> 20U) % 8 == 0;
      auto body = std::make_shared<am::Bytes>(large ? 20'000 : 0);
      endpoint_->send(to, static_cast<int>((next >> 16U) % 3), {.head = head, .body = *body}, [body] {});
    }
  }

  am::Endpoint* endpoint_;
  std::uint64_t seed_;
  std::int64_t handled_ = 0;
};

}  // namespace tailrace::test
