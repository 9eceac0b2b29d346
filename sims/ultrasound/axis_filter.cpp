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
  sweeps_.planes({}, [&](std::int64_t z, Workspace<Real>& work) {
    sweeps_.space().plane_transform().filter_rows(in.plane(z), factor_[0].data(), out.plane(z),
                                                  work.transform);
  });
}

// Along y and z two neighbouring columns are transformed as the real and imaginary part of one complex
// column, which is how they lie in memory. The factors belong to a real filter, so a pair stays a pair.

template <class Real>
void AxisFilter<Real>::along_y(const Field<Real>& in, Field<Real>& out) {
  sweeps_.planes({}, [&](std::int64_t z, Workspace<Real>& work) {
    pack(in.plane(z), work.spectrum.data());
    sweeps_.space().plane_transform().filter_columns(work.spectrum.data(), factor_[1].data());
    unpack(work.spectrum.data(), out.plane(z));
  });
}

template <class Real>
void AxisFilter<Real>::along_z(const Field<Real>& in, Field<Real>& out) {
  const std::array result{&pairs_};
  const auto& space = sweeps_.space();
  const auto& columns = space.column_transform();
  sweeps_.planes(result,
                 [&](std::int64_t z, Workspace<Real>&) { pack(in.plane(z), space.plane(pairs_, z)); });
  sweeps_.columns(result, [&](const ColumnBlock& block, Workspace<Real>& work) {
    Complex* values = work.block[0].data();
    space.load(pairs_, block.y, block.kx, values);
    columns.forward(values);
    for (std::int64_t z = 0; z < space.nz(); ++z)
      kernels::scale_in_place(values + z * columns.width(), factor_[2][static_cast<std::size_t>(z)],
                              columns.width());
    columns.inverse(values);
    space.store(values, block.y, block.kx, pairs_);
  });
  sweeps_.planes({}, [&](std::int64_t z, Workspace<Real>&) { unpack(space.plane(pairs_, z), out.plane(z)); });
}

template <class Real>
void AxisFilter<Real>::pack(const Real* plane, Complex* pairs) const noexcept {
  const std::int64_t pitch = sweeps_.space().pitch();
  for (std::int64_t y = 0; y < points_.y; ++y) {
    auto* row = reinterpret_cast<Real*>(pairs + y * pitch);
    std::fill(std::copy_n(plane + y * points_.x, points_.x, row), row + 2 * pitch, Real(0));
  }
}

template <class Real>
void AxisFilter<Real>::unpack(const Complex* pairs, Real* plane) const noexcept {
  const std::int64_t pitch = sweeps_.space().pitch();
  for (std::int64_t y = 0; y < points_.y; ++y)
    std::copy_n(reinterpret_cast<const Real*>(pairs + y * pitch), points_.x, plane + y * points_.x);
}

template class AxisFilter<float>;
template class AxisFilter<double>;

}  // namespace tailrace::ultrasound
