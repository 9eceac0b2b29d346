// SPDX-License-Identifier: BSD-3-Clause
#include "exchange_puts.hpp"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "base/system.hpp"
#include "tailrace/exchange/heap.hpp"

namespace tailrace::bench {

namespace {

using exchange::Heap;
using exchange::HeapOptions;

constexpr std::int64_t places = 1 << 16;

/// Symmetric memory of one kind, with an array.
struct Way {
  Way(mpi::CommView comm, std::string called, const HeapOptions& options)
      : name(std::move(called)), heap(comm, options), array(heap.allocate<double>(places)) {}
  std::string name;
  Heap heap;
  exchange::Symmetric<double> array;
};

std::unique_ptr<Way> between_nodes(mpi::CommView comm, const std::string& name, const HeapOptions& options) {
  setenv("TAILRACE_RANKS_PER_NODE", "1", 1);
  auto way = std::make_unique<Way>(comm, name, options);
  unsetenv("TAILRACE_RANKS_PER_NODE");
  return way;
}

double put_all(mpi::CommView comm, Way& way, std::int64_t puts) {
  SplitMix64 random(static_cast<std::uint64_t>(comm.rank()));
  const int target = (comm.rank() + 1) % comm.size();
  way.heap.barrier_all();
  const double start_s = monotonic_s();
  for (std::int64_t i = 0; i < puts; ++i)
    way.heap.put(way.array.on(target, static_cast<std::int64_t>(random.next() % places)),
                 static_cast<double>(i));
  way.heap.barrier_all();
  return mpi::max(comm, monotonic_s() - start_s);
}

}  // namespace

nlohmann::json time_puts(mpi::CommView comm, std::int64_t puts, int rounds) {
  std::vector<std::unique_ptr<Way>> ways;
  ways.push_back(std::make_unique<Way>(comm, "within a node", HeapOptions{}));
  ways.push_back(between_nodes(comm, "between nodes, packed", {}));
  ways.push_back(between_nodes(comm, "between nodes, one by one", {.aggregate_bytes = 0}));
  nlohmann::json samples;
  for (int round = -1; round < rounds; ++round)
    for (const auto& way : ways) {
      // One by one they take so long that fewer have to do.
      const std::int64_t count =
          way->name.ends_with("one by one") ? std::max<std::int64_t>(puts / 50, 1) : puts;
      const double taken_s = put_all(comm, *way, count);
      if (round >= 0) samples[way->name].push_back(taken_s / static_cast<double>(count));
    }
  return {{"mpi", mpi::Environment::library_version()},
          {"ranks", comm.size()},
          {"puts", puts},
          {"seconds_per_put", samples}};
}

}  // namespace tailrace::bench
