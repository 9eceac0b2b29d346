// SPDX-License-Identifier: BSD-3-Clause
#include "exchange_maps.hpp"

#include <algorithm>
#include <cmath>

#include "adaptive_mesh.hpp"
#include "base/random.hpp"
#include "exchange_ownership.hpp"
#include "tailrace/error.hpp"

namespace tailrace::bench {

namespace {

using exchange::Block;
using Indices = std::vector<std::int64_t>;

IndexLoad adaptive(char name, int rank, int ranks) {
  constexpr int half_of_run = 100;
  const UaClass which = ua_class(name);
  double time_s = 0;
  for (int step = 0; step < half_of_run; ++step) time_s += which.step_s();
  const Mortars mortars = ua_mortars(ua_leaves(which, time_s));
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

IndexLoad index_load(const std::string& name, int rank, int ranks) {
  if (name == "ua-A") return adaptive('A', rank, ranks);
  if (name == "ua-C") return adaptive('C', rank, ranks);
  if (name == "random") return uniform(rank, ranks);
  if (name == "stencil") return stencil(rank, ranks);
  if (name == "power-law") return power_law(rank, ranks);
  if (name == "banded") return banded(rank, ranks);
  if (name == "one-word") return one_word(rank, ranks);
  throw Error(ErrorKind::usage, "no load is called " + name,
              "ua-A, ua-C, random, stencil, power-law, banded or one-word");
}

}  // namespace tailrace::bench
