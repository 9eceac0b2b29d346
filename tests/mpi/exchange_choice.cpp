// SPDX-License-Identifier: BSD-3-Clause
#include "exchange/choice.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "base/random.hpp"
#include "base/system.hpp"
#include "mpi_case.hpp"
#include "tailrace/exchange/access_map.hpp"
#include "tailrace/trace.hpp"

using namespace tailrace;
using namespace tailrace::exchange;

namespace {

/// A choice between two transports whose flights take what the test says.
class Contest {
 public:
  explicit Contest(mpi::CommView comm)
      : choice(comm, {{.name = "persistent"}, {.name = "isend"}, {.name = "get", .obstacle = "not here"}}) {}
  using Cost = std::function<double()>;
  /// Has flights take so long with each transport, then a rebuild. Returns what is chosen.
  std::string fly(int flights, const Cost& persistent_s, const Cost& isend_s) {
    for (int i = 0; i < flights; ++i) {
      const Transport& taken = choice.next();
      choice.record(taken, taken.name == "persistent" ? persistent_s() : isend_s());
    }
    choice.reconsider();
    return choice.decided() ? std::string(choice.chosen()->name) : "none";
  }
  std::string fly(int flights, double persistent_s, double isend_s) {
    return fly(flights, Cost([=] { return persistent_s; }), Cost([=] { return isend_s; }));
  }
  Choice choice;
};

}  // namespace

MPI_CASE("a transport that has become slower is tried against the next best, and left", ranks{1, 2, 3}) {
  const bool last = comm.rank() == comm.size() - 1;
  Contest contest(comm);
  CHECK(contest.fly(20, 1, 2) == "persistent");
  CHECK(contest.fly(20, 1.4, 2) == "persistent");     // little slower
  CHECK(contest.fly(20, 1.9, 2) == "persistent");     // the other one was slower still
  CHECK(contest.fly(4, 9, 2) == "persistent");        // too few flights to say
  CHECK(contest.fly(20, last ? 9 : 1, 2) == "none");  // on one rank, for which the others wait
  CHECK(contest.choice.left().empty());
  CHECK(contest.fly(40, last ? 9 : 1, 2) == "isend");
  CHECK(contest.choice.left() == std::vector<std::string>{"persistent"});
  CHECK(contest.fly(40, 1, 2) == "isend");
  CHECK(contest.choice.left().size() == 1);
}

MPI_CASE("what slows down all transports leaves the chosen one in its place", ranks{1, 2, 3}) {
  Contest contest(comm);
  CHECK(contest.fly(20, 1, 1.2) == "persistent");
  CHECK(contest.fly(20, 3, 3.6) == "none");
  CHECK(contest.fly(40, 3, 3.6) == "persistent");
  CHECK(contest.fly(20, 9, 8.9) == "none");
  CHECK(contest.fly(40, 9, 8.9) == "persistent");  // hardly slower than the other one
  CHECK(contest.choice.left().empty());
}

MPI_CASE("noise makes auto leave nothing", ranks{1, 2, 3}) {
  SplitMix64 random(static_cast<std::uint64_t>(comm.rank()) + 1);
  const auto below = [&](double end) { return end * static_cast<double>(random.next() % 1000) / 1000; };
  // As on a busy machine: of builds some are disturbed, and then of flights some take up to twenty times.
  bool busy = false;
  const auto noisy = [&](double quiet_s) {
    return [&, quiet_s] { return quiet_s * (1 + below(0.3) + (busy && below(1) < 0.6 ? below(20) : 0)); };
  };
  Contest contest(comm);
  std::string chosen;
  int tried_again = 0;
  for (int build = 0; build < 200; ++build) {
    chosen = contest.fly(40, Contest::Cost(noisy(1)), Contest::Cost(noisy(1.2)));
    tried_again += chosen == "none" ? 1 : 0;
    busy = build % 3 == 1;
  }
  CHECK(tried_again > 0);
  CHECK(contest.choice.left().empty());
}

