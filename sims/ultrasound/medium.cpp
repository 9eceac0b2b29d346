// SPDX-License-Identifier: BSD-3-Clause
#include "medium.hpp"

#include <cmath>
#include <numbers>

namespace tailrace::ultrasound {

namespace {

/// A coefficient with the values function(a, b) at every point; constant if both are.
template <class Real, class Function>
Coefficient<Real> combine(const Coefficient<Real>& a, const Coefficient<Real>& b, Index3 points, Range planes,
                          Function function) {
  if (a.is_constant() && b.is_constant()) return {function(a.row(0, 0)[0], b.row(0, 0)[0]), points};
  Field<Real> field(points, planes);
#pragma omp parallel for schedule(static)
  for (std::int64_t z = planes.begin; z < planes.end; ++z)
    for (std::int64_t y = 0; y < points.y; ++y) {
      const Real* in_a = a.row(y, z);
      const Real* in_b = b.row(y, z);
      Real* out = field.plane(z) + y * points.x;
      for (std::int64_t x = 0; x < points.x; ++x) out[x] = function(in_a[x], in_b[x]);
    }
  return Coefficient<Real>(std::move(field));
}

/// dB / (MHz^y cm) to Np / ((rad/s)^y m) (digest section 1; Treeby and Cox 2010, eq. 5).
double nepers(double alpha_db, double power) {
  const double db_per_neper = 20 * std::numbers::log10e;
  return 100 * alpha_db * std::pow(1e-6 / (2 * std::numbers::pi), power) / db_per_neper;
}

}  // namespace

template <class Real>
std::int64_t Medium<Real>::bytes() const noexcept {
  std::int64_t sum = 0;
  for (const auto* coefficient : all()) sum += coefficient->bytes();
  return sum;
}

template <class Real>
Medium<Real> make_medium(RawMedium<Real> raw, const Physics& physics, const Grid& grid, Range planes) {
  Medium<Real> medium;
  const Index3 points = grid.folded();
  const double dt = grid.dt_s;
  for (std::size_t axis = 0; axis < axis_count; ++axis) {
    medium.dt_over_rho0[axis] = std::move(raw.rho0_staggered[axis]);
    medium.dt_over_rho0[axis].transform(
        [dt](Real rho) { return static_cast<Real>(dt / static_cast<double>(rho)); });
  }
  if (physics.nonlinear) {
    medium.b_over_2a_rho0 =
        combine(raw.b_on_a, raw.rho0, points, planes, [](Real b, Real rho) { return b / (2 * rho); });
    raw.b_on_a = {};
  }
  if (physics.absorption != Absorption::none) {
    // tau = -2 a c^(y-1) and eta = 2 a c^y tan(pi y / 2), both times c^2 of the state equation.
    const double y = physics.absorption == Absorption::stokes ? 2 : physics.alpha_power;
    medium.absorption = combine(raw.alpha_coeff, raw.c0, points, planes, [y](Real alpha, Real c) {
      return static_cast<Real>(-2 * nepers(alpha, y) * std::pow(static_cast<double>(c), y + 1));
    });
    if (physics.absorption == Absorption::power_law) {
      const double tangent = std::tan(std::numbers::pi * y / 2);
      medium.dispersion = combine(raw.alpha_coeff, raw.c0, points, planes, [y, tangent](Real alpha, Real c) {
        return static_cast<Real>(2 * nepers(alpha, y) * std::pow(static_cast<double>(c), y + 2) * tangent);
      });
    }
    raw.alpha_coeff = {};
  }
  medium.rho0 = std::move(raw.rho0);
  medium.c0_squared = std::move(raw.c0);
  medium.c0_squared.transform([](Real c) { return c * c; });
  return medium;
}

template struct Medium<float>;
template struct Medium<double>;
template Medium<float> make_medium(RawMedium<float>, const Physics&, const Grid&, Range);
template Medium<double> make_medium(RawMedium<double>, const Physics&, const Grid&, Range);

}  // namespace tailrace::ultrasound
