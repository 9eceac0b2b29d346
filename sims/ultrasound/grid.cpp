#include "grid.hpp"

#include <cmath>
#include <numbers>

namespace tailrace::ultrasound {

double wavenumber(std::int64_t i, std::int64_t n, double spacing_m) {
  const std::int64_t signed_index = 2 * i < n ? i : i - n;
  return 2 * std::numbers::pi * static_cast<double>(signed_index) / (static_cast<double>(n) * spacing_m);
}

PmlProfile make_pml_profile(const Grid& grid, std::size_t axis) {
  const std::int64_t n = grid.extents()[axis], thickness = grid.pml.size[axis];
  const double strength = grid.pml.alpha[axis] * grid.c_ref_m_s / grid.spacing_m[axis] * grid.dt_s / 2;
  const auto profile = [&](double shift) {
    AlignedVector<float> values(static_cast<std::size_t>(n), 1.0F);
    const auto depth = static_cast<double>(thickness);
    for (std::int64_t i = 0; i < thickness; ++i) {
      const double position = static_cast<double>(i + 1) + shift;
      const double left = (position - depth - 1) / -depth, right = position / depth;
      values[static_cast<std::size_t>(i)] = static_cast<float>(std::exp(-strength * std::pow(left, 4)));
      values[static_cast<std::size_t>(n - thickness + i)] =
          static_cast<float>(std::exp(-strength * std::pow(right, 4)));
    }
    return values;
  };
  return {.density = profile(0), .velocity = profile(0.5)};
}

ShiftedDerivative make_shifted_derivative(const Grid& grid, std::size_t axis) {
  const std::int64_t n = grid.extents()[axis], count = axis == 0 ? n / 2 + 1 : n;
  const double spacing = grid.spacing_m[axis];
  ShiftedDerivative derivative{AlignedVector<Complex>(static_cast<std::size_t>(count)),
                               AlignedVector<Complex>(static_cast<std::size_t>(count))};
  for (std::int64_t i = 0; i < count; ++i) {
    const double k = wavenumber(i, n, spacing);
    const std::complex<double> ik(0, k), shift = std::polar(1.0, k * spacing / 2);
    derivative.forward[static_cast<std::size_t>(i)] = Complex(ik * shift);
    derivative.backward[static_cast<std::size_t>(i)] = Complex(ik * std::conj(shift));
  }
  return derivative;
}

}  // namespace tailrace::ultrasound
