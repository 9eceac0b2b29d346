// SPDX-License-Identifier: BSD-3-Clause
#include "spectral_space.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "tailrace/error.hpp"

namespace tailrace::ultrasound {

namespace {

/// Columns that are worked on together, near this number: what is fetched from each plane is a few cache
/// lines then, and all of it fits into the second cache.
constexpr std::int64_t some_columns = 40;

/// Columns that are worked on together; where the columns of one row are shared out among threads, fewer.
std::int64_t columns_together(std::int64_t pitch, std::int64_t group, bool one_row) {
  const std::int64_t blocks = (pitch + some_columns - 1) / some_columns;
  const std::int64_t even = (pitch / blocks + group - 1) / group * group;
  return one_row ? 2 * group : even;
}

/// The columns of one rank: rows along y, or groups of neighbouring kx where there is only one row.
ColumnRange columns_of(mpi::CommView comm, std::int64_t ny, std::int64_t pitch, std::int64_t group) {
  if (ny > 1) return {layout::split(ny, comm.size(), comm.rank()), {0, pitch}};
  const Range groups = layout::split(pitch / group, comm.size(), comm.rank());
  return {{0, 1}, {groups.begin * group, groups.end * group}};
}

/// `n` rounded up to whole cache lines and whole groups.
template <class Element>
std::int64_t aligned_length(std::int64_t n, std::int64_t group) {
  const auto unit = std::lcm(group, static_cast<std::int64_t>(padded<Element>(1)));
  return (n + unit - 1) / unit * unit;
}

/// The node, if its ranks can have as much common memory as a solver asks for; else this rank alone.
mpi::Node sharing_node(mpi::CommView comm, const Grid& grid, std::size_t bytes_per_value) {
  constexpr std::size_t fields = 8;  // no solver has more
  mpi::Node node(comm);
  const Index3 n = grid.folded();
  const std::int64_t values = (n.x / 2 + 8) * n.y * grid.planes_of(comm.rank(), comm.size()).size();
  const bool shares =
      node.comm().size() == 1 ||
      mpi::SharedMemory::allocate(node, fields * static_cast<std::size_t>(values) * bytes_per_value);
  return mpi::min(comm, std::int64_t{shares ? 1 : 0}) == 1 ? std::move(node) : mpi::Node::alone(comm);
}

Error no_shared_memory(std::size_t bytes) {
  return Error(ErrorInfo{.kind = ErrorKind::resource,
                         .message = fmt::format("the ranks of a node cannot share {} bytes each", bytes),
                         .path = {},
                         .hint = "set TAILRACE_RANKS_PER_NODE=1, or give /dev/shm more room"});
}

}  // namespace

template <class Real>
SpectralSpace<Real>::SpectralSpace(mpi::CommView comm, const Grid& grid)
    : node_(sharing_node(comm, grid, sizeof(Complex))),
      ranks_(comm.size()),
      group_(grid.folded().y == 1 ? std::max<std::int64_t>(simd::lanes<Real>, 4) : 4),
      plane_transform_(grid.folded().x, grid.folded().y, group_),
      ny_(grid.folded().y),
      nz_(grid.folded().z),
      planes_(grid.planes_of(comm.rank(), comm.size())),
      columns_(columns_of(comm, ny_, pitch(), group_)),
      columns_at_once_(columns_together(pitch(), std::max<std::int64_t>(simd::lanes<Real>, 4), ny_ == 1)),
      fourier_z_(nz_),
      plane_stride_(aligned_length<Complex>(pitch() * ny_, group_)),
      column_stride_y_(columns_.kx.size()),
      column_stride_z_(columns_.kx.size() * columns_.y.size()) {
  if (std::ssize(node_.ranks()) < ranks_) plan_exchanges(comm);
}

template <class Real>
void SpectralSpace<Real>::plan_exchanges(mpi::CommView comm) {
  // The exchange counts in groups, so that no group is torn apart.
  using layout::Axis;
  const Index3 spectrum{pitch() / group_, ny_, nz_};
  const Axis split_axis = split_along_kx() ? Axis::x : Axis::y;
  const auto by_planes = layout::Decomposition::slab(spectrum, Axis::z, comm.size());
  const auto by_columns = layout::Decomposition::slab(spectrum, split_axis, comm.size());
  const layout::LocalLayout planes_layout{pitch() / group_, plane_stride_ / group_},
      columns_layout{column_stride_y_ / group_, column_stride_z_ / group_};
  batches_ = overlap_batches;
  to_columns_.emplace(
      comm, layout::TransposeConfig{.from = by_planes,
                                    .to = by_columns,
                                    .from_layout = planes_layout,
                                    .to_layout = columns_layout,
                                    .element_bytes = static_cast<std::size_t>(group_) * sizeof(Complex),
                                    .batch_axis = Axis::z,
                                    .left_out = node_.ranks(),
                                    .batches = batches_});
  to_planes_.emplace(
      comm, layout::TransposeConfig{.from = by_columns,
                                    .to = by_planes,
                                    .from_layout = columns_layout,
                                    .to_layout = planes_layout,
                                    .element_bytes = static_cast<std::size_t>(group_) * sizeof(Complex),
                                    .batch_axis = split_axis,
                                    .left_out = node_.ranks(),
                                    .batches = batches_});
}

template <class Real>
ColumnRange SpectralSpace<Real>::column_batch(int k) const {
  if (!to_planes_) return columns_;
  const Range batch = to_planes_->batch(k);
  if (!split_along_kx()) return {batch, columns_.kx};
  return {columns_.y, {batch.begin * group_, batch.end * group_}};
}

template <class Real>
SpectralField<Real> SpectralSpace<Real>::make_field() const {
  SpectralField<Real> field;
  const std::int64_t elements = plane_stride_ * planes_.size();
  const auto bytes = static_cast<std::size_t>(elements) * sizeof(Complex);
  if (node_.comm().size() > 1) {
    field.shared = mpi::SharedMemory::allocate(node_, bytes);
    if (!field.shared) throw no_shared_memory(bytes);
    field.planes = reinterpret_cast<Complex*>(field.shared->part(node_.comm().rank()));
  } else {
    field.own.resize(static_cast<std::size_t>(elements));
    field.planes = field.own.data();
  }
#pragma omp parallel for schedule(static)
  for (std::int64_t plane = 0; plane < planes_.size(); ++plane)
    std::fill_n(field.planes + plane * plane_stride_, plane_stride_, Complex{});
  synchronise(std::array{&field});
  // Not initialised: what others send fills it, padding included, and the room of our own planes is never
  // touched.
  if (to_columns_) field.columns.resize(static_cast<std::size_t>(column_stride_z_ * nz_));
  point_to_planes(field);
  return field;
}

template <class Real>
void SpectralSpace<Real>::point_to_planes(SpectralField<Real>& field) const {
  field.plane_at.resize(static_cast<std::size_t>(nz_));
  Complex* columns = field.columns.data() - columns_.y.begin * column_stride_y_ - columns_.kx.begin;
  for (std::int64_t z = 0; z < nz_; ++z)
    field.plane_at[static_cast<std::size_t>(z)] = columns + z * column_stride_z_;
  for (int i = 0; i < node_.comm().size(); ++i) {
    const Range planes = layout::split(nz_, ranks_, node_.ranks()[static_cast<std::size_t>(i)]);
    Complex* first = field.shared ? reinterpret_cast<Complex*>(field.shared->part(i)) : field.planes;
    for (std::int64_t z = planes.begin; z < planes.end; ++z)
      field.plane_at[static_cast<std::size_t>(z)] = first + (z - planes.begin) * plane_stride_;
  }
}

template <class Real>
void SpectralSpace<Real>::synchronise(std::span<SpectralField<Real>* const> fields) const {
  if (node_.comm().size() == 1) return;
  for (const auto* field : fields) field->shared->fence();
  mpi::barrier(node_.comm());
  for (const auto* field : fields) field->shared->fence();
}

template <class Real>
std::int64_t SpectralSpace<Real>::field_bytes() const noexcept {
  std::int64_t planes_elsewhere = nz_;
  for (const int rank : node_.ranks()) planes_elsewhere -= layout::split(nz_, ranks_, rank).size();
  const std::int64_t elements = plane_stride_ * planes_.size() + column_stride_z_ * planes_elsewhere;
  return elements * static_cast<std::int64_t>(sizeof(Complex));
}

template <class Real>
void SpectralSpace<Real>::begin_to_columns(SpectralField<Real>& field, Exchange& exchange) {
  if (to_columns_) exchange.flight_.emplace(to_columns_->begin(field.planes, field.columns.data()));
}

template <class Real>
void SpectralSpace<Real>::begin_to_planes(SpectralField<Real>& field, Exchange& exchange) {
  if (to_columns_) exchange.flight_.emplace(to_planes_->begin(field.columns.data(), field.planes));
}

template class SpectralSpace<float>;
template class SpectralSpace<double>;

}  // namespace tailrace::ultrasound
