#pragma once

#include <complex>
#include <optional>
#include <vector>

#include "grid.hpp"
#include "spectral.hpp"
#include "tailrace/layout/transpose.hpp"
#include "tailrace/mpi/comm.hpp"

namespace tailrace::ultrasound {

/// A half spectrum on its way between two layouts: by planes (z split over ranks, what plane transforms need)
/// and by columns (what transforms along z need). A rank's own planes stay where they are; `columns` takes
/// what others send.
template <class Real>
struct SpectralField {
  AlignedVector<std::complex<Real>> planes, columns;
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

  [[nodiscard]] SpectralField<Real> make_field() const;
  /// Bytes of one spectral field on this rank.
  [[nodiscard]] std::int64_t field_bytes() const noexcept;

  /// Plane z (global) of a field by planes: ny rows of `pitch`.
  [[nodiscard]] Complex* plane(SpectralField<Real>& field, std::int64_t z) const noexcept {
    return field.planes.data() + (z - planes_.begin) * plane_stride_;
  }
  /// Copies the columns `kx` at row y, no more than a block holds, into (z, column) order, and back.
  void load(const SpectralField<Real>& field, std::int64_t y, Range kx, Complex* block) const noexcept;
  void store(const Complex* block, std::int64_t y, Range kx, SpectralField<Real>& field) const noexcept;

  /// An exchange in flight; does nothing on one rank.
  class Exchange {
   public:
    void start(int piece) {
      if (flight_) flight_->start(piece);
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

  /// Pieces in which exchanges overlap with computation, and the planes or columns of each on this rank.
  [[nodiscard]] int pieces() const noexcept { return pieces_; }
  [[nodiscard]] Range plane_piece(int k) const { return to_columns_ ? to_columns_->piece(k) : planes_; }
  [[nodiscard]] ColumnRange column_piece(int k) const;

 private:
  [[nodiscard]] bool alone() const noexcept { return !to_columns_; }
  [[nodiscard]] bool split_along_kx() const noexcept { return ny_ == 1; }
  /// Where the values from kx on of row (y, z) lie.
  template <class FieldType>
  [[nodiscard]] auto row(FieldType& field, std::int64_t y, std::int64_t z, std::int64_t kx) const noexcept;

  static constexpr int overlap_pieces =
      4;  // all but the last quarter of an exchange can hide behind computation
  static constexpr std::int64_t group = 4;  // neighbouring kx that stay together: one full vector

  PlaneTransform<Real> plane_transform_;
  std::int64_t ny_, nz_;
  Range planes_;
  ColumnRange columns_;
  ColumnTransform<Real> column_transform_;
  std::int64_t plane_stride_ = 0, column_stride_y_ = 0, column_stride_z_ = 0;
  int pieces_ = 1;
  std::optional<layout::Transpose> to_columns_, to_planes_;
};

}  // namespace tailrace::ultrasound
