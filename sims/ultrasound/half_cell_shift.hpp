#pragma once

#include <array>

#include "sweeps.hpp"

namespace tailrace::ultrasound {

/// Moves velocity components from their staggered points back to the grid points, half a cell against their
/// own axis, by the Fourier interpolant along that axis.
template <class Real>
class HalfCellShift {
 public:
  /// `sweeps` outlives this. @collective{comm}
  HalfCellShift(const Grid& grid, Sweeps<Real>& sweeps);

  /// `out` = `in` moved along `axis` of the folded frame. @collective{comm}
  void shift(std::size_t axis, const Field<Real>& in, Field<Real>& out);

  [[nodiscard]] std::int64_t bytes() const noexcept { return sweeps_.space().field_bytes(); }

 private:
  using Complex = std::complex<Real>;

  void shift_along_x(const Field<Real>& in, Field<Real>& out);
  void shift_along_y(const Field<Real>& in, Field<Real>& out);
  void shift_along_z(const Field<Real>& in, Field<Real>& out);
  void pack(const Real* plane, Complex* pairs) const noexcept;
  void unpack(const Complex* pairs, Real* plane) const noexcept;

  Index3 points_;  // in the folded frame
  Sweeps<Real>& sweeps_;
  std::array<AlignedVector<Complex>, axis_count> factor_;  // with the normalisation of the transform
  SpectralField<Real> pairs_;
};

}  // namespace tailrace::ultrasound
