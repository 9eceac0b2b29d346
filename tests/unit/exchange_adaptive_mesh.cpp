// SPDX-License-Identifier: BSD-3-Clause
#include "adaptive_mesh.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "exchange/inspection.hpp"
#include "exchange_ownership.hpp"

using namespace tailrace;
using namespace tailrace::bench;

/// Against the numbers of elements that NPB's UA prints, and of points and remote values that a program
/// independent of this one counted (tests/data/README.md).
namespace {

/// The mesh after a step: time is added up step by step.
std::vector<Leaf> leaves_after(char name, int steps) {
  const UaClass which = ua_class(name);
  double time_s = 0;
  for (int step = 0; step < steps; ++step) time_s += which.step_s();
  return ua_leaves(which, time_s);
}

}  // namespace

TEST_CASE("meshes of UA have the elements that the benchmark prints") {
  const std::vector<std::size_t> small{141, 134, 246, 190, 120, 204, 204, 120, 190, 246},
      workstation{561, 568, 526, 561, 477, 477, 589, 554, 484, 589,
                  540, 512, 498, 575, 533, 505, 568, 505, 358, 526};
  for (std::size_t i = 0; i < small.size(); ++i)
    CHECK(leaves_after('S', 5 * static_cast<int>(i)).size() == small[i]);
  for (std::size_t i = 0; i < workstation.size(); ++i)
    CHECK(leaves_after('W', 5 * static_cast<int>(i)).size() == workstation[i]);
  CHECK(leaves_after('A', 0).size() == 2003);
  CHECK(leaves_after('A', 20).size() == 1933);
}

TEST_CASE("they have as many mortar points as were counted elsewhere") {
  CHECK(ua_mortars(leaves_after('S', 0)).points == 6990);
  CHECK(ua_mortars(leaves_after('W', 0)).points == 25474);
  CHECK(ua_mortars(leaves_after('A', 0)).points == 85456);
  CHECK(ua_mortars(leaves_after('C', 100)).points == 1253739);
}

TEST_CASE("as many values are remote under each rule of ownership as were counted elsewhere") {
  struct Row {
    const char* rule;
    double at_8, at_64;
  };
  const Mortars mortars = ua_mortars(leaves_after('C', 100));
  for (const auto& [rule, at_8, at_64] :
       {Row{"block", 0.25, 1.02}, Row{"cyclic", 0.95, 1.20}, Row{"double_block", 0.14, 0.62},
        Row{"reversed_double_block", 1.05, 1.20}, Row{"lowest_rank", 0.090, 0.219}})
    for (const auto& [ranks, wanted] : {std::pair{8, at_8}, std::pair{64, at_64}}) {
      const OwnedMortars owned = own(mortars, rule, ranks);
      std::size_t remote = 0;
      for (int rank = 0; rank < ranks; ++rank)
        remote += exchange::inspect(owned.distribution, rank, owned.of_rank(mortars, rank)).wanted.size();
      const double per_point = static_cast<double>(remote) / static_cast<double>(mortars.points);
      // Most were counted to two digits.
      CHECK_MESSAGE(std::abs(per_point - wanted) <= 0.006, rule, " on ", ranks, " ranks: ", per_point);
    }
}

TEST_CASE("the balanced rule evens out what ranks read and what is read of them, with few more peers") {
  struct Row {
    int ranks;
    double volume, most;  ///< values read of others per point; the most of a rank over the mean
  };
  const Mortars mortars = ua_mortars(leaves_after('C', 100));
  // The lowest rank as owner: 1.7 and 2.6 at 64 ranks, 2.0 and 2.5 at 256, and 9 peers.
  for (const auto& [ranks, volume, most] : {Row{64, 0.219, 1.35}, Row{256, 0.352, 1.65}}) {
    const OwnedMortars owned = own(mortars, "balanced", ranks);
    const auto size = static_cast<std::size_t>(ranks);
    std::vector<std::int64_t> reads(size), read(size);
    std::size_t peers = 0;
    for (int rank = 0; rank < ranks; ++rank) {
      const auto seen = exchange::inspect(owned.distribution, rank, owned.of_rank(mortars, rank));
      reads[static_cast<std::size_t>(rank)] = static_cast<std::int64_t>(seen.wanted.size());
      for (const auto& source : seen.sources) read[static_cast<std::size_t>(source.rank)] += source.count;
      peers += seen.sources.size();
    }
    const auto remote = static_cast<double>(std::accumulate(reads.begin(), reads.end(), std::int64_t{0}));
    CHECK(std::abs(remote / static_cast<double>(mortars.points) - volume) < 0.001);
    CHECK(ranks * static_cast<double>(*std::max_element(reads.begin(), reads.end())) <= most * remote);
    CHECK(ranks * static_cast<double>(*std::max_element(read.begin(), read.end())) <= most * remote);
    CHECK(peers <= 13 * size);
  }
}
