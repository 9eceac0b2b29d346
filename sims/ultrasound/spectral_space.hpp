#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "field.hpp"
#include "spectral.hpp"
#include "tailrace/layout/transpose.hpp"
#include "tailrace/mpi/comm.hpp"

namespace tailrace::ultrasound {

/// A half spectrum on its way between two layouts: by planes (z split over ranks, what plane transforms need)
/// and by rows (y split, what transforms along z need). A rank's own planes stay where they are; `rows` takes
/// what others send.
struct SpectralField {
  AlignedVector<Complex> planes, rows;
};

/// The geometry that all spectral fields of a run share, and the exchanges between their two layouts.
class SpectralSpace {
 public:
  /// @collective{comm}
  SpectralSpace(mpi::CommView comm, Index3 grid);

  [[nodiscard]] Range planes() const noexcept { return planes_; }
  [[nodiscard]] Range rows() const noexcept { return rows_; }
  [[nodiscard]] std::int64_t half_nx() const noexcept { return plane_transform_.half_nx(); }
  [[nodiscard]] std::int64_t pitch() const noexcept { return plane_transform_.pitch(); }
  [[nodiscard]] std::int64_t ny() const noexcept { return ny_; }
  [[nodiscard]] std::int64_t nz() const noexcept { return nz_; }
  [[nodiscard]] const PlaneTransform& plane_transform() const noexcept { return plane_transform_; }
  [[nodiscard]] const ColumnTransform& column_transform() const noexcept { return column_transform_; }

  [[nodiscard]] SpectralField make_field() const;
  /// Bytes of one spectral field on this rank.
  [[nodiscard]] std::int64_t field_bytes() const noexcept;

  /// Plane z (global) of a field by planes: ny rows of `pitch`.
  [[nodiscard]] Complex* plane(SpectralField& field, std::int64_t z) const noexcept {
    return field.planes.data() + (z - planes_.begin) * plane_stride_;
  }
  /// Copies `block` columns from kx on at row y into (z, column) order, and back.
  void load(const SpectralField& field, std::int64_t y, std::int64_t kx, Complex* block) const noexcept;
  void store(const Complex* block, std::int64_t y, std::int64_t kx, SpectralField& field) const noexcept;

  /// An exchange in flight; does nothing on one rank.
  class Exchange {
   public:
    void start(int piece) {
      if (flight_) flight_->start(piece);
    }
    void progress() {
      if (flight_) flight_->progress();
    }
    void finish() {
      if (flight_) flight_->finish();
    }

   private:
    friend class SpectralSpace;
    std::optional<layout::Transpose::Flight> flight_;
  };
  /// Begins to move a field from planes to rows, or back. @collective{comm}
  [[nodiscard]] Exchange begin_to_rows(SpectralField& field);
  [[nodiscard]] Exchange begin_to_planes(SpectralField& field);

  /// Pieces in which exchanges overlap with computation, and the planes or rows of each on this rank.
  [[nodiscard]] int pieces() const noexcept { return pieces_; }
  [[nodiscard]] Range plane_piece(int k) const { return to_rows_ ? to_rows_->piece(k) : planes_; }
  [[nodiscard]] Range row_piece(int k) const { return to_planes_ ? to_planes_->piece(k) : rows_; }

 private:
  [[nodiscard]] bool alone() const noexcept { return !to_rows_; }
  /// Where half_nx values of row (y, z) lie.
  template <class FieldType>
  [[nodiscard]] auto row(FieldType& field, std::int64_t y, std::int64_t z) const noexcept;

  static constexpr int overlap_pieces =
      4;  // all but the last quarter of an exchange can hide behind computation

  PlaneTransform plane_transform_;
  ColumnTransform column_transform_;
  std::int64_t ny_, nz_;
  Range planes_, rows_;
  std::int64_t plane_stride_ = 0, row_stride_z_ = 0;
  int pieces_ = 1;
  std::optional<layout::Transpose> to_rows_, to_planes_;
};

}  // namespace tailrace::ultrasound
