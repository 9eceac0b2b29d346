// SPDX-License-Identifier: BSD-3-Clause
#include "tailrace/run/watch.hpp"

#include <bit>
#include <cstdint>

namespace tailrace::run {

namespace {

/// NaN and infinity are the values whose exponent bits are all set.
template <class Bits, class Real>
bool rows_are_finite(const output::FieldView& field, Bits exponent) noexcept {
  const Index3 n = field.box.extents();
  for (std::int64_t z = 0; z < n.z; ++z) {
    for (std::int64_t y = 0; y < n.y; ++y) {
      const Real* row = static_cast<const Real*>(field.data) + z * field.stride_z + y * field.stride_y;
      Bits found = 0;
      for (std::int64_t x = 0; x < n.x; ++x)
        found |= static_cast<Bits>((std::bit_cast<Bits>(row[x]) & exponent) == exponent);
      if (found != 0) return false;
    }
  }
  return true;
}

}  // namespace

bool is_finite(const output::FieldView& field) noexcept {
  return field.type == h5::ElementType::float64
             ? rows_are_finite<std::uint64_t, double>(field, 0x7ff0'0000'0000'0000U)
             : rows_are_finite<std::uint32_t, float>(field, 0x7f80'0000U);
}

}  // namespace tailrace::run
