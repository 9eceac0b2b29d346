// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "base/aligned.hpp"
#include "tailrace/box.hpp"

namespace tailrace::ultrasound {

/// Rows that are worked on together: those of the plane z, or, if `flat`, where a plane is one row, the
/// planes from z on.
struct Slab {
  std::int64_t z = 0, rows = 0;
  bool flat = false;

  /// Where row r is.
  [[nodiscard]] std::int64_t y_of(std::int64_t r) const noexcept { return flat ? 0 : r; }
  [[nodiscard]] std::int64_t z_of(std::int64_t r) const noexcept { return flat ? z + r : z; }
  [[nodiscard]] Range planes() const noexcept { return {z, flat ? z + rows : z + 1}; }
};

/// Rows of an array at equal distances.
template <class Value>
struct RowView {
  Value* first;
  std::int64_t stride;
  [[nodiscard]] Value* row(std::int64_t r) const noexcept { return first + r * stride; }
};

/// A real quantity on the planes that this rank owns, (z, y, x) with x fastest, in the folded frame
/// (`Grid::folded`). Rows are dense within a plane; planes are padded to whole cache lines, so that every
/// plane starts aligned. `Real` is float or double.
template <class Real>
class Field {
 public:
  Field() = default;
  Field(Index3 grid, Range planes)
      : nx_(grid.x),
        ny_(grid.y),
        planes_(planes),
        stride_z_(static_cast<std::int64_t>(padded<Real>(static_cast<std::size_t>(grid.x * grid.y)))),
        values_(static_cast<std::size_t>(stride_z_ * planes.size())) {}

  /// One plane by its global index; nx * ny values.
  [[nodiscard]] Real* plane(std::int64_t z) noexcept {
    return values_.data() + (z - planes_.begin) * stride_z_;
  }
  [[nodiscard]] const Real* plane(std::int64_t z) const noexcept {
    return values_.data() + (z - planes_.begin) * stride_z_;
  }
  [[nodiscard]] RowView<Real> rows(const Slab& slab) noexcept {
    return {plane(slab.z), slab.flat ? stride_z_ : nx_};
  }
  [[nodiscard]] RowView<const Real> rows(const Slab& slab) const noexcept {
    return {plane(slab.z), slab.flat ? stride_z_ : nx_};
  }
  [[nodiscard]] Real& at(Index3 i) noexcept { return plane(i.z)[i.y * nx_ + i.x]; }
  /// The first value of the first plane; of an empty field nothing.
  [[nodiscard]] Real* data() noexcept { return values_.empty() ? nullptr : values_.data(); }
  [[nodiscard]] const Real* data() const noexcept { return values_.empty() ? nullptr : values_.data(); }
  [[nodiscard]] bool empty() const noexcept { return values_.empty(); }
  [[nodiscard]] Range planes() const noexcept { return planes_; }
  [[nodiscard]] std::int64_t stride_y() const noexcept { return nx_; }
  [[nodiscard]] std::int64_t stride_z() const noexcept { return stride_z_; }
  [[nodiscard]] Box box() const noexcept { return {{0, 0, planes_.begin}, {nx_, ny_, planes_.end}}; }
  [[nodiscard]] std::int64_t bytes() const noexcept {
    return static_cast<std::int64_t>(values_.size() * sizeof(Real));
  }
  /// Gives the memory back.
  void release() noexcept { AlignedVector<Real>().swap(values_); }

 private:
  std::int64_t nx_ = 0, ny_ = 0;
  Range planes_;
  std::int64_t stride_z_ = 0;
  AlignedVector<Real> values_;
};

/// A material parameter: a field, or one number for the whole domain. Kernels ask for a row and need not know
/// which: the number is kept as one constant row, which stays in the innermost cache and costs no memory
/// traffic.
template <class Real>
class Coefficient {
 public:
  Coefficient() = default;
  /// The same value everywhere.
  Coefficient(Real value, Index3 grid) : constant_(static_cast<std::size_t>(grid.x), value) {}
  /// A value per point.
  explicit Coefficient(Field<Real> field) : field_(std::move(field)) {}

  [[nodiscard]] bool is_constant() const noexcept { return field_.empty() && !constant_.empty(); }
  /// nx values of the row (y, z), global indices.
  [[nodiscard]] const Real* row(std::int64_t y, std::int64_t z) const noexcept {
    return is_constant() ? constant_.data() : field_.plane(z) + y * field_.stride_y();
  }
  [[nodiscard]] std::int64_t bytes() const noexcept { return field_.bytes(); }

  /// Replaces every value by `function(value)`, on this coefficient's own points.
  template <class Function>
  void transform(Function function) {
    for (auto& value : constant_) value = function(value);
    const Range planes = field_.planes();
#pragma omp parallel for schedule(static)
    for (std::int64_t z = planes.begin; z < planes.end; ++z) {
      Real* values = field_.plane(z);
      for (std::int64_t i = 0; i < field_.box().extents().x * field_.box().extents().y; ++i)
        values[i] = function(values[i]);
    }
  }

 private:
  AlignedVector<Real> constant_;
  Field<Real> field_;
};

}  // namespace tailrace::ultrasound
