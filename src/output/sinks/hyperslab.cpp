#include "output/sinks/hyperslab.hpp"

#include <algorithm>

namespace tailrace::output {

namespace {

using h5::Slab;

/// Elements of one step of each index.
std::vector<std::uint64_t> strides_of(const std::vector<std::uint64_t>& shape) {
  std::vector<std::uint64_t> strides(shape.size(), 1);
  for (std::size_t k = shape.size(); k-- > 1;) strides[k - 1] = strides[k] * shape[k];
  return strides;
}

/// The largest block that begins with element `first` and has no more than `most` elements.
Slab slab_at(const std::vector<std::uint64_t>& shape, const std::vector<std::uint64_t>& strides,
             std::uint64_t first, std::uint64_t most) {
  Slab slab{.start = shape, .count = std::vector<std::uint64_t>(shape.size(), 1)};
  for (std::size_t k = 0; k < shape.size(); ++k) slab.start[k] = first / strides[k] % shape[k];
  // The slowest index of which a whole step fits, all faster ones from their begin.
  std::size_t k = shape.size() - 1;
  while (k > 0 && slab.start[k] == 0 && most >= strides[k - 1]) --k;
  slab.count[k] = std::min(most / strides[k], shape[k] - slab.start[k]);
  std::copy(shape.begin() + static_cast<std::ptrdiff_t>(k) + 1, shape.end(),
            slab.count.begin() + static_cast<std::ptrdiff_t>(k) + 1);
  return slab;
}

std::uint64_t elements(const Slab& slab) {
  std::uint64_t product = 1;
  for (const auto n : slab.count) product *= n;
  return product;
}

/// True if `next` goes on where `slab` ends in index k, and is the same in all others.
bool goes_on(const Slab& slab, const Slab& next, std::size_t k) {
  for (std::size_t i = 0; i < slab.start.size(); ++i) {
    if (i == k && next.start[k] != slab.start[k] + slab.count[k]) return false;
    if (i != k && (next.start[i] != slab.start[i] || next.count[i] != slab.count[i])) return false;
  }
  return true;
}

/// True if rows of the block in index k, one after the other, are in the order of its elements.
bool in_order(const Slab& slab, std::size_t k) {
  return std::all_of(slab.count.begin(), slab.count.begin() + static_cast<std::ptrdiff_t>(k),
                     [](std::uint64_t n) { return n == 1; });
}

/// Puts neighbours in the list that go on in index k together.
void merge(std::vector<Slab>& slabs, std::size_t k) {
  std::size_t last = 0;
  for (std::size_t i = 1; i < slabs.size(); ++i) {
    if (in_order(slabs[last], k) && goes_on(slabs[last], slabs[i], k))
      slabs[last].count[k] += slabs[i].count[k];
    else
      slabs[++last] = slabs[i];
  }
  if (!slabs.empty()) slabs.resize(last + 1);
}

}  // namespace

std::vector<Slab> slabs_of(const std::vector<std::uint64_t>& shape, std::span<const Run> runs) {
  if (shape.empty()) return std::vector<Slab>(runs.size());  // a single value
  const auto strides = strides_of(shape);
  std::vector<Slab> slabs;
  for (const auto& run : runs) {
    auto first = static_cast<std::uint64_t>(run.offset);
    for (auto left = static_cast<std::uint64_t>(run.length); left > 0;) {
      slabs.push_back(slab_at(shape, strides, first, left));
      const std::uint64_t taken = elements(slabs.back());
      first += taken;
      left -= taken;
    }
  }
  for (std::size_t k = shape.size(); k-- > 0;) merge(slabs, k);
  return slabs;
}

}  // namespace tailrace::output
