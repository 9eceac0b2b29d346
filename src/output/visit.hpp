#pragma once

#include <algorithm>
#include <cstdint>

#include "tailrace/base/check.hpp"
#include "tailrace/output/plan.hpp"
#include "tailrace/output/stream.hpp"

namespace tailrace::output {

/// Calls `action` with a null pointer of the C++ type behind a floating element type.
template <class Action>
void with_float_type(h5::ElementType type, const Action& action) {
  if (type == h5::ElementType::float32) return action(static_cast<float*>(nullptr));
  TAILRACE_CHECK(type == h5::ElementType::float64, "samples are 32-bit or 64-bit floats");
  action(static_cast<double*>(nullptr));
}

/// From this many values on, a second thread earns more than its start costs (a few microseconds against 64
/// KiB).
inline constexpr std::int64_t values_worth_threads = 16 * 1024;

/// Rows that one thread takes at a time: enough to hide the two divisions that find the first one.
inline constexpr std::int64_t rows_per_task = 64;

/// Calls `row(source, position, n)` for all rows of the values [first, first + count) of a block.
template <class F, class Row>
void visit_block(const FieldView& field, const Box& block, std::int64_t first, std::int64_t count,
                 const Row& row) {
  const Index3 n = block.extents();
  const Index3 shift{block.lo.x - field.box.lo.x, block.lo.y - field.box.lo.y, block.lo.z - field.box.lo.z};
  const F* const base =
      static_cast<const F*>(field.data) + shift.x + shift.y * field.stride_y + shift.z * field.stride_z;
  const std::int64_t first_row = first / n.x, end_row = (first + count - 1) / n.x + 1;
#pragma omp parallel for schedule(static) if (count >= values_worth_threads)
  for (std::int64_t task = first_row; task < end_row; task += rows_per_task) {
    std::int64_t y = task % n.y, z = task / n.y;
    for (std::int64_t r = task; r < std::min(task + rows_per_task, end_row); ++r) {
      const std::int64_t begin = std::max(first, r * n.x), end = std::min(first + count, (r + 1) * n.x);
      row(base + y * field.stride_y + z * field.stride_z + (begin - r * n.x), begin - first, end - begin);
      if (++y == n.y) y = 0, ++z;
    }
  }
}

/// Calls `row(source, position, 1)` for the points [first, first + count) of a list.
template <class F, class Row>
void visit_points(const FieldView& field, const Piece& piece, const Box& own, std::int64_t first,
                  std::int64_t count, const Row& row) {
  const F* const base = static_cast<const F*>(field.data) + (own.lo.x - field.box.lo.x) +
                        (own.lo.y - field.box.lo.y) * field.stride_y +
                        (own.lo.z - field.box.lo.z) * field.stride_z;
  const LocalPoint* const points = piece.points.data() + first;
#pragma omp parallel for schedule(static) if (count >= values_worth_threads)
  for (std::int64_t i = 0; i < count; ++i)
    row(base + points[i].x + points[i].y * field.stride_y + points[i].z * field.stride_z, i, std::int64_t{1});
}

/// Calls `row(source, position, n)` for the values [first, first + count) of a piece; `source` points at `n`
/// neighbours in the field, `position` counts from `first`. Calls come from several threads.
template <class F, class Row>
void visit(const FieldView& field, const Piece& piece, const Box& own, std::int64_t first, std::int64_t count,
           const Row& row) {
  if (count == 0) return;
  if (piece.points.empty())
    visit_block<F>(field, piece.block, first, count, row);
  else
    visit_points<F>(field, piece, own, first, count, row);
}

}  // namespace tailrace::output
