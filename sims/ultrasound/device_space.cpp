// SPDX-License-Identifier: BSD-3-Clause
#include "device_space.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <tuple>

#include "base/check.hpp"
#include "device_fft.hpp"
#include "mpi/verdict.hpp"
#include "tailrace/decomposition.hpp"

namespace tailrace::ultrasound {

namespace {

constexpr int batches = 4;  // of a spectrum: the first ones travel while others are copied

/// Kernels count points with 32 bits.
void check_size(std::int64_t values) {
  if (values < std::numeric_limits<std::int32_t>::max()) return;
  throw Error(
      ErrorInfo{.kind = ErrorKind::resource,
                .message = fmt::format("a rank would have {} points on its device, more than 2^31", values),
                .path = {},
                .hint = "more ranks and devices"});
}

}  // namespace

template <class Real>
DeviceSpace<Real>::Shape::Shape(const Grid& grid, int ranks, int rank) {
  using Fft = DeviceFft<Real>;
  const Index3 n = grid.folded();
  const std::int64_t pitch = Fft::pitch_of(n.x);
  planes = grid.planes_of(rank, ranks);
  if (n.y > 1) {
    columns = {layout::split(n.y, ranks, rank), {0, pitch}};
  } else {
    const Range groups = layout::split(pitch / Fft::group, ranks, rank);
    columns = {{0, 1}, {groups.begin * Fft::group, groups.end * Fft::group}};
  }
  const auto number = [](std::int64_t value) { return static_cast<std::uint32_t>(value); };
  points = {number(n.x), number(n.y), number(planes.size()), number(pitch)};
  block = {number(columns.kx.size()), number(columns.y.size()), number(n.z)};
}

template <class Real>
std::size_t DeviceSpace<Real>::Shape::planes_bytes() const noexcept {
  return static_cast<std::size_t>(points.spectrum_count()) * sizeof(Complex);
}
template <class Real>
std::size_t DeviceSpace<Real>::Shape::columns_bytes() const noexcept {
  return static_cast<std::size_t>(block.count()) * sizeof(Complex);
}
template <class Real>
std::size_t DeviceSpace<Real>::Shape::bytes() const noexcept {
  return std::max(planes_bytes(), columns_bytes());
}

template <class Real>
DeviceSpace<Real>::DeviceSpace(mpi::CommView comm, const Grid& grid, const device::ComputeQueue& device)
    : shape_(grid, comm.size(), comm.rank()),
      compute_(*device.queue),
      spans_(*device.device, "device transposes") {
  mpi::collectively(comm, [&] { check_size(std::max(points().spectrum_count(), block().count())); });
  if (comm.size() == 1) return;
  plan_exchanges(comm);
  mpi::collectively(comm, [&] { make_staging(*device.device); });
}

template <class Real>
DeviceSpace<Real>::~DeviceSpace() {
  try {
    if (copies_) copies_->synchronize();
  } catch (...) {  // a device that failed copies nothing any more; whoever waited for it has thrown
  }
}

template <class Real>
void DeviceSpace<Real>::plan_exchanges(mpi::CommView comm) {
  using layout::Axis;
  constexpr std::int64_t group = DeviceFft<Real>::group;
  const auto& [points, block] = std::tie(shape_.points, shape_.block);
  const std::int64_t pitch = points.pitch / group, kx = block.kx / group;
  const Index3 spectrum{pitch, points.ny, block.nz};
  const auto by_planes = layout::Decomposition::slab(spectrum, Axis::z, comm.size()),
             by_columns =
                 layout::Decomposition::slab(spectrum, points.ny == 1 ? Axis::x : Axis::y, comm.size());
  const layout::LocalLayout planes_layout{pitch, pitch * points.ny}, columns_layout{kx, kx * block.y};
  const auto plan = [&](auto& transpose, const auto& from, const auto& to, const auto& from_layout,
                        const auto& to_layout) {
    transpose.emplace(comm, layout::TransposeConfig{.from = from,
                                                    .to = to,
                                                    .from_layout = from_layout,
                                                    .to_layout = to_layout,
                                                    .element_bytes = group * sizeof(Complex),
                                                    .batch_axis = Axis::z,
                                                    .batches = batches});
  };
  plan(to_columns_, by_planes, by_columns, planes_layout, columns_layout);
  plan(to_planes_, by_columns, by_planes, columns_layout, planes_layout);
}

template <class Real>
void DeviceSpace<Real>::make_staging(device::Device& device) {
  copies_ = device.make_queue();
  const std::size_t planes = padded<std::byte>(shape_.planes_bytes()),
                    columns = padded<std::byte>(shape_.columns_bytes());
  host_.resize(most * (planes + columns));
  pin_.emplace(device, std::span<std::byte>(host_));
  for (std::size_t i = 0; i < most; ++i) {
    Moving moving;
    const auto mine = std::span<std::byte>(host_).subspan(i * (planes + columns));
    moving.planes = mine.first(shape_.planes_bytes());
    moving.columns = mine.subspan(planes, shape_.columns_bytes());
    moving.computed = device.make_event();
    moving.arrived = device.make_event();
    for (int k = 0; k < batches; ++k) moving.batches.push_back(device.make_event());
    moving_.push_back(std::move(moving));
  }
}

template <class Real>
void DeviceSpace<Real>::start(bool to_columns, Complex* spectrum, StepIndex step) {
  if (!copies_) return;
  TAILRACE_CHECK(started_ < most && (started_ == 0 || towards_columns_ == to_columns),
                 "spectra on their way go the same way");
  towards_columns_ = to_columns;
  auto& moving = moving_[started_++];
  moving.spectrum = spectrum;
  moving.step = step;
  compute_.record(*moving.computed);
  copies_->wait_for(*moving.computed);
  if (to_columns)
    copy_out(*to_columns_, moving, moving.planes,
             shape_.planes_bytes() / std::max<std::size_t>(shape_.points.planes, 1));
  else
    copy_out(*to_planes_, moving, moving.columns, shape_.columns_bytes() / shape_.block.nz);
}

/// Batches are neighbouring planes in memory.
template <class Real>
void DeviceSpace<Real>::copy_out(const layout::Transpose& transpose, Moving& moving,
                                 std::span<std::byte> host, std::size_t plane_bytes) {
  spans_.begin(*copies_, trace::Kind::exchange, moving.step, static_cast<std::int64_t>(host.size()));
  const std::int64_t first = towards_columns_ ? shape_.planes.begin : 0;
  for (int k = 0; k < batches; ++k) {
    const Range planes = transpose.batch(k);
    const auto at = static_cast<std::size_t>(planes.begin - first) * plane_bytes,
               bytes = static_cast<std::size_t>(planes.size()) * plane_bytes;
    if (bytes > 0)
      copies_->copy_to_host(host.data() + at, reinterpret_cast<const std::byte*>(moving.spectrum) + at,
                            bytes);
    copies_->record(*moving.batches[static_cast<std::size_t>(k)]);
  }
  spans_.end(*copies_);
}

template <class Real>
void DeviceSpace<Real>::finish() {
  if (!copies_) return;
  auto& transpose = towards_columns_ ? *to_columns_ : *to_planes_;
  for (std::size_t i = 0; i < started_; ++i) {
    auto& moving = moving_[i];
    moving.arrived->wait();  // what came last has left the memory that messages come to now
    const auto from = towards_columns_ ? moving.planes : moving.columns,
               to = towards_columns_ ? moving.columns : moving.planes;
    moving.flight.emplace(transpose.begin(from.data(), to.data()));
    for (int k = 0; k < batches; ++k) {
      moving.batches[static_cast<std::size_t>(k)]->wait();
      moving.flight->start(k);
    }
  }
  for (std::size_t i = 0; i < started_; ++i) {
    auto& moving = moving_[i];
    moving.flight->finish();
    moving.flight.reset();
    copy_in(moving, towards_columns_ ? moving.columns : moving.planes);
    compute_.wait_for(*moving.arrived);
  }
  started_ = 0;
}

template <class Real>
void DeviceSpace<Real>::copy_in(Moving& moving, std::span<const std::byte> host) {
  spans_.begin(*copies_, trace::Kind::exchange, moving.step, static_cast<std::int64_t>(host.size()));
  if (!host.empty()) copies_->copy_to_device(moving.spectrum, host.data(), host.size());
  spans_.end(*copies_);
  copies_->record(*moving.arrived);
}

template <class Real>
std::int64_t DeviceSpace<Real>::host_bytes() const noexcept {
  return static_cast<std::int64_t>(host_.size());
}

template <class Real>
double DeviceSpace<Real>::spectrum_bytes(const Grid& grid, int ranks, int rank) {
  return static_cast<double>(Shape(grid, ranks, rank).bytes());
}

template <class Real>
double DeviceSpace<Real>::table_bytes(const Grid& grid, int ranks, int rank) {
  const auto block = Shape(grid, ranks, rank).block;
  return static_cast<double>(block.columns() * (block.nz / 2 + 1)) * sizeof(Real);
}

template <class Real>
double DeviceSpace<Real>::host_bytes(const Grid& grid, int ranks, int rank) {
  if (ranks == 1) return 0;
  const Shape shape(grid, ranks, rank);
  return static_cast<double>(most * (shape.planes_bytes() + shape.columns_bytes()));
}

template class DeviceSpace<float>;
template class DeviceSpace<double>;

}  // namespace tailrace::ultrasound
