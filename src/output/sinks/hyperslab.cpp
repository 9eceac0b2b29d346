// SPDX-License-Identifier: BSD-3-Clause
#include "output/sinks/hyperslab.hpp"

#include <algorithm>

namespace tailrace::output {

namespace {

using h5::Hyperslab;

/// Elements of one step of each index.
std::vector<std::uint64_t> strides_of(const std::vector<std::uint64_t>& shape) {
  std::vector<std::uint64_t> strides(shape.size(), 1);
  for (std::size_t k = shape.size(); k-- > 1;) strides[k - 1] = strides[k] * shape[k];
  return strides;
}

/// The largest block that begins with element `first` and has no more than `most` elements.
Hyperslab hyperslab_at(const std::vector<std::uint64_t>& shape, const std::vector<std::uint64_t>& strides,
                       std::uint64_t first, std::uint64_t most) {
  Hyperslab hyperslab{.start = shape, .count = std::vector<std::uint64_t>(shape.size(), 1)};
  for (std::size_t k = 0; k < shape.size(); ++k) hyperslab.start[k] = first / strides[k] % shape[k];
  // The slowest index of which a whole step fits, all faster ones from their begin.
  std::size_t k = shape.size() - 1;
  while (k > 0 && hyperslab.start[k] == 0 && most >= strides[k - 1]) --k;
  hyperslab.count[k] = std::min(most / strides[k], shape[k] - hyperslab.start[k]);
  std::copy(shape.begin() + static_cast<std::ptrdiff_t>(k) + 1, shape.end(),
            hyperslab.count.begin() + static_cast<std::ptrdiff_t>(k) + 1);
  return hyperslab;
}

std::uint64_t elements(const Hyperslab& hyperslab) {
  std::uint64_t product = 1;
  for (const auto n : hyperslab.count) product *= n;
  return product;
}

/// True if `next` continues where `hyperslab` ends in index k, and is the same in all others.
bool goes_on(const Hyperslab& hyperslab, const Hyperslab& next, std::size_t k) {
  for (std::size_t i = 0; i < hyperslab.start.size(); ++i) {
    if (i == k && next.start[k] != hyperslab.start[k] + hyperslab.count[k]) return false;
    if (i != k && (next.start[i] != hyperslab.start[i] || next.count[i] != hyperslab.count[i])) return false;
  }
  return true;
}

/// True if rows of the block in index k, one after the other, are in the order of its elements.
bool in_order(const Hyperslab& hyperslab, std::size_t k) {
  return std::all_of(hyperslab.count.begin(), hyperslab.count.begin() + static_cast<std::ptrdiff_t>(k),
                     [](std::uint64_t n) { return n == 1; });
}

/// Puts neighbours in the list that continue in index k together.
void merge(std::vector<Hyperslab>& hyperslabs, std::size_t k) {
  std::size_t last = 0;
  for (std::size_t i = 1; i < hyperslabs.size(); ++i) {
    if (in_order(hyperslabs[last], k) && goes_on(hyperslabs[last], hyperslabs[i], k))
      hyperslabs[last].count[k] += hyperslabs[i].count[k];
    else
      hyperslabs[++last] = hyperslabs[i];
  }
  if (!hyperslabs.empty()) hyperslabs.resize(last + 1);
}

}  // namespace

std::vector<Hyperslab> hyperslabs_of(const std::vector<std::uint64_t>& shape, std::span<const Run> runs) {
  if (shape.empty()) return std::vector<Hyperslab>(runs.size());  // a single value
  const auto strides = strides_of(shape);
  std::vector<Hyperslab> hyperslabs;
  for (const auto& run : runs) {
    auto first = static_cast<std::uint64_t>(run.offset);
    for (auto left = static_cast<std::uint64_t>(run.length); left > 0;) {
      hyperslabs.push_back(hyperslab_at(shape, strides, first, left));
      const std::uint64_t taken = elements(hyperslabs.back());
      first += taken;
      left -= taken;
    }
  }
  for (std::size_t k = shape.size(); k-- > 0;) merge(hyperslabs, k);
  return hyperslabs;
}

}  // namespace tailrace::output
