// SPDX-License-Identifier: BSD-3-Clause
#include "tailrace/run/watch.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <vector>

namespace tailrace::run {

namespace {

/// A field of 3 x 2 x 2 points with room between its rows and planes, which holds NaN.
template <class Real>
struct PaddedField {
  static constexpr std::int64_t stride_y = 5, stride_z = 13;
  std::vector<Real> values = std::vector<Real>(2 * stride_z, std::numeric_limits<Real>::quiet_NaN());

  PaddedField() {
    for (std::int64_t z = 0; z < 2; ++z)
      for (std::int64_t y = 0; y < 2; ++y)
        for (std::int64_t x = 0; x < 3; ++x) at(x, y, z) = std::numeric_limits<Real>::max();
  }
  Real& at(std::int64_t x, std::int64_t y, std::int64_t z) {
    return values[static_cast<std::size_t>(z * stride_z + y * stride_y + x)];
  }
  output::FieldView view() {
    return {.data = values.data(),
            .type = sizeof(Real) == 8 ? h5::ElementType::float64 : h5::ElementType::float32,
            .box = {{4, 0, 0}, {7, 2, 2}},
            .stride_y = stride_y,
            .stride_z = stride_z};
  }
};

template <class Real>
void check_field() {
  PaddedField<Real> field;
  CHECK(is_finite(field.view()));
  for (const Real bad : {std::numeric_limits<Real>::quiet_NaN(), std::numeric_limits<Real>::infinity(),
                         -std::numeric_limits<Real>::infinity()}) {
    for (std::int64_t i = 0; i < 12; ++i) {
      Real& value = field.at(i % 3, i / 3 % 2, i / 6);
      value = bad;
      CHECK_FALSE(is_finite(field.view()));
      value = -std::numeric_limits<Real>::denorm_min();
    }
  }
  CHECK(is_finite(field.view()));
}

}  // namespace

TEST_CASE("NaN and infinity are found at every point and nowhere else") {
  check_field<float>();
  check_field<double>();
}

TEST_CASE("a rank without points has nothing to find") {
  CHECK(is_finite({.data = nullptr, .box = {}}));
}

TEST_CASE("a watch looks now and then, and at the last step") {
  const Watch watch{.quantity = "p", .every = 8, .hint = {}};
  CHECK_FALSE(watch.is_due(7, 21));
  CHECK(watch.is_due(8, 21));
  CHECK(watch.is_due(21, 21));
  CHECK_FALSE(Watch().is_due(20, 20));
}

}  // namespace tailrace::run
