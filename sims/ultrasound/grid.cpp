// SPDX-License-Identifier: BSD-3-Clause
#include "grid.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace tailrace::ultrasound {

double finest_spacing_m(const Grid& grid) noexcept {
  const auto* const first = grid.spacing_m.data();
  return *std::min_element(first, first + grid.dimensions());
}

double coarsest_spacing_m(const Grid& grid) noexcept {
  const auto* const first = grid.spacing_m.data();
  return *std::max_element(first, first + grid.dimensions());
}

double wavenumber(std::int64_t i, std::int64_t n, double spacing_m) {
  const std::int64_t signed_index = 2 * i < n ? i : i - n;
  return 2 * std::numbers::pi * static_cast<double>(signed_index) / (static_cast<double>(n) * spacing_m);
}

double sinc(double a) noexcept {
  return a == 0 ? 1 : std::sin(a) / a;
}

double power_of_k(double k, double power) noexcept {
  return k == 0 && power < 0 ? 0 : std::pow(k, power);
}

template <class Real>
PmlProfile<Real> make_pml_profile(const Grid& grid, std::size_t axis) {
  const std::int64_t n = grid.extents()[axis], thickness = grid.pml.size[axis];
  const double strength = grid.pml.alpha[axis] * grid.c_ref_m_s / grid.spacing_m[axis] * grid.dt_s / 2;
  const auto profile = [&](double shift) {
    AlignedVector<Real> values(static_cast<std::size_t>(n), Real(1));
    const auto depth = static_cast<double>(thickness);
    for (std::int64_t i = 0; i < thickness; ++i) {
      const double position = static_cast<double>(i + 1) + shift;
      const double left = (position - depth - 1) / -depth, right = position / depth;
      values[static_cast<std::size_t>(i)] = static_cast<Real>(std::exp(-strength * std::pow(left, 4)));
      values[static_cast<std::size_t>(n - thickness + i)] =
          static_cast<Real>(std::exp(-strength * std::pow(right, 4)));
    }
    return values;
  };
  return PmlProfile<Real>{.density = profile(0), .velocity = profile(0.5)};
}

template <class Real>
AxisOperators<Real> make_axis_operators(const Grid& grid, std::size_t axis) {
  const std::int64_t n = grid.extents()[axis];
  const auto count = static_cast<std::size_t>(n);
  const double spacing = grid.spacing_m[axis];
  using Complex = std::complex<Real>;
  AxisOperators<Real> operators{AlignedVector<Complex>(count), AlignedVector<Complex>(count),
                                AlignedVector<Complex>(count), AlignedVector<Complex>(count)};
  for (std::int64_t i = 0; i < n; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const double k = wavenumber(i, n, spacing);
    const std::complex<double> ik(0, k), shift = std::polar(1.0, k * spacing / 2);
    operators.forward[at] = Complex(ik * shift);
    operators.backward[at] = Complex(ik * std::conj(shift));
    const bool is_nyquist = 2 * i == n;
    operators.shift[at] = is_nyquist ? Complex() : Complex(std::conj(shift));
    operators.derivative[at] = is_nyquist ? Complex() : Complex(ik);
  }
  return operators;
}

template PmlProfile<float> make_pml_profile(const Grid&, std::size_t);
template PmlProfile<double> make_pml_profile(const Grid&, std::size_t);
template AxisOperators<float> make_axis_operators(const Grid&, std::size_t);
template AxisOperators<double> make_axis_operators(const Grid&, std::size_t);

}  // namespace tailrace::ultrasound
