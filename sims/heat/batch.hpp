// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/aligned.hpp"
#include "base/simd.hpp"
#include "basis.hpp"

namespace tailrace::heat {

using simd::Lanes;
/// Elements that are computed side by side, one in each lane of a vector.
inline constexpr std::size_t batch_elements = static_cast<std::size_t>(simd::lanes<double>);
constexpr std::size_t batches_of(std::size_t elements) noexcept {
  return (elements + batch_elements - 1) / batch_elements;
}

/// Values at so many points of the elements of a batch.
template <std::size_t count>
struct Batch {
  Lanes at[count];  // NOLINT: a vector type loses its attributes as an argument of std::array

  [[nodiscard]] double& value(std::size_t point, std::size_t lane) noexcept {
    return reinterpret_cast<double*>(at + point)[lane];
  }
  [[nodiscard]] double value(std::size_t point, std::size_t lane) const noexcept {
    return reinterpret_cast<const double*>(at + point)[lane];
  }
};
template <int order>
using Whole = Batch<element_points<order>>;
template <int order>
using Inner = Batch<inner_points<order>>;

/// The point of an element that an inner point is.
template <int order>
constexpr std::size_t whole_point(std::size_t inner_point) noexcept {
  constexpr std::size_t along = inner<order>, n = points<order>;
  const std::size_t i = inner_point % along, j = inner_point / along % along,
                    k = inner_point / (along * along);
  return ((k + 1) * n + j + 1) * n + i + 1;
}

}  // namespace tailrace::heat
