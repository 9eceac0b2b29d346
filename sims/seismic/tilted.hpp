// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "base/aligned.hpp"
#include "base/simd.hpp"
#include "kernel.hpp"
#include "rows.hpp"

/// The step of the tilted equations on a plane of a tile.
namespace tailrace::seismic {

/// First derivatives that the mixed ones are made of, kept while a tile's rows pass by: of one field, along z
/// for the rows around the current one, along y for the current one; and the second ones beside them.
template <class Real>
class Passing {
 public:
  explicit Passing(std::int64_t longest_row)
      : stride_(static_cast<std::int64_t>(
            padded<Real>(static_cast<std::size_t>(longest_row + 2 * margin + lanes<Real>)))),
        values_(static_cast<std::size_t>((first_slots + second_slots + 2) * stride_), Real{0}) {}

  /// Points to both sides of a row that are computed too.
  static constexpr std::int64_t margin = std::max<std::int64_t>(lanes<Real>, reach);

  /// Computes what row y contributes along z. `f` is the field at the first point of the row.
  void enter(const Real* f, std::int64_t y, std::int64_t points, std::int64_t stride_z,
             const Weights<Real>& w) noexcept {
    derive(f, points, stride_z, w, z_first(y), z_second(y));
  }
  /// Computes the current row along y.
  void pass(const Real* f, std::int64_t points, std::int64_t stride_y, const Weights<Real>& w) noexcept {
    derive(f, points, stride_y, w, y_first(), y_second());
  }

  [[nodiscard]] Real* z_first(std::int64_t y) noexcept { return at((y + reach) % first_slots); }
  [[nodiscard]] Real* z_second(std::int64_t y) noexcept {
    return at(first_slots + (y + reach) % second_slots);
  }
  [[nodiscard]] Real* y_first() noexcept { return at(first_slots + second_slots); }
  [[nodiscard]] Real* y_second() noexcept { return at(first_slots + second_slots + 1); }

 private:
  // The mixed derivatives read the rows to both sides, the others wait until their row is the current one.
  static constexpr std::int64_t first_slots = 2 * reach + 1, second_slots = reach + 1;

  static void derive(const Real* f, std::int64_t points, std::int64_t distance, const Weights<Real> w,
                     Real* first, Real* second) noexcept {
    for (std::int64_t x = -margin; x < points + reach; x += lanes<Real>) {
      const auto found = derivatives(f + x, distance, w);
      store(first + x, found.first);
      store(second + x, found.second);
    }
  }
  Real* at(std::int64_t row) noexcept { return values_.data() + row * stride_ + margin; }

  std::int64_t stride_;
  AlignedVector<Real> values_;
};

/// The rows of derivatives that a row of results needs.
template <class Real>
struct Neighbours {
  const Real *f, *y_first, *y_second, *z_second;
  std::array<const Real*, 2 * reach + 1> z_first;

  Neighbours(const Real* field, Passing<Real>& passing, std::int64_t y) noexcept
      : f(field), y_first(passing.y_first()), y_second(passing.y_second()), z_second(passing.z_second(y)) {
    for (std::int64_t k = -reach; k <= reach; ++k) z_first[k + reach] = passing.z_first(y + k);
  }
};

template <class Real>
struct AlongAcross {
  Vector<Real> along, across;
};

/// The three rows of a field that are derived along x as they pass by.
template <class Real>
struct Passers {
  Sliding<Real> f, y_first, z_first;

  explicit Passers(const Neighbours<Real>& rows) noexcept
      : f(rows.f), y_first(rows.y_first), z_first(rows.z_first[reach]) {}
  void advance() noexcept {
    f.advance();
    y_first.advance();
    z_first.advance();
  }
};

/// Second derivatives along and across an axis with the components n, `x` points into the row.
template <class Real>
inline AlongAcross<Real> rotate(const Passers<Real>& passers, const Neighbours<Real>& rows,
                                const std::array<Weights<Real>, 3>& w, std::int64_t x,
                                const std::array<Vector<Real>, 3>& n) noexcept {
  constexpr Real two = 2;
  constexpr std::int64_t middle = reach;
  const Vector<Real> xx = second_derivative(passers.f, w[0].second), yy = load(rows.y_second + x),
                     zz = load(rows.z_second + x);
  const Vector<Real> xy = first_derivative(passers.y_first, w[0].first),
                     xz = first_derivative(passers.z_first, w[0].first);
  Vector<Real> yz = w[1].first[0] * (load(rows.z_first[middle + 1] + x) - load(rows.z_first[middle - 1] + x));
  for (std::int64_t k = 2; k <= reach; ++k)
    yz += w[1].first[k - 1] * (load(rows.z_first[middle + k] + x) - load(rows.z_first[middle - k] + x));
  const Vector<Real> along = n[0] * (n[0] * xx + two * (n[1] * xy + n[2] * xz)) +
                             n[1] * (n[1] * yy + two * (n[2] * yz)) + n[2] * (n[2] * zz);
  return {along, xx + yy + zz - along};
}

/// Second derivatives along and across the axis of one field in a plane of a tile, kept until the other
/// field's are there.
template <class Real>
class Contribution {
 public:
  explicit Contribution(const Box& tile)
      : first_y_(tile.lo.y),
        stride_(static_cast<std::int64_t>(padded<Real>(static_cast<std::size_t>(tile.x().size())))),
        values_(static_cast<std::size_t>(2 * tile.y().size() * stride_), Real{0}) {}

