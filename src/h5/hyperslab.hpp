#pragma once

#include <cstdint>
#include <vector>

namespace tailrace::h5 {

/// A block of a dataset: its first element and its extents, slowest index first.
struct Slab {
  std::vector<std::uint64_t> start, count;

  friend bool operator==(const Slab&, const Slab&) = default;
};

}  // namespace tailrace::h5
