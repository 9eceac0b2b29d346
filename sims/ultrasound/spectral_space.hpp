// SPDX-License-Identifier: BSD-3-Clause
#pragma once

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
  [[nodiscard]] const ColumnTransform<Real>& column_transform() const noexcept { return column_transform_; }

  /// A field of zeros. @collective{comm}, synchronises.
  [[nodiscard]] SpectralField<Real> make_field() const;
  /// Bytes of one spectral field on this rank.
  [[nodiscard]] std::int64_t field_bytes() const noexcept;

  /// Plane z (global) of a field by planes: ny rows of `pitch`.
  [[nodiscard]] Complex* plane(SpectralField<Real>& field, std::int64_t z) const noexcept {
    return field.planes + (z - planes_.begin) * plane_stride_;
  }
  /// Copies the columns `kx` at row y, no more than a block holds, into (z, column) order, and back.
  void load(const SpectralField<Real>& field, std::int64_t y, Range kx, Complex* block) const noexcept;
  void store(const Complex* block, std::int64_t y, Range kx, SpectralField<Real>& field) const noexcept;

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
  [[nodiscard]] Exchange begin_to_columns(SpectralField<Real>& field);
  [[nodiscard]] Exchange begin_to_planes(SpectralField<Real>& field);

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
  ColumnTransform<Real> column_transform_;
  std::int64_t plane_stride_ = 0, column_stride_y_ = 0, column_stride_z_ = 0;
  int batches_ = 1;
  std::optional<layout::Transpose> to_columns_, to_planes_;
};

}  // namespace tailrace::ultrasound
