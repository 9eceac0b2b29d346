#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "field.hpp"

namespace tailrace::ultrasound {

/// The three axes in the order in which every per-axis array stands.
inline constexpr std::array<char, 3> axis_names{'x', 'y', 'z'};
inline constexpr std::size_t axis_count = 3;

/// Thickness in points and strength in nepers per point of the absorbing layer at both ends of each axis.
struct Pml {
  std::array<std::int64_t, axis_count> size{};
  std::array<double, axis_count> alpha{};
};

/// Grid, time step and reference speed of a run.
struct Grid {
  Index3 points;
  std::array<double, axis_count> spacing_m{};
  double dt_s = 0;
  double c_ref_m_s = 0;
  Pml pml;

  [[nodiscard]] std::array<std::int64_t, axis_count> extents() const noexcept {
    return {points.x, points.y, points.z};
  }
};

/// Damping factors of the split-field layer along one axis, one per point (digest section 2.3; Treeby and Cox
/// 2010, eq. 4). Staggered profiles belong to velocities, the others to densities.
struct PmlProfile {
  AlignedVector<float> density, velocity;
};
PmlProfile make_pml_profile(const Grid& grid, std::size_t axis);

/// Spectral derivative along one axis with the half-cell shift of the staggered grid: `forward` goes from
/// pressure to velocity points, `backward` from velocity to pressure points. Index in standard order; along x
/// only the half spectrum.
struct ShiftedDerivative {
  AlignedVector<Complex> forward, backward;
};
ShiftedDerivative make_shifted_derivative(const Grid& grid, std::size_t axis);

/// A real factor for every wavevector that depends on |k| only. Kept for the rows (y) of one rank and for
/// half of the z indices, since +kz and -kz have the same factor.
class RadialTable {
 public:
  RadialTable() = default;
  /// Fills the table with `function(|k|)`, |k| in radians per metre.
  template <class Function>
  RadialTable(const Grid& grid, Range rows, Function function);

  /// Factors of the half spectrum along x at (y, z).
  [[nodiscard]] const float* row(std::int64_t y, std::int64_t z) const noexcept {
    const std::int64_t mirror = z <= nz_ / 2 ? z : nz_ - z;
    return values_.data() + ((y - rows_.begin) * (nz_ / 2 + 1) + mirror) * half_nx_;
  }
  [[nodiscard]] std::int64_t bytes() const noexcept {
    return static_cast<std::int64_t>(values_.size() * sizeof(float));
  }

 private:
  std::int64_t half_nx_ = 0, nz_ = 0;
  Range rows_;
  AlignedVector<float> values_;
};

/// Wavenumber of standard-order index `i` of `n`; an even n counts its Nyquist index as negative.
double wavenumber(std::int64_t i, std::int64_t n, double spacing_m);

template <class Function>
RadialTable::RadialTable(const Grid& grid, Range rows, Function function)
    : half_nx_(grid.points.x / 2 + 1),
      nz_(grid.points.z),
      rows_(rows),
      values_(static_cast<std::size_t>(rows.size() * (nz_ / 2 + 1) * half_nx_)) {
#pragma omp parallel for schedule(static)
  for (std::int64_t y = rows.begin; y < rows.end; ++y) {
    const double ky = wavenumber(y, grid.points.y, grid.spacing_m[1]);
    for (std::int64_t z = 0; z <= nz_ / 2; ++z) {
      const double kz = wavenumber(z, nz_, grid.spacing_m[2]);
      float* out = values_.data() + ((y - rows.begin) * (nz_ / 2 + 1) + z) * half_nx_;
      for (std::int64_t x = 0; x < half_nx_; ++x) {
        const double kx = wavenumber(x, grid.points.x, grid.spacing_m[0]);
        out[x] = static_cast<float>(function(std::sqrt(kx * kx + ky * ky + kz * kz)));
      }
    }
  }
}

}  // namespace tailrace::ultrasound
