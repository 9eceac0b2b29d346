// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <complex>
#include <optional>
#include <span>
#include <vector>

#include "grid.hpp"
#include "layout/transpose.hpp"
#include "mpi/node.hpp"
#include "spectral.hpp"
#include "tailrace/comm.hpp"

namespace tailrace::ultrasound {

/// A half spectrum between two uses: by planes (z split over ranks, what plane transforms need) and by
/// columns (what transforms along z need). Each rank keeps its planes. Ranks of one node work on each other's
/// planes where they are; the columns of other nodes' planes are exchanged.
template <class Real>
struct SpectralField {
  using Complex = std::complex<Real>;

  Complex* planes = nullptr;       ///< this rank's
  std::vector<Complex*> plane_at;  ///< per z: element (y, kx) of this rank's columns is at [y * pitch + kx]
  std::optional<mpi::SharedMemory> shared;  ///< holds the planes where ranks share memory
  AlignedVector<Complex> own;               ///< holds them elsewhere
  AlignedVector<Complex> columns;           ///< refers to this rank, from the planes of other nodes

  [[nodiscard]] bool empty() const noexcept { return plane_at.empty(); }
};

/// Columns along z: those at (y, kx) for all y and kx in the ranges.
struct ColumnRange {
  Range y, kx;
};

/// The geometry that all spectral fields of a run share, in the folded frame, and the exchanges between their
/// two layouts. Columns are split over the ranks along y, or, in two dimensions, along kx.
template <class Real>
class SpectralSpace {
 public:
  using Complex = std::complex<Real>;

  /// @collective{comm}
  SpectralSpace(mpi::CommView comm, const Grid& grid);

  [[nodiscard]] Range planes() const noexcept { return planes_; }
  [[nodiscard]] const ColumnRange& columns() const noexcept { return columns_; }
  [[nodiscard]] std::int64_t half_nx() const noexcept { return plane_transform_.half_nx(); }
  [[nodiscard]] std::int64_t pitch() const noexcept { return plane_transform_.pitch(); }
  [[nodiscard]] std::int64_t ny() const noexcept { return ny_; }
  [[nodiscard]] std::int64_t nz() const noexcept { return nz_; }
  [[nodiscard]] const PlaneTransform<Real>& plane_transform() const noexcept { return plane_transform_; }
  /// The transform along z.
  [[nodiscard]] const fft::Fourier<Real>& fourier_z() const noexcept { return fourier_z_; }
  /// Neighbouring columns that are worked on together, a multiple of a register's.
  [[nodiscard]] std::int64_t columns_at_once() const noexcept { return columns_at_once_; }
  /// Planes that are worked on together: where a plane is one row, as many as fill a register.
  [[nodiscard]] std::int64_t planes_at_once() const noexcept { return split_along_kx() ? group_ : 1; }
  /// The slab of at most `planes_at_once` planes that begins at z.
  [[nodiscard]] Slab slab(std::int64_t z, std::int64_t end) const noexcept {
    return split_along_kx() ? Slab{z, std::min(planes_at_once(), end - z), true} : Slab{z, ny_, false};
  }

  /// A field of zeros. @collective{comm}, synchronises.
  [[nodiscard]] SpectralField<Real> make_field() const;
  /// Bytes of one spectral field on this rank.
  [[nodiscard]] std::int64_t field_bytes() const noexcept;

  /// The rows of a slab of a field by planes; each has `pitch` values.
  [[nodiscard]] RowView<Complex> rows(SpectralField<Real>& field, const Slab& slab) const noexcept {
    return {field.planes + (slab.z - planes_.begin) * plane_stride_, slab.flat ? plane_stride_ : pitch()};
  }

  /// Waits for the ranks of the node, and makes visible to all of them what they wrote into `fields`. Between
  /// a use by planes and one by columns, and back, whichever fields were used. @collective{comm}
  void synchronise(std::span<SpectralField<Real>* const> fields) const;

  /// An exchange in flight between nodes; does nothing on one node.
  class Exchange {
   public:
    void start(int batch) {
      if (flight_) flight_->start(batch);
    }
    void finish() {
      if (flight_) flight_->finish();
    }

   private:
    friend class SpectralSpace;
    std::optional<layout::Transpose::Flight> flight_;
  };
  /// Begins to move a field from planes to columns, or back. @collective{comm}
  void begin_to_columns(SpectralField<Real>& field, Exchange& exchange);
  void begin_to_planes(SpectralField<Real>& field, Exchange& exchange);

  /// Batches in which exchanges overlap with computation, and the planes or columns of each on this rank.
  [[nodiscard]] int batches() const noexcept { return batches_; }
  [[nodiscard]] Range plane_batch(int k) const { return to_columns_ ? to_columns_->batch(k) : planes_; }
  [[nodiscard]] ColumnRange column_batch(int k) const;

 private:
  void plan_exchanges(mpi::CommView comm);
  void point_to_planes(SpectralField<Real>& field) const;
  [[nodiscard]] bool split_along_kx() const noexcept { return ny_ == 1; }
  static constexpr int overlap_batches =
      4;  // all but the last quarter of an exchange can hide behind computation

  mpi::Node node_;
  int ranks_;
  std::int64_t group_;  // neighbouring kx that stay together
  PlaneTransform<Real> plane_transform_;
  std::int64_t ny_, nz_;
  Range planes_;
  ColumnRange columns_;
  std::int64_t columns_at_once_;
  fft::Fourier<Real> fourier_z_;
  std::int64_t plane_stride_ = 0, column_stride_y_ = 0, column_stride_z_ = 0;
  int batches_ = 1;
  std::optional<layout::Transpose> to_columns_, to_planes_;
};

}  // namespace tailrace::ultrasound
