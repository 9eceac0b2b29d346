// SPDX-License-Identifier: BSD-3-Clause
/// Messages longer than what a count of MPI 3.1 holds.
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "exchange_transports.hpp"
#include "mpi_case.hpp"
#include "tailrace/exchange/access_map.hpp"

using namespace tailrace;
using namespace tailrace::exchange;

namespace {

constexpr int numbers = 512;  // of an entry: few indices for many bytes
constexpr std::int64_t entries = (std::int64_t{1} << 31) / (numbers * 8) + 3;

/// The first of two ranks has all entries, the other one reads them.
AccessMap map_by(mpi::CommView comm, const Transport& transport) {
  std::vector<std::int64_t> indices(comm.is_root() ? 0 : entries);
  std::iota(indices.begin(), indices.end(), std::int64_t{0});
  return AccessMap::make(comm, Starts({0, entries, entries}), indices,
                         {.transport = std::string(transport.name),
                          .order = transport.open_sums != nullptr ? Order::fast : Order::fixed});
}

std::int64_t value_of(std::size_t i) {
  return 7 * static_cast<std::int64_t>(i) + 1;
}

/// How many numbers are not so many times their value.
std::int64_t wrong(const std::vector<std::int64_t>& x, std::int64_t times) {
  std::int64_t count = 0;
  for (std::size_t i = 0; i < x.size(); ++i) count += x[i] != times * value_of(i) ? 1 : 0;
  return count;
}

/// Each direction has a map of its own, so that the memory for the messages of one is free for the other.
void go_there_and_back(mpi::CommView comm, std::string_view name) {
  const auto usable = test::usable_transports();
  const auto transport =
      std::find_if(usable.begin(), usable.end(), [&](const Transport& one) { return one.name == name; });
  if (transport == usable.end()) return;
  std::vector<std::int64_t> x(static_cast<std::size_t>(entries) * numbers);
  if (comm.is_root())
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = value_of(i);
  {
    auto map = map_by(comm, *transport);
    map.begin_gather(map.view(std::span(x), numbers)).finish();
    CHECK(wrong(x, 1) == 0);
    CHECK(map.counts().largest_bytes == (comm.is_root() ? 8 * numbers * entries : 0));
  }
  auto map = map_by(comm, *transport);
  map.begin_scatter_add(map.view(std::span(x), numbers)).finish();
  CHECK(wrong(x, comm.is_root() ? 2 : 1) == 0);
}

}  // namespace

// With 11 GB of memory.
#define LONG_MESSAGES(name)                                                                         \
  MPI_CASE("full: messages of more than 2^31 bytes are gathered and added up by " name, ranks{2}) { \
    go_there_and_back(comm, name);                                                                  \
  }
LONG_MESSAGES("persistent")
LONG_MESSAGES("shared")
LONG_MESSAGES("isend")
LONG_MESSAGES("neighbour")
LONG_MESSAGES("rma-lock")
LONG_MESSAGES("rma-pscw")
LONG_MESSAGES("rma-fence")
LONG_MESSAGES("rma-accumulate")
LONG_MESSAGES("get")
LONG_MESSAGES("router")
