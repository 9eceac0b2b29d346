// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>

#include "base/simd.hpp"
#include "kernel.hpp"

/// Describes what the rows of all equations are made of: derivatives at a vector of points, and the step from
/// one level to the next.
namespace tailrace::seismic {

using namespace simd;

/// First and second derivative at a vector of points.
template <class Real>
struct Derivatives {
  Vector<Real> first, second;
};

/// Along an axis whose neighbours are `distance` apart.
template <class Real>
inline Derivatives<Real> derivatives(const Real* f, std::int64_t distance, const Weights<Real>& w) noexcept {
  Derivatives<Real> sum{{}, w.second[0] * load(f)};
  for (int k = 1; k <= reach; ++k) {
    const Vector<Real> up = load(f + k * distance), down = load(f - k * distance);
    sum.first += w.first[k - 1] * (up - down);
    sum.second += w.second[k] * (up + down);
  }
  return sum;
}

template <class Real>
inline Vector<Real> second_derivative(const Real* f, std::int64_t distance,
                                      const std::array<Real, reach + 1>& w) noexcept {
  Vector<Real> sum = w[0] * load(f);
  for (int k = 1; k <= reach; ++k) sum += w[k] * (load(f + k * distance) + load(f - k * distance));
  return sum;
}

/// Along the row.
template <class Real>
inline Vector<Real> first_derivative(const Sliding<Real>& f, const std::array<Real, reach>& w) noexcept {
  Vector<Real> sum = w[0] * (f.template at<1>() - f.template at<-1>());
  sum += w[1] * (f.template at<2>() - f.template at<-2>());
  sum += w[2] * (f.template at<3>() - f.template at<-3>());
  sum += w[3] * (f.template at<4>() - f.template at<-4>());
  return sum;
}

template <class Real>
inline Vector<Real> second_derivative(const Sliding<Real>& f, const std::array<Real, reach + 1>& w) noexcept {
  Vector<Real> sum = w[0] * f.template at<0>();
  sum += w[1] * (f.template at<1>() + f.template at<-1>());
  sum += w[2] * (f.template at<2>() + f.template at<-2>());
  sum += w[3] * (f.template at<3>() + f.template at<-3>());
  sum += w[4] * (f.template at<4>() + f.template at<-4>());
  return sum;
}

/// Part of a row: points x0 to x1 of the row (y, z).
struct Row {
  std::int64_t x0, x1, y, z;
};

/// A row's damping; adds up what the axes want.
template <class Real>
class RowDamping {
 public:
  RowDamping(const StepArrays<Real>& a, const Row& row) noexcept
      : x_(a.damping[0]), rest_(a.damping[1][row.y] + a.damping[2][row.z]) {}
  [[nodiscard]] Vector<Real> at(std::int64_t x) const noexcept { return load(x_ + x) + rest_; }

 private:
  const Real* x_;
  Real rest_;
};

/// The leapfrog: with damping d, (1 + d) next = 2 now - (1 - d) before + change.
template <class Real, bool damped>
inline void leap(const Real* now, Real* other, const Vector<Real>& change, const Vector<Real>& damping,
                 std::int64_t count) noexcept {
  constexpr Real one = 1, two = 2;
  const Vector<Real> before = load(other, count);
  if constexpr (damped)
    store(other, Vector<Real>((two * load(now) - (one - damping) * before + change) / (one + damping)),
          count);
  else
    store(other, Vector<Real>(two * load(now) - before + change), count);
}

/// The coupled equations at one vector, from the second derivatives along and across the axis.
template <class Real, bool damped>
inline void couple(const StepArrays<Real>& a, const Row& row, std::int64_t x, const Vector<Real>& p_along,
                   const Vector<Real>& p_across, const Vector<Real>& q_along,
                   const Vector<Real>& q_across) noexcept {
  const std::int64_t at = row.z * a.stride_z + row.y * a.stride_y + x;
  const Vector<Real> speed = load(a.speed.row(row.y, row.z) + x),
                     across = load(a.across.row(row.y, row.z) + x),
                     moveout = load(a.moveout.row(row.y, row.z) + x),
                     shear = load(a.shear.row(row.y, row.z) + x);
  Vector<Real> damping{};
  if constexpr (damped) damping = RowDamping<Real>(a, row).at(x);
  const Vector<Real> p_change = speed * (across * p_across + q_along + shear * (p_along - q_along)),
                     q_change = speed * (moveout * p_across + q_along - shear * (p_across - q_across));
  leap<Real, damped>(a.p + at, a.p_other + at, p_change, damping, row.x1 - x);
  leap<Real, damped>(a.q + at, a.q_other + at, q_change, damping, row.x1 - x);
}

}  // namespace tailrace::seismic
