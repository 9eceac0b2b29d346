// SPDX-License-Identifier: BSD-3-Clause
#include "adaptive_mesh.hpp"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "exchange_transports.hpp"
#include "mpi_case.hpp"
#include "tailrace/exchange/access_map.hpp"

using namespace tailrace;
using namespace tailrace::exchange;

namespace {

/// The points of UA's smallest mesh, as its elements touch them, and a contribution for each time: numbers of
/// very different sizes, whose sums depend on their order.
struct Contributions {
  bench::Mortars mortars = bench::ua_mortars(bench::ua_leaves(bench::ua_class('S'), 0));
  std::vector<double> values;

  Contributions() {
    SplitMix64 random(11);
    for (std::size_t i = 0; i < mortars.indices.size(); ++i)
      values.push_back(std::ldexp(random.unit() - 0.5, static_cast<int>(random.next() % 60)));
  }
  /// Adds up what each rank has, elements in equal blocks; returns the owned sums of this one.
  [[nodiscard]] std::vector<double> added_up(mpi::CommView comm, const Distribution& distribution,
                                             const AccessOptions& options) const {
    const Block elements(static_cast<std::int64_t>(mortars.first.size()) - 1, comm.size());
    const auto at = [&](std::int64_t element) {
      return static_cast<std::size_t>(mortars.first[static_cast<std::size_t>(element)]);
    };
    const auto low = elements.global(comm.rank(), 0);
    const auto begin = at(low), count = at(low + elements.count(comm.rank())) - begin;
    auto map = AccessMap::make(comm, distribution, std::span(mortars.indices).subspan(begin, count), options);
    std::vector<double> mine(values.begin() + static_cast<std::ptrdiff_t>(begin),
                             values.begin() + static_cast<std::ptrdiff_t>(begin + count)),
        sums(static_cast<std::size_t>(map.array_size()));
    map.begin_scatter_add(Contribution{field(std::span(mine)), map.view(std::span(sums))}).finish();
    sums.resize(static_cast<std::size_t>(map.owned()));
    return sums;
  }
};

bool same_bits(const std::vector<double>& a, const std::vector<double>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0;
}

}  // namespace

MPI_CASE("on UA's mesh partition_free gives the bits of one loop over all elements by every transport",
         ranks{1, 2, 3, 4, 7}) {
  const Contributions all;
  std::vector<double> whole(static_cast<std::size_t>(all.mortars.points));
  for (std::size_t i = 0; i < all.values.size(); ++i)
    whole[static_cast<std::size_t>(all.mortars.indices[i])] += all.values[i];
  const Distribution distribution =
      DoubleBlock(all.mortars.vertices, all.mortars.points - all.mortars.vertices, comm.size());
  std::vector<double> expected;
  for (std::int64_t local = 0; local < distribution.count(comm.rank()); ++local)
    expected.push_back(whole[static_cast<std::size_t>(distribution.global(comm.rank(), local))]);
  for (const Transport& transport : test::usable_transports()) {
    if (transport.open_sums != nullptr) continue;  // it has no order: see exchange_accumulate.cpp
    CAPTURE(transport.name);
    const auto sums = all.added_up(
        comm, distribution, {.transport = std::string(transport.name), .order = Order::partition_free});
    CHECK(same_bits(sums, expected));
  }
}

MPI_CASE("on UA's mesh fixed gives the same bits each time, by every transport", ranks{2, 3, 4, 7}) {
  const Contributions all;
  const Distribution distribution =
      DoubleBlock(all.mortars.vertices, all.mortars.points - all.mortars.vertices, comm.size());
  const AccessOptions usual{.transport = "persistent", .order = Order::fixed};
  const auto first = all.added_up(comm, distribution, usual);
  for (const Transport& transport : test::usable_transports()) {
    if (transport.open_sums != nullptr) continue;
    CAPTURE(transport.name);
    for (int again = 0; again < 3; ++again)
      CHECK(same_bits(
          all.added_up(comm, distribution, {.transport = std::string(transport.name), .order = Order::fixed}),
          first));
  }
}
