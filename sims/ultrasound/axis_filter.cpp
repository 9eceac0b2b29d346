// SPDX-License-Identifier: BSD-3-Clause
#include "axis_filter.hpp"

namespace tailrace::ultrasound {

template <class Real>
AxisFilter<Real>::AxisFilter(const Grid& grid, Operator which, Sweeps<Real>& sweeps)
    : points_(grid.folded()), sweeps_(sweeps), pairs_(sweeps.space().make_field()) {
  for (std::size_t axis = 0; axis < axis_count; ++axis) {
    const auto file_axis = grid.file_axis(axis);
    if (!file_axis) continue;
    factor_[axis] = make_axis_operators<Real>(grid, *file_axis).*which;
    for (auto& factor : factor_[axis]) factor /= static_cast<Real>(factor_[axis].size());
  }
}

template <class Real>
void AxisFilter<Real>::apply(std::size_t axis, const Field<Real>& in, Field<Real>& out) {
  if (axis == 0) return along_x(in, out);
  if (axis == 1) return along_y(in, out);
  along_z(in, out);
}

template <class Real>
void AxisFilter<Real>::along_x(const Field<Real>& in, Field<Real>& out) {
  sweeps_.planes({}, [&](const Slab& slab, Workspace<Real>& work) {
    sweeps_.space().plane_transform().rows().filter(in.rows(slab), factor_[0].data(), out.rows(slab),
                                                    slab.rows, work.rows);
  });
}

// Along y and z two neighbouring columns are transformed as the real and imaginary part of one complex
// column, which is how they lie in memory. The factors belong to a real filter, so a pair stays a pair.

template <class Real>
void AxisFilter<Real>::along_y(const Field<Real>& in, Field<Real>& out) {
  const auto& space = sweeps_.space();
  sweeps_.planes({}, [&](const Slab& slab, Workspace<Real>& work) {
    const auto rows = work.spectrum_rows();
    pack(in, slab, rows);
    space.plane_transform().columns().filter(rows.first, rows.stride, space.pitch(), factor_[1].data(),
                                             work.rows);
    unpack(rows, slab, out);
  });
}

template <class Real>
void AxisFilter<Real>::along_z(const Field<Real>& in, Field<Real>& out) {
  const std::array result{&pairs_};
  const auto& space = sweeps_.space();
  sweeps_.planes(result,
                 [&](const Slab& slab, Workspace<Real>&) { pack(in, slab, space.rows(pairs_, slab)); });
  sweeps_.columns(result, [&](auto& group) {
    group.forward(pairs_);
    for (std::int64_t z = 0; z < space.nz(); ++z) {
      const Complex factor = factor_[2][static_cast<std::size_t>(z)];
      group.values()[z] = fft::times(group.values()[z], factor.real(), factor.imag());
    }
    group.inverse(0, pairs_);
  });
  sweeps_.planes({},
                 [&](const Slab& slab, Workspace<Real>&) { unpack(space.rows(pairs_, slab), slab, out); });
}

template <class Real>
void AxisFilter<Real>::pack(const Field<Real>& in, const Slab& slab, RowView<Complex> pairs) const noexcept {
  for (std::int64_t r = 0; r < slab.rows; ++r) {
    auto* row = reinterpret_cast<Real*>(pairs.row(r));
    std::fill(std::copy_n(in.rows(slab).row(r), points_.x, row), row + 2 * sweeps_.space().pitch(), Real(0));
  }
}

template <class Real>
void AxisFilter<Real>::unpack(RowView<Complex> pairs, const Slab& slab, Field<Real>& out) const noexcept {
  for (std::int64_t r = 0; r < slab.rows; ++r)
    std::copy_n(reinterpret_cast<const Real*>(pairs.row(r)), points_.x, out.rows(slab).row(r));
}

template class AxisFilter<float>;
template class AxisFilter<double>;

}  // namespace tailrace::ultrasound
