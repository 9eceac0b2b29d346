// SPDX-License-Identifier: BSD-3-Clause
#include <doctest/doctest.h>

#include <utility>

#include "am/launch.hpp"
#include "am/slot_table.hpp"
#include "am_conformance.hpp"
#include "error_of.hpp"

using namespace tailrace;

namespace {

am::Choice local(int ranks, std::optional<am::Faults> faults = {}) {
  am::Choice choice;
  choice.local_ranks = ranks;
  choice.faults = faults;
  return choice;
}

}  // namespace

TEST_CASE("a token names an entry until it is taken") {
  am::SlotTable<int> table;
  const am::Token first = table.insert(7), second = table.insert(8);
  CHECK(table.at(first) == 7);
  CHECK(table.take(first) == 7);
  CHECK(table.size() == 1);
  const am::Token reused = table.insert(9);
  CHECK(reused.slot == first.slot);
  CHECK_THROWS_AS(table.at(first), Error);
  CHECK_THROWS_AS(table.take({.slot = 5, .generation = 0}), Error);
  CHECK(table.at(reused) == 9);
  CHECK(table.at(second) == 8);
}

TEST_CASE("size classes divide by eight") {
  CHECK(am::size_class(0) == 0);
  CHECK(am::size_class(8) == 0);
  CHECK(am::size_class(9) == 1);
  CHECK(am::size_class(64) == 1);
  CHECK(am::size_class(65) == 2);
  CHECK(am::size_class(4096) == 3);
  CHECK(am::size_class(4097) == 4);
  CHECK(am::size_class(std::size_t{1} << 21U) == 6);
  CHECK(am::size_class(std::size_t{1} << 40U) == 7);
}

TEST_CASE("transports and faults are read, and what is wrong with them is named") {
  CHECK(am::parse_transport("mpi").local_ranks == 0);
  CHECK(am::parse_transport("local:7").local_ranks == 7);
  for (const char* text : {"local", "local:", "local:0", "local:-1", "local:2x", "tcp", ""}) {
    const auto error = test::error_of([&] { am::parse_transport(text); });
    REQUIRE(error);
    CHECK(error->kind == ErrorKind::usage);
    CHECK(error->message.find(text) != std::string::npos);
    CHECK(error->hint.find("local:N") != std::string::npos);
  }
  CHECK(am::parse_faults("") == am::Faults{});
  CHECK(am::parse_faults("delayed=0.25,max_looks=3,slow_rank=1,slow_looks=9,seed=12") ==
        am::Faults{.seed = 12, .delayed = 0.25, .max_looks = 3, .slow_rank = 1, .slow_looks = 9});
  const auto error = test::error_of([] { am::parse_faults("delayed=2,dealyed=0.1,max_looks=0"); });
  REQUIRE(error);
  for (const char* word : {"'delayed=2'", "'dealyed=0.1'", "'max_looks=0'", "from 0 to 1", "one of seed"})
    CHECK(error->message.find(word) != std::string::npos);
}

TEST_CASE("threads: order, contents and counters of all sizes on both lanes") {
  for (const int ranks : {1, 2, 3, 7}) {
    const std::size_t largest = ranks == 2 ? std::size_t{1} << 22U : 20'000;
    am::launch_local(local(ranks), [&](am::Endpoint& e) { test::all_to_all(e, 18, largest); });
  }
}

TEST_CASE("threads: with small frames, little credit and few bodies at a time") {
  am::Choice choice = local(3);
  choice.options = {
      .frame_bytes = 200, .rendezvous_bytes = 500, .frames_in_flight = 2, .bodies_in_flight = 1};
  am::launch_local(choice, [](am::Endpoint& e) { test::all_to_all(e, 60, 5000); });
}

