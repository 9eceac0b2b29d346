// SPDX-License-Identifier: BSD-3-Clause
#include "medium.hpp"

#include <cmath>
#include <numbers>

namespace tailrace::ultrasound {

namespace {

/// Coefficients with the values function(a, b) at every point, an array; constant if both are.
template <std::size_t count, class Real, class Function>
std::array<Coefficient<Real>, count> combine(const Coefficient<Real>& a, const Coefficient<Real>& b,
                                             Index3 points, Range planes, Function function) {
  std::array<Coefficient<Real>, count> made;
  if (a.is_constant() && b.is_constant()) {
    const auto values = function(a.row(0, 0)[0], b.row(0, 0)[0]);
    for (std::size_t i = 0; i < count; ++i) made[i] = {values[i], points};
    return made;
  }
  std::array<Field<Real>, count> fields;
  for (auto& field : fields) field = Field<Real>(points, planes);
#pragma omp parallel for schedule(static)
  for (std::int64_t z = planes.begin; z < planes.end; ++z)
    for (std::int64_t y = 0; y < points.y; ++y) {
      const Real* in_a = a.row(y, z);
      const Real* in_b = b.row(y, z);
      std::array<Real*, count> out;
      for (std::size_t i = 0; i < count; ++i) out[i] = fields[i].plane(z) + y * points.x;
      for (std::int64_t x = 0; x < points.x; ++x) {
        const auto values = function(in_a[x], in_b[x]);
        for (std::size_t i = 0; i < count; ++i) out[i][x] = values[i];
      }
    }
  for (std::size_t i = 0; i < count; ++i) made[i] = Coefficient<Real>(std::move(fields[i]));
  return made;
}

/// Sets tau = -2 a c^(y-1) and, of a power law, eta = 2 a c^y tan(pi y / 2), both times the c^2 of the state
/// equation. Both at once, because a power takes most of the time of a point.
template <class Real>
void absorb(Medium<Real>& medium, const RawMedium<Real>& raw, const Physics& physics, Index3 points,
            Range planes) {
  const double y = physics.absorption == Absorption::stokes ? 2 : physics.alpha_power;
  // dB / (MHz^y cm) to Np / ((rad/s)^y m) (Treeby and Cox 2010, eq. 5).
  const double per_radian = std::pow(1e-6 / (2 * std::numbers::pi), y),
               db_per_neper = 20 * std::numbers::log10e;
  const auto tau = [=](Real alpha_db, Real c) {
    const double nepers = 100 * static_cast<double>(alpha_db) * per_radian / db_per_neper;
    return -2 * nepers * std::pow(static_cast<double>(c), y + 1);
  };
  if (physics.absorption == Absorption::stokes) {
    auto [absorption] = combine<1>(raw.alpha_coeff, raw.c0, points, planes,
                                   [=](Real a, Real c) { return std::array{static_cast<Real>(tau(a, c))}; });
    medium.absorption = std::move(absorption);
    return;
  }
  const double tangent = std::tan(std::numbers::pi * y / 2);
  auto [absorption, dispersion] = combine<2>(raw.alpha_coeff, raw.c0, points, planes, [=](Real a, Real c) {
    const double loss = tau(a, c);
    return std::array{static_cast<Real>(loss), static_cast<Real>(-loss * static_cast<double>(c) * tangent)};
  });
  medium.absorption = std::move(absorption);
  medium.dispersion = std::move(dispersion);
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
    auto [b_over_2a_rho0] = combine<1>(raw.b_on_a, raw.rho0, points, planes,
                                       [](Real b, Real rho) { return std::array{b / (2 * rho)}; });
    medium.b_over_2a_rho0 = std::move(b_over_2a_rho0);
    raw.b_on_a = {};
  }
  if (physics.absorption != Absorption::none) absorb(medium, raw, physics, points, planes);
  raw.alpha_coeff = {};
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