  [[nodiscard]] Real* along(std::int64_t y) noexcept { return values_.data() + 2 * (y - first_y_) * stride_; }
  [[nodiscard]] Real* across(std::int64_t y) noexcept { return along(y) + stride_; }

 private:
  std::int64_t first_y_, stride_;
  AlignedVector<Real> values_;
};

/// The components of the axis along a row.
template <class Real>
std::array<const Real*, 3> axis_of(const StepArrays<Real>& a, const Row& row) noexcept {
  return {a.axis[0].row(row.y, row.z), a.axis[1].row(row.y, row.z), a.axis[2].row(row.y, row.z)};
}

template <class Real>
void contribute(const StepArrays<Real>& a, const Row& row, const Neighbours<Real>& f,
                Contribution<Real>& found) noexcept {
  const auto axis = axis_of(a, row);
  Real *const along = found.along(row.y), *const across = found.across(row.y);
  Passers<Real> passers(f);
  for (std::int64_t x = row.x0; x < row.x1; x += lanes<Real>) {
    const std::array<Vector<Real>, 3> n{load(axis[0] + x), load(axis[1] + x), load(axis[2] + x)};
    const auto here = rotate(passers, f, a.weights, x - row.x0, n);
    store(along + x - row.x0, here.along);
    store(across + x - row.x0, here.across);
    passers.advance();
  }
}

template <class Real, bool damped>
void update_tti(const StepArrays<Real>& a, const Row& row, Contribution<Real>& of_p,
                const Neighbours<Real>& q) noexcept {
  const auto axis = axis_of(a, row);
  const Real *const along = of_p.along(row.y), *const across = of_p.across(row.y);
  Passers<Real> passers(q);
  for (std::int64_t x = row.x0; x < row.x1; x += lanes<Real>) {
    const std::array<Vector<Real>, 3> n{load(axis[0] + x), load(axis[1] + x), load(axis[2] + x)};
    const auto of_q = rotate(passers, q, a.weights, x - row.x0, n);
    couple<Real, damped>(a, row, x, load(along + x - row.x0), load(across + x - row.x0), of_q.along,
                         of_q.across);
    passers.advance();
  }
}

/// Has the rows of a field in one plane of a tile pass by.
template <class Real, class Use>
inline void pass_plane(const StepArrays<Real>& a, const Real* field, const Box& tile, std::int64_t z,
                       Passing<Real>& passing, const Use& use) noexcept {
  const std::int64_t points = tile.x().size();
  const auto start = [&](std::int64_t y) noexcept {
    return field + z * a.stride_z + y * a.stride_y + tile.lo.x;
  };
  const auto enter = [&](std::int64_t y) noexcept {
    passing.enter(start(y), y, points, a.stride_z, a.weights[2]);
  };
  for (std::int64_t y = tile.lo.y - reach; y < tile.lo.y + reach; ++y) enter(y);
  for (std::int64_t y = tile.lo.y; y < tile.hi.y; ++y) {
    enter(y + reach);
    passing.pass(start(y), points, a.stride_y, a.weights[1]);
    use(Row{tile.lo.x, tile.hi.x, y, z}, Neighbours<Real>(start(y), passing, y));
  }
}

/// One plane of a tile of the tilted equations. The fields take turns, so that the first cache holds the
/// derivatives of one.
template <class Real, bool damped>
void update_tti_plane(const StepArrays<Real>& a, const Box& tile, std::int64_t z, Passing<Real>& passing,
                      Contribution<Real>& of_p) noexcept {
  pass_plane(a, a.p, tile, z, passing,
             [&](const Row& row, const Neighbours<Real>& p) noexcept { contribute(a, row, p, of_p); });
  pass_plane(a, a.q, tile, z, passing, [&](const Row& row, const Neighbours<Real>& q) noexcept {
    update_tti<Real, damped>(a, row, of_p, q);
  });
}

}  // namespace tailrace::seismic
