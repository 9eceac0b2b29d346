// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cmath>
#include <complex>
#include <cstdint>
#include <optional>
#include <span>

#include "field.hpp"
#include "tailrace/box.hpp"
#include "tailrace/decomposition.hpp"

namespace tailrace::ultrasound {

/// The three axes in the order in which every per-axis array is.
inline constexpr std::array<char, 3> axis_names{'x', 'y', 'z'};
inline constexpr std::size_t axis_count = 3;

/// Thickness in points and strength in nepers per point of the absorbing layer at both ends of each axis.
struct Pml {
  std::array<std::int64_t, axis_count> size{};
  std::array<double, axis_count> alpha{};
};

/// Grid, time step and reference speed of a run. Nz = 1 means two dimensions, without any z quantity.
///
/// The solver works on planes along the slowest axis. In two dimensions the rows of the grid are its planes:
/// it holds (Nx, Ny, 1) points as (Nx, 1, Ny), called the folded frame. Linear indices are the same in both.
struct Grid {
  Index3 points;
  std::array<double, axis_count> spacing_m{};
  double dt_s = 0;
  double c_ref_m_s = 0;
  Pml pml;

  [[nodiscard]] std::array<std::int64_t, axis_count> extents() const noexcept {
    return {points.x, points.y, points.z};
  }
  [[nodiscard]] std::size_t dimensions() const noexcept { return points.z == 1 ? 2 : 3; }
  /// The axis along which planes follow each other: z, or y in two dimensions.
  [[nodiscard]] std::size_t slow_axis() const noexcept { return dimensions() - 1; }
  /// The points in the folded frame, and back for a box.
  [[nodiscard]] Index3 folded() const noexcept {
    return dimensions() == 2 ? Index3{points.x, 1, points.y} : points;
  }
  [[nodiscard]] Box unfolded(const Box& box) const noexcept {
    return dimensions() == 2 ? Box{{box.lo.x, box.lo.z, 0}, {box.hi.x, box.hi.z, 1}} : box;
  }
  /// The axis of the file that is `axis` of the folded frame, if there is one.
  [[nodiscard]] std::optional<std::size_t> file_axis(std::size_t axis) const noexcept {
    if (dimensions() == 3 || axis == 0) return axis;
    return axis == 2 ? std::optional<std::size_t>(1) : std::nullopt;
  }
  /// The planes of the folded frame that a rank owns.
  [[nodiscard]] Range planes_of(int rank, int ranks) const noexcept {
    return layout::split(folded().z, ranks, rank);
  }
  /// The points that a rank owns.
  [[nodiscard]] Box box_of(int rank, int ranks) const noexcept {
    const Index3 n = folded();
    const Range planes = planes_of(rank, ranks);
    return unfolded({{0, 0, planes.begin}, {n.x, n.y, planes.end}});
  }
};

/// The least and the largest distance of points along the axes that there are. @local
double finest_spacing_m(const Grid& grid) noexcept;
double coarsest_spacing_m(const Grid& grid) noexcept;

/// Damping factors of the split-field layer along one axis, one per point (Treeby and Cox 2010, eq. 4).
/// Staggered profiles belong to velocities, the others to densities.
template <class Real>
struct PmlProfile {
  AlignedVector<Real> density, velocity;
};
template <class Real>
PmlProfile<Real> make_pml_profile(const Grid& grid, std::size_t axis);

/// Factors in k-space along one axis of the staggered grid, index in standard order: `forward` differentiates
/// and goes from pressure to velocity points, `backward` differentiates and goes back, `shift` goes back
/// only. What a real signal loses of a half-cell shift at the Nyquist index is left out of `shift`.
template <class Real>
struct AxisOperators {
  AlignedVector<std::complex<Real>> forward, backward, shift, derivative;
};
template <class Real>
AxisOperators<Real> make_axis_operators(const Grid& grid, std::size_t axis);

/// A real factor for every wavevector that depends on |k| only. Kept for the columns along z of one rank and
/// for half of the z indices, since +kz and -kz have the same factor; in the folded frame. Columns behind the
/// half spectrum have factors of 0.
template <class Real>
class RadialTable {
 public:
  RadialTable() = default;
  /// Fills the table with `function(|k|)`, |k| in radians per metre, for the columns (y, kx) in `rows` and
  /// `columns`.
  template <class Function>
  RadialTable(const Grid& grid, Range rows, Range columns, Function function);

  /// Factors at (y, z), of this rank's columns from the first one on.
  [[nodiscard]] const Real* row(std::int64_t y, std::int64_t z) const noexcept {
    const std::int64_t mirror = z <= nz_ / 2 ? z : nz_ - z;
    return values_.data() + ((y - rows_.begin) * (nz_ / 2 + 1) + mirror) * columns_.size();
  }
  /// All of them: y slowest, then z up to the middle.
  [[nodiscard]] std::span<const Real> values() const noexcept { return values_; }
  [[nodiscard]] std::int64_t bytes() const noexcept {
    return static_cast<std::int64_t>(values_.size() * sizeof(Real));
  }

 private:
  std::int64_t nz_ = 0;
  Range rows_, columns_;
  AlignedVector<Real> values_;
};

/// Wavenumber of standard-order index `i` of `n`; an even n counts its Nyquist index as negative.
double wavenumber(std::int64_t i, std::int64_t n, double spacing_m);
/// sin(a) / a.
double sinc(double a) noexcept;
/// |k|^power, with the infinite value at k = 0 left out.
double power_of_k(double k, double power) noexcept;

template <class Real>
template <class Function>
RadialTable<Real>::RadialTable(const Grid& grid, Range rows, Range columns, Function function)
    : nz_(grid.folded().z),
      rows_(rows),
      columns_(columns),
      values_(static_cast<std::size_t>(rows.size() * (nz_ / 2 + 1) * columns_.size())) {
  const Index3 n = grid.folded();
#pragma omp parallel for schedule(static)
  for (std::int64_t y = rows.begin; y < rows.end; ++y) {
    const double ky = wavenumber(y, n.y, grid.spacing_m[1]);
    for (std::int64_t z = 0; z <= nz_ / 2; ++z) {
      const double kz = wavenumber(z, n.z, grid.spacing_m[grid.slow_axis()]);
      Real* out = values_.data() + ((y - rows.begin) * (nz_ / 2 + 1) + z) * columns_.size();
      for (std::int64_t x = columns_.begin; x < columns_.end; ++x) {
        const double kx = wavenumber(x, n.x, grid.spacing_m[0]);
        *out++ = x > n.x / 2 ? Real(0) : static_cast<Real>(function(std::sqrt(kx * kx + ky * ky + kz * kz)));
      }
    }
  }
}

}  // namespace tailrace::ultrasound
