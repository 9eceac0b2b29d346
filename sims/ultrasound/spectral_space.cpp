#include "spectral_space.hpp"

#include <algorithm>

namespace tailrace::ultrasound {

SpectralSpace::SpectralSpace(mpi::CommView comm, Index3 grid)
    : plane_transform_(grid.x, grid.y),
      column_transform_(grid.z, plane_transform_.pitch()),
      ny_(grid.y),
      nz_(grid.z),
      planes_(layout::split(grid.z, comm.size(), comm.rank())),
      rows_(layout::split(grid.y, comm.size(), comm.rank())),
      plane_stride_(static_cast<std::int64_t>(padded<Complex>(static_cast<std::size_t>(pitch() * ny_)))),
      row_stride_z_(pitch() * rows_.size()) {
  if (comm.size() == 1) return;
  const Index3 spectrum{pitch(), ny_, nz_};
  const auto by_planes = layout::Decomposition::slab(spectrum, layout::Axis::z, comm.size());
  const auto by_rows = layout::Decomposition::slab(spectrum, layout::Axis::y, comm.size());
  const layout::LocalLayout planes_layout{pitch(), plane_stride_}, rows_layout{pitch(), row_stride_z_};
  pieces_ = overlap_pieces;
  to_rows_.emplace(comm, layout::TransposeConfig{.from = by_planes,
                                                 .to = by_rows,
                                                 .from_layout = planes_layout,
                                                 .to_layout = rows_layout,
                                                 .element_bytes = sizeof(Complex),
                                                 .piece_axis = layout::Axis::z,
                                                 .own_part = layout::OwnPart::leave,
                                                 .pieces = pieces_});
  to_planes_.emplace(comm, layout::TransposeConfig{.from = by_rows,
                                                   .to = by_planes,
                                                   .from_layout = rows_layout,
                                                   .to_layout = planes_layout,
                                                   .element_bytes = sizeof(Complex),
                                                   .piece_axis = layout::Axis::y,
                                                   .own_part = layout::OwnPart::leave,
                                                   .pieces = pieces_});
}

SpectralField SpectralSpace::make_field() const {
  SpectralField field;
  field.planes.resize(static_cast<std::size_t>(plane_stride_ * planes_.size()), Complex{});
  // Not initialised: what others send fills it, padding included, and the room of our own planes is never
  // touched.
  if (!alone()) field.rows.resize(static_cast<std::size_t>(row_stride_z_ * nz_));
  return field;
}

std::int64_t SpectralSpace::field_bytes() const noexcept {
  const std::int64_t elements = plane_stride_ * planes_.size() + row_stride_z_ * (nz_ - planes_.size());
  return elements * static_cast<std::int64_t>(sizeof(Complex));
}

template <class FieldType>
auto SpectralSpace::row(FieldType& field, std::int64_t y, std::int64_t z) const noexcept {
  return planes_.contains(z) ? field.planes.data() + (z - planes_.begin) * plane_stride_ + y * pitch()
                             : field.rows.data() + z * row_stride_z_ + (y - rows_.begin) * pitch();
}

void SpectralSpace::load(const SpectralField& field, std::int64_t y, std::int64_t kx,
                         Complex* block) const noexcept {
  const std::int64_t width = column_transform_.width(), count = std::min(width, pitch() - kx);
  for (std::int64_t z = 0; z < nz_; ++z, block += width)
    std::fill_n(std::copy_n(row(field, y, z) + kx, count, block), width - count, Complex{});
}

void SpectralSpace::store(const Complex* block, std::int64_t y, std::int64_t kx,
                          SpectralField& field) const noexcept {
  const std::int64_t width = column_transform_.width(), count = std::min(width, pitch() - kx);
  for (std::int64_t z = 0; z < nz_; ++z, block += width) std::copy_n(block, count, row(field, y, z) + kx);
}

SpectralSpace::Exchange SpectralSpace::begin_to_rows(SpectralField& field) {
  Exchange exchange;
  if (!alone()) exchange.flight_.emplace(to_rows_->begin(field.planes.data(), field.rows.data()));
  return exchange;
}

SpectralSpace::Exchange SpectralSpace::begin_to_planes(SpectralField& field) {
  Exchange exchange;
  if (!alone()) exchange.flight_.emplace(to_planes_->begin(field.rows.data(), field.planes.data()));
  return exchange;
}

}  // namespace tailrace::ultrasound
