// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

namespace tailrace::h5 {

/// A block of a dataset: its first element and its extents, slowest index first.
struct Hyperslab {
  std::vector<std::uint64_t> start, count;

  friend bool operator==(const Hyperslab&, const Hyperslab&) = default;
};

}  // namespace tailrace::h5