MPI_CASE("a map may go while auto compares what the ranks have measured", ranks{1, 2, 3}) {
  // Where the environment names a transport, auto has nothing to compare.
  if (std::getenv("TAILRACE_EXCHANGE") != nullptr) return;
  constexpr std::int64_t size = 60;
  constexpr int tries = 6;  // of each transport
  std::vector<std::int64_t> all(size);
  std::iota(all.begin(), all.end(), std::int64_t{0});
  for (int more = 0; more < 3; ++more) {
    auto map = AccessMap::make(comm, Block(size, comm.size()), all, {.transport = "auto"});
    std::vector<double> x(static_cast<std::size_t>(map.array_size()));
    map.begin_gather(map.view(std::span(x))).finish();
    const auto before = map.choices();
    REQUIRE(before.size() == 1);
    const auto& timings = before.front().timings;
    const auto tried = std::count_if(timings.begin(), timings.end(),
                                     [](const TransportTiming& one) { return one.obstacle.empty(); });
    for (std::int64_t flight = 1; flight < tried * tries + more; ++flight)
      map.begin_gather(map.view(std::span(x))).finish();
    const auto choices = map.choices();
    REQUIRE(choices.size() == 1);
    const auto& seen = choices.front().timings;
    CHECK(std::none_of(seen.begin(), seen.end(), [](const TransportTiming& one) { return one.chosen; }));
  }
}

MPI_CASE("what a flight adds up itself is not hidden", ranks{1, 2}) {
  constexpr std::int64_t size = 1 << 18;
  std::vector<std::int64_t> indices(static_cast<std::size_t>(size));
  std::iota(indices.begin(), indices.end(), size * comm.rank());
  auto map = AccessMap::make(comm, Block(size * comm.size(), comm.size()), indices,
                             {.transport = "persistent", .order = Order::partition_free});
  std::vector<double> contributions(indices.size(), 1.0), sums(static_cast<std::size_t>(map.array_size()));
  double outside_s = 0;
  for (int flight = 0; flight < 5; ++flight) {
    const double start_s = monotonic_s();
    auto under_way =
        map.begin_scatter_add(Contribution{map.view(std::span(contributions)), map.view(std::span(sums))});
    outside_s += monotonic_s() - start_s;
    under_way.finish();
  }
  const AccessCounts& counts = map.counts();
  CHECK(counts.hidden_s() <= outside_s);
  CHECK(counts.wait_s <= counts.cost_s);
  CHECK(counts.cost_s <= counts.flight_s);
  CHECK(sums.front() == 5);
}

MPI_CASE("flights are counted for each peer and leave spans with their bytes", ranks{1, 2, 3}) {
  constexpr std::int64_t size = 60;
  std::vector<std::int64_t> all(size);
  std::iota(all.begin(), all.end(), std::int64_t{0});
  trace::Log log("main");
  auto map = AccessMap::make(comm, Block(size, comm.size()), all, {.transport = "persistent", .log = &log});
  std::vector<double> x(static_cast<std::size_t>(map.array_size()));
  for (int flight = 0; flight < 3; ++flight) {
    auto under_way = map.begin_gather(map.view(std::span(x)));
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    under_way.finish();
  }
  map.rebuild(Block(size, comm.size()), all);

  const AccessCounts& counts = map.counts();
  const std::int64_t bytes = 8 * map.owned();  // of a message: every rank reads all that this one owns
  const int peers = comm.size() - 1;
  CHECK(counts.flights == 3);
  CHECK(counts.builds == 2);
  CHECK(counts.messages == 3 * peers);
  CHECK(counts.bytes == 3 * peers * bytes);
  CHECK(counts.largest_bytes == (peers > 0 ? bytes : 0));
  CHECK(counts.cost_s >= counts.wait_s);
  CHECK(counts.hidden_s() >= 3 * 0.002);
  const auto traffic = map.traffic();
  REQUIRE(traffic.size() == static_cast<std::size_t>(peers));
  for (const PeerTraffic& peer : traffic) {
    CHECK(peer.rank != comm.rank());
    CHECK(peer.messages == 3);
    CHECK(peer.bytes == 3 * bytes);
  }
  CHECK(log.total(trace::Kind::exchange).count == 6);  // begin and finish of each
  CHECK(log.total(trace::Kind::exchange).bytes == counts.bytes);
  CHECK(log.total(trace::Kind::exchange).seconds <= counts.cost_s);
}
