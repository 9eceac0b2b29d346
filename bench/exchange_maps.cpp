// SPDX-License-Identifier: BSD-3-Clause
#include "exchange_maps.hpp"

#include <algorithm>
#include <cmath>

#include "adaptive_mesh.hpp"
#include "base/random.hpp"
#include "exchange_ownership.hpp"
#include "mpi/packets.hpp"
#include "tailrace/error.hpp"

namespace tailrace::bench {

namespace {

using exchange::Block;
using Indices = std::vector<std::int64_t>;

Mortars adaptive_mesh(char name) {
  constexpr int half_of_run = 100;
  return ua_mortars(ua_leaves_after(ua_class(name), half_of_run));
}

IndexLoad adaptive(char name, int rank, int ranks) {
  const Mortars mortars = adaptive_mesh(name);
  const OwnedMortars owned = own(mortars, "lowest_rank", ranks);
  return {owned.distribution, owned.of_rank(mortars, rank)};
}

std::int64_t below(SplitMix64& random, std::int64_t end) {
  return static_cast<std::int64_t>(random.next() % static_cast<std::uint64_t>(end));
}

IndexLoad uniform(int rank, int ranks) {
  constexpr std::int64_t size = 200'000;
  const Block block(size, ranks);
  SplitMix64 random(static_cast<std::uint64_t>(rank));
  Indices indices(static_cast<std::size_t>(4 * block.count(rank)));
  for (auto& index : indices) index = below(random, size);
  return {block, std::move(indices)};
}

/// Slabs of 32 x 32 x 8 cells; each rank reads a plane of the one before and of the one behind.
IndexLoad slab(int rank, int ranks) {
  constexpr std::int64_t n = 32, planes = 8;
  const std::int64_t size = n * n * planes * ranks;
  const Block block(size, ranks);
  Indices indices;
  for (std::int64_t local = 0; local < block.count(rank); ++local) {
    const std::int64_t at = block.global(rank, local);
    for (const std::int64_t step : {std::int64_t{0}, std::int64_t{1}, -std::int64_t{1}, n, -n, n * n, -n * n})
      indices.push_back((at + step + size) % size);
  }
  return {block, std::move(indices)};
}

IndexLoad stencil(int rank, int ranks) {
  constexpr std::int64_t n = 64;
  const Block block(n * n * n, ranks);
  Indices indices;
  for (std::int64_t local = 0; local < block.count(rank); ++local) {
    const std::int64_t at = block.global(rank, local), x = at % n, y = at / n % n, z = at / (n * n);
    const auto add = [&](bool inside, std::int64_t index) {
      if (inside) indices.push_back(index);
    };
    add(true, at);
    add(x > 0, at - 1), add(x < n - 1, at + 1), add(y > 0, at - n), add(y < n - 1, at + n);
    add(z > 0, at - n * n), add(z < n - 1, at + n * n);
  }
  return {block, std::move(indices)};
}

/// Rows of eight entries whose columns are the likelier the smaller they are.
IndexLoad power_law(int rank, int ranks) {
  constexpr std::int64_t size = 100'000, per_row = 8;
  constexpr double exponent = 3;
  const Block block(size, ranks);
  SplitMix64 random(static_cast<std::uint64_t>(rank) + 1000);
  Indices indices;
  for (std::int64_t i = 0; i < per_row * block.count(rank); ++i)
    indices.push_back(std::min(
        size - 1, static_cast<std::int64_t>(std::pow(random.unit(), exponent) * static_cast<double>(size))));
  return {block, std::move(indices)};
}

IndexLoad banded(int rank, int ranks) {
  constexpr std::int64_t size = 200'000, half_width = 400, per_row = 8;
  const Block block(size, ranks);
  SplitMix64 random(static_cast<std::uint64_t>(rank) + 2000);
  Indices indices;
  for (std::int64_t local = 0; local < block.count(rank); ++local)
    for (std::int64_t k = 0; k < per_row; ++k)
      indices.push_back(std::clamp<std::int64_t>(
          block.global(rank, local) + below(random, 2 * half_width) - half_width, 0, size - 1));
  return {block, std::move(indices)};
}

IndexLoad one_word(int rank, int ranks) {
  constexpr std::int64_t per_rank = 1000;
  const Block block(per_rank * ranks, ranks);
  Indices indices;
  for (int other = 0; other < ranks; ++other) indices.push_back(block.global(other, rank));
  return {block, std::move(indices)};
}

}  // namespace

const std::vector<std::string>& index_loads() {
  static const std::vector<std::string> names{"ua-A",      "ua-C",   "random",  "stencil",
                                              "power-law", "banded", "one-word"};
  return names;
}

const std::vector<std::string>& counted_loads() {
  static const std::vector<std::string> names = [] {
    auto all = index_loads();
    all.insert(all.end(), {"ua-B", "slab"});
    return all;
  }();
  return names;
}

IndexLoad index_load(const std::string& name, int rank, int ranks) {
  if (name.starts_with("ua-")) return adaptive(name.back(), rank, ranks);
  if (name == "random") return uniform(rank, ranks);
  if (name == "stencil") return stencil(rank, ranks);
  if (name == "power-law") return power_law(rank, ranks);
  if (name == "banded") return banded(rank, ranks);
  if (name == "one-word") return one_word(rank, ranks);
  if (name == "slab") return slab(rank, ranks);
  throw Error(ErrorKind::usage, "no load is called " + name,
              "ua-A, ua-B, ua-C, random, stencil, power-law, banded, one-word or slab");
}

IndexLoad shared_out_load(mpi::CommView comm, const std::string& name) {
  if (!name.starts_with("ua-")) return index_load(name, comm.rank(), comm.size());
  std::vector<std::int64_t> starts(static_cast<std::size_t>(comm.size()) + 1);
  std::vector<mpi::Packet<std::int64_t>> parts;
  if (comm.is_root()) {
    const Mortars mortars = adaptive_mesh(name.back());
    const OwnedMortars owned = own(mortars, "lowest_rank", comm.size());
    for (int rank = 0; rank < comm.size(); ++rank) {
      const auto at = static_cast<std::size_t>(rank);
      starts[at + 1] = starts[at] + owned.distribution.count(rank);
      parts.push_back({rank, owned.of_rank(mortars, rank)});
    }
  }
  mpi::broadcast(comm, starts, 0);
  auto mine = mpi::deliver(comm, parts);
  return {exchange::Starts(std::move(starts)), mine.empty() ? Indices() : std::move(mine.front().values)};
}

}  // namespace tailrace::bench
