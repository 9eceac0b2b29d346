// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/aligned.hpp"
#include "device/device.hpp"
#include "device/span_log.hpp"
#include "device_kernels.hpp"
#include "grid.hpp"
#include "layout/transpose.hpp"
#include "spectral_space.hpp"
#include "tailrace/comm.hpp"

namespace tailrace::ultrasound {

/// The geometry of spectra in the memory of devices, in the folded frame: by planes, or, in the same memory,
/// by columns along z, which are split over the ranks along y, or, in two dimensions, along kx. On one rank
/// both are the same. Between ranks they go through pinned memory of the host.
template <class Real>
class DeviceSpace {
 public:
  using Complex = on_device::Complex<Real>;

  /// @collective{comm}, synchronises. Errors (resource), on all ranks: memory of the host is short.
  DeviceSpace(mpi::CommView comm, const Grid& grid, const device::ComputeQueue& device);
  /// Waits for the copies.
  ~DeviceSpace();
  DeviceSpace(const DeviceSpace&) = delete;
  DeviceSpace& operator=(const DeviceSpace&) = delete;

  [[nodiscard]] const on_device::Points& points() const noexcept { return shape_.points; }
  [[nodiscard]] const on_device::ColumnBlock& block() const noexcept { return shape_.block; }
  [[nodiscard]] const Range& planes() const noexcept { return shape_.planes; }
  /// The columns of this rank, for `RadialTable` and for factors along an axis.
  [[nodiscard]] const ColumnRange& columns() const noexcept { return shape_.columns; }
  /// Bytes of a spectrum on this rank.
  [[nodiscard]] std::size_t spectrum_bytes() const noexcept { return shape_.bytes(); }

  /// Begins to move a spectrum, behind what the queue has, which may compute others meanwhile: at most `most`
  /// at once. @collective{comm}, does not wait for the queue.
  void start_to_columns(Complex* spectrum, StepIndex step) { start(true, spectrum, step); }
  void start_to_planes(Complex* spectrum, StepIndex step) { start(false, spectrum, step); }
  /// Waits for messages. What was started has arrived for what comes behind in the queue. @collective{comm}
  void finish();
  static constexpr std::size_t most = 3;

  /// Adds to the trace which copies have come to their end. @local
  void collect_spans() { spans_.collect(); }
  /// Bytes of the host.
  [[nodiscard]] std::int64_t host_bytes() const noexcept;
  /// These, and those of a `RadialTable`, of a rank before anything is made. @local
  static double table_bytes(const Grid& grid, int ranks, int rank);
  static double spectrum_bytes(const Grid& grid, int ranks, int rank);
  static double host_bytes(const Grid& grid, int ranks, int rank);

 private:
  struct Shape {
    Shape(const Grid& grid, int ranks, int rank);
    Range planes;
    ColumnRange columns;
    on_device::Points points;
    on_device::ColumnBlock block;

    [[nodiscard]] std::size_t bytes() const noexcept;
    [[nodiscard]] std::size_t planes_bytes() const noexcept;
    [[nodiscard]] std::size_t columns_bytes() const noexcept;
  };
  /// One spectrum on its way.
  struct Moving {
    std::span<std::byte> planes, columns;  ///< of the host
    std::unique_ptr<device::Event> computed, arrived;
    std::vector<std::unique_ptr<device::Event>> batches;
    Complex* spectrum = nullptr;
    StepIndex step = 0;
    std::optional<layout::Transpose::Flight> flight = {};
  };
  void plan_exchanges(mpi::CommView comm);
  void make_staging(device::Device& device);
  void start(bool to_columns, Complex* spectrum, StepIndex step);
  void copy_out(const layout::Transpose& transpose, Moving& moving, std::span<std::byte> host,
                std::size_t plane_bytes);
  void copy_in(Moving& moving, std::span<const std::byte> host);

  Shape shape_;
  device::Queue& compute_;
  std::unique_ptr<device::Queue> copies_;
  device::SpanLog spans_;
  std::optional<layout::Transpose> to_columns_, to_planes_;
  AlignedVector<std::byte> host_;
  std::optional<device::Pin> pin_;
  std::vector<Moving> moving_;
  std::size_t started_ = 0;
  bool towards_columns_ = false;
};

}  // namespace tailrace::ultrasound
