#include "spectral_space.hpp"

#include <algorithm>

namespace tailrace::ultrasound {

namespace {

/// The columns of one rank: rows along y, or groups of neighbouring kx where there is only one row.
ColumnRange columns_of(mpi::CommView comm, std::int64_t ny, std::int64_t pitch, std::int64_t group) {
  if (ny > 1) return {layout::split(ny, comm.size(), comm.rank()), {0, pitch}};
  const Range groups = layout::split(pitch / group, comm.size(), comm.rank());
  return {{0, 1}, {groups.begin * group, groups.end * group}};
}

}  // namespace

template <class Real>
SpectralSpace<Real>::SpectralSpace(mpi::CommView comm, const Grid& grid)
    : plane_transform_(grid.folded().x, grid.folded().y),
      ny_(grid.folded().y),
      nz_(grid.folded().z),
      planes_(grid.planes_of(comm.rank(), comm.size())),
      columns_(columns_of(comm, ny_, pitch(), group)),
      column_transform_(nz_, pitch()),
      plane_stride_(static_cast<std::int64_t>(padded<Complex>(static_cast<std::size_t>(pitch() * ny_)))),
      column_stride_y_(columns_.kx.size()),
      column_stride_z_(columns_.kx.size() * columns_.y.size()) {
  if (comm.size() == 1) return;
  // The exchange counts in groups, so that no group is torn apart.
  using layout::Axis;
  const Index3 spectrum{pitch() / group, ny_, nz_};
  const Axis split_axis = split_along_kx() ? Axis::x : Axis::y;
  const auto by_planes = layout::Decomposition::slab(spectrum, Axis::z, comm.size());
  const auto by_columns = layout::Decomposition::slab(spectrum, split_axis, comm.size());
  const layout::LocalLayout planes_layout{pitch() / group, plane_stride_ / group},
      columns_layout{column_stride_y_ / group, column_stride_z_ / group};
  pieces_ = overlap_pieces;
  to_columns_.emplace(comm, layout::TransposeConfig{.from = by_planes,
                                                    .to = by_columns,
                                                    .from_layout = planes_layout,
                                                    .to_layout = columns_layout,
                                                    .element_bytes = group * sizeof(Complex),
                                                    .piece_axis = Axis::z,
                                                    .own_part = layout::OwnPart::leave,
                                                    .pieces = pieces_});
  to_planes_.emplace(comm, layout::TransposeConfig{.from = by_columns,
                                                   .to = by_planes,
                                                   .from_layout = columns_layout,
                                                   .to_layout = planes_layout,
                                                   .element_bytes = group * sizeof(Complex),
                                                   .piece_axis = split_axis,
                                                   .own_part = layout::OwnPart::leave,
                                                   .pieces = pieces_});
}

template <class Real>
ColumnRange SpectralSpace<Real>::column_piece(int k) const {
  if (!to_planes_) return columns_;
  const Range piece = to_planes_->piece(k);
  if (!split_along_kx()) return {piece, columns_.kx};
  return {columns_.y, {piece.begin * group, piece.end * group}};
}

template <class Real>
SpectralField<Real> SpectralSpace<Real>::make_field() const {
  SpectralField<Real> field;
  field.planes.resize(static_cast<std::size_t>(plane_stride_ * planes_.size()), Complex{});
  // Not initialised: what others send fills it, padding included, and the room of our own planes is never
  // touched.
  if (!alone()) field.columns.resize(static_cast<std::size_t>(column_stride_z_ * nz_));
  return field;
}

template <class Real>
std::int64_t SpectralSpace<Real>::field_bytes() const noexcept {
  const std::int64_t elements = plane_stride_ * planes_.size() + column_stride_z_ * (nz_ - planes_.size());
  return elements * static_cast<std::int64_t>(sizeof(Complex));
}

template <class Real>
template <class FieldType>
auto SpectralSpace<Real>::row(FieldType& field, std::int64_t y, std::int64_t z,
                              std::int64_t kx) const noexcept {
  if (planes_.contains(z))
    return field.planes.data() + (z - planes_.begin) * plane_stride_ + y * pitch() + kx;
  return field.columns.data() + z * column_stride_z_ + (y - columns_.y.begin) * column_stride_y_ +
         (kx - columns_.kx.begin);
}

template <class Real>
void SpectralSpace<Real>::load(const SpectralField<Real>& field, std::int64_t y, Range kx,
                               Complex* block) const noexcept {
  const std::int64_t width = column_transform_.width(), count = kx.size();
  for (std::int64_t z = 0; z < nz_; ++z, block += width)
    std::fill_n(std::copy_n(row(field, y, z, kx.begin), count, block), width - count, Complex{});
}

template <class Real>
void SpectralSpace<Real>::store(const Complex* block, std::int64_t y, Range kx,
                                SpectralField<Real>& field) const noexcept {
  const std::int64_t width = column_transform_.width(), count = kx.size();
  for (std::int64_t z = 0; z < nz_; ++z, block += width)
    std::copy_n(block, count, row(field, y, z, kx.begin));
}

template <class Real>
typename SpectralSpace<Real>::Exchange SpectralSpace<Real>::begin_to_columns(SpectralField<Real>& field) {
  Exchange exchange;
  if (!alone()) exchange.flight_.emplace(to_columns_->begin(field.planes.data(), field.columns.data()));
  return exchange;
}

template <class Real>
typename SpectralSpace<Real>::Exchange SpectralSpace<Real>::begin_to_planes(SpectralField<Real>& field) {
  Exchange exchange;
  if (!alone()) exchange.flight_.emplace(to_planes_->begin(field.columns.data(), field.planes.data()));
  return exchange;
}

template class SpectralSpace<float>;
template class SpectralSpace<double>;

}  // namespace tailrace::ultrasound
