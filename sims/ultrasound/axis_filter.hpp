// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>

#include "sweeps.hpp"

namespace tailrace::ultrasound {

/// Moves velocity components from their staggered points back to the grid points, half a cell against their
/// own axis, by the Fourier interpolant along that axis.
template <class Real>
class AxisFilter {
 public:
  /// Describes which of the operators of each axis to apply.
  using Operator = AlignedVector<std::complex<Real>> AxisOperators<Real>::*;

  /// `sweeps` outlives this. @collective{comm}
  AxisFilter(const Grid& grid, Operator which, Sweeps<Real>& sweeps);

  /// `out` = the operator of `axis` (of the folded frame) applied to `in`; they may be the same field.
  /// @collective{comm}
  void apply(std::size_t axis, const Field<Real>& in, Field<Real>& out);

  [[nodiscard]] std::int64_t bytes() const noexcept { return sweeps_.space().field_bytes(); }

 private:
  using Complex = std::complex<Real>;

  void along_x(const Field<Real>& in, Field<Real>& out);
  void along_y(const Field<Real>& in, Field<Real>& out);
  void along_z(const Field<Real>& in, Field<Real>& out);
  void pack(const Field<Real>& in, const Slab& slab, RowView<Complex> pairs) const noexcept;
  void unpack(RowView<Complex> pairs, const Slab& slab, Field<Real>& out) const noexcept;

  Index3 points_;  // in the folded frame
  Sweeps<Real>& sweeps_;
  std::array<AlignedVector<Complex>, axis_count> factor_;  // with the normalisation of the transform
  SpectralField<Real> pairs_;
};

}  // namespace tailrace::ultrasound