TEST_CASE("threads: messages may overtake each other, but not those of one module from one rank") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const am::Faults faults{
        .seed = seed, .delayed = 0.4, .max_looks = 30, .slow_rank = seed % 2 == 0 ? 1 : -1};
    am::launch_local(local(3, faults), [](am::Endpoint& e) { test::all_to_all(e, 18, 20'000); });
  }
}

TEST_CASE("threads: a slow receiver is not drowned") {
  am::launch_local(local(2), test::slow_receiver);
  am::launch_local(local(5), test::slow_receiver);
}

TEST_CASE("threads: many to one, itself included") {
  for (const int ranks : {1, 2, 7}) am::launch_local(local(ranks), test::many_to_one);
}

TEST_CASE("threads: workers hand over") {
  for (const int ranks : {1, 2}) am::launch_local(local(ranks), test::handed_over);
  am::launch_local(local(2, am::Faults{.delayed = 0.3}), test::handed_over);
}

TEST_CASE("threads: who waits sleeps until something arrives") {
  am::launch_local(local(2), test::waiting_is_cheap);
  am::launch_local(local(1), [](am::Endpoint& e) {
    while (e.progress()) {
    }
    e.wait(0.1);
    CHECK(e.costs().sleeps <= 2);  // nothing rang: one sleep of the whole limit, or one that ended early
  });
}

TEST_CASE("a message to oneself is handled by progress, not by send") {
  am::launch_local(local(1), [](am::Endpoint& e) {
    bool handled = false, complete = false;
    am::Bytes body(100'000, std::byte{3});
    e.set_handler(0, am::Lane::data, [&](am::Message& message) {
      handled = message.take_body() == am::Bytes(100'000, std::byte{3});
    });
    e.send(0, 0, {.body = body}, [&] { complete = true; });
    CHECK(complete);
    CHECK_FALSE(handled);
    body.assign(body.size(), std::byte{0});  // it is the sender's again
    CHECK_FALSE(e.quiet());
    CHECK(e.progress());
    CHECK(handled);
    CHECK(e.quiet());
  });
}

TEST_CASE("a large message is not copied on its way, and small ones of its module wait for it") {
  am::launch_local(local(2), [](am::Endpoint& e) {
    std::vector<std::size_t> sizes;
    e.set_handler(0, am::Lane::data, [&](am::Message& message) { sizes.push_back(message.body().size()); });
    const am::Bytes large(1U << 20U), small(8);
    if (e.rank() == 0) {
      e.send(1, 0, {.body = large});
      e.send(1, 0, {.body = small});
      test::wait_until(e, [&] { return e.quiet(); });
      CHECK(e.costs().bodies_sent == 1);
    } else {
      test::wait_until(e, [&] { return sizes.size() == 2; });
      CHECK(sizes == std::vector<std::size_t>{1U << 20U, 8});
      CHECK(e.costs().bodies_received == 1);
    }
  });
}

TEST_CASE("small messages to one rank travel together") {
  am::launch_local(local(2), [](am::Endpoint& e) {
    int handled = 0;
    e.set_handler(0, am::Lane::data, [&](am::Message&) { ++handled; });
    if (e.rank() == 0) {
      for (int i = 0; i < 100; ++i) e.send(1, 0, {.head = std::as_bytes(std::span(&i, 1))});
      CHECK(e.costs().frames_sent == 0);
      e.flush();
      CHECK(e.costs().frames_sent == 1);
    } else {
      test::wait_until(e, [&] { return handled == 100; });
      CHECK(e.costs().frames_received == 1);
    }
  });
}

TEST_CASE("control overtakes the data that waits") {
  am::Choice choice = local(2);
  choice.options.frames_in_flight = 2;
  am::launch_local(choice, [](am::Endpoint& e) {
    std::vector<int> order;
    e.set_handler(0, am::Lane::data, [&](am::Message&) { order.push_back(0); });
    e.set_handler(1, am::Lane::control, [&](am::Message&) { order.push_back(1); });
    const am::Bytes body(3000);
    if (e.rank() == 0) {
      for (int i = 0; i < 10; ++i) e.send(1, 0, {.body = body});
      e.send(1, 1, {});
    } else {
      test::wait_until(e, [&] { return order.size() == 11; });
      CHECK(std::find(order.begin(), order.end(), 1) - order.begin() <= 2);
    }
  });
}

TEST_CASE("the end is never found before the last message, however late it is") {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const am::Faults faults{.seed = seed,
                            .delayed = seed % 3 == 0 ? 0.05 : 0.5,
                            .max_looks = seed % 5 == 0 ? 100 : 20,
                            .slow_rank = static_cast<int>(seed % 4) - 1,
                            .slow_looks = 15};
    am::launch_local(local(1 + static_cast<int>(seed % 5), faults),
                     [&](am::Endpoint& e) { test::Avalanche(e, seed).run(); });
  }
}

TEST_CASE("who is passive has a turn between two sums: what it asks for then comes before the end") {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const am::Faults faults{.seed = seed, .delayed = 0.5, .max_looks = 20};
    am::launch_local(local(2 + static_cast<int>(seed % 2), faults), [](am::Endpoint& endpoint) {
      bool over = false, has_asked = false;
      endpoint.set_handler(0, am::Lane::data, [&](am::Message&) { endpoint.send(0, 1, {}); });
      endpoint.set_handler(1, am::Lane::data, [&](am::Message&) { CHECK_FALSE(over); });
      am::Termination termination(endpoint);
      if (endpoint.rank() == 0)  // what the others contribute is there before its own
        for (int looks = 0; looks < 100; ++looks) endpoint.wait(1e-4);
      while (!termination.reached(true)) {
        if (endpoint.rank() == 0 && !std::exchange(has_asked, true)) endpoint.send(1, 0, {});
        endpoint.wait(1e-2);
      }
      over = true;
      endpoint.close();
    });
  }
}

TEST_CASE("an exception on one rank ends all, and is the one that is reported") {
  const auto error = test::error_of([] {
    am::launch_local(local(4), [](am::Endpoint& e) {
      if (e.rank() == 2) throw Error(ErrorKind::input, "on purpose");
      for (;;) e.wait();
    });
  });
  REQUIRE(error);
  CHECK(error->message == "on purpose");
}

TEST_CASE("what a handler throws leaves progress, which may be called again") {
  am::launch_local(local(1), [](am::Endpoint& e) {
    e.set_handler(0, am::Lane::data, [&](am::Message&) { throw Error(ErrorKind::input, "on purpose"); });
    int handled = 0;
    e.set_handler(1, am::Lane::data, [&](am::Message&) { ++handled; });
    e.set_handler(2, am::Lane::data, [&](am::Message&) { CHECK_THROWS_AS(e.progress(), Error); });
    e.send(0, 0, {});
    const auto error = test::error_of([&] { e.progress(); });
    REQUIRE(error);
    CHECK(error->message == "on purpose");
    e.send(0, 1, {});
    e.send(0, 2, {});
    CHECK(e.progress());
    CHECK(handled == 1);
  });
}

TEST_CASE("misuse is refused") {
  am::launch_local(local(1), [](am::Endpoint& e) {
    CHECK_THROWS_AS(e.send(1, 0, {}), Error);
    CHECK_THROWS_AS(e.send(0, 99, {}), Error);
    CHECK_THROWS_AS(e.send(0, 0, {.head = am::Bytes(am::max_head_bytes + 1)}), Error);
  });
}

TEST_CASE("silence counts from when an answer was owed, or from the last frame") {
  am::SilenceWatch watch;
  CHECK(watch.look({{3, "credit", 5}, {4, "a body", 2}}, 100, 10).empty());
  CHECK(watch.look({{3, "credit", 5}, {4, "a body", 3}}, 109, 10).empty());
  const auto silent = watch.look({{3, "credit", 5}, {4, "a body", 3}, {6, "a sum", 0}}, 112, 10);
  REQUIRE(silent.size() == 1);
  CHECK(am::to_text(silent) == "rank 3 has not answered for 12 s (credit)");
  CHECK(watch.look({{4, "a body", 3}}, 113, 10).empty());
  CHECK(watch.look({{3, "credit", 5}, {4, "a body", 3}}, 120, 10).size() == 1);  // 3 had paid in between
}

TEST_CASE("a rank that stops answering is named with what it owes") {
  struct Debtor {
    const char* owed;
    std::size_t bytes;
    int messages;
  };
  for (const Debtor& debtor :
       {Debtor{"(credit)", 3000, 100}, Debtor{"(a body's memory)", 100'000, 1}, Debtor{"(a sum)", 0, 0}}) {
    am::Choice choice = local(2);
    choice.options.silence_limit_s = 0.1;
    std::atomic<bool> found{false};
    const auto error = test::error_of([&] {
      am::launch_local(choice, [&](am::Endpoint& e) {
        const am::Bytes body(debtor.bytes);
        e.set_handler(0, am::Lane::data, [](am::Message&) {});
        // Rank 1 stops looking for messages, until somebody has noticed.
        while (e.rank() == 1 && !found.load()) sleep_s(1e-3);
        if (e.rank() != 0) return;
        for (int i = 0; i < debtor.messages; ++i) e.send(1, 0, {.body = body});
        try {
          e.sums().start({});
          while (true) e.wait();
        } catch (const Error&) {
          found = true;
          throw;
        }
      });
    });
    REQUIRE(error);
    CHECK(error->message.find("rank 1 has not answered for 0.") == 0);
    CHECK(error->message.find(debtor.owed) != std::string::npos);
  }
}
