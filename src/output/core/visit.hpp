// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/check.hpp"
#include "output/core/plan.hpp"
#include "tailrace/stream.hpp"

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
inline constexpr std::int64_t rows_per_task = 256;

/// Calls `task(first, end)` for ranges of at most `size` that make up [begin, end), from several threads if
/// `threaded`.
template <class Task>
void for_ranges(std::int64_t begin, std::int64_t end, std::int64_t size, bool threaded, const Task& task) {
  if (!threaded) return task(begin, end);
#pragma omp parallel for schedule(static)
  for (std::int64_t first = begin; first < end; first += size) task(first, std::min(first + size, end));
}

/// Rows of a box lie far apart in memory and are too short for the processor to foresee the next one.
inline constexpr std::int64_t rows_ahead = 3;
template <class F>
void prefetch_row(const F* row, std::int64_t n) noexcept {
  constexpr std::int64_t line = 64 / sizeof(F), most = 4 * line;
  for (std::int64_t i = 0; i < std::min(n, most); i += line)
    __builtin_prefetch(row + i);  // faults on no address
}

/// Calls `row(source, position, n)` for all rows of the values [first, first + count) of a block.
template <class F, class Row>
void visit_block(const FieldView& field, const Box& block, std::int64_t first, std::int64_t count,
                 const Row& row) {
  const Index3 n = block.extents();
  const std::int64_t stride_y = field.stride_y, stride_z = field.stride_z;
  const F* const base = static_cast<const F*>(field.data) + (block.lo.x - field.box.lo.x) +
                        (block.lo.y - field.box.lo.y) * stride_y + (block.lo.z - field.box.lo.z) * stride_z;
  const std::int64_t end = first + count, end_row = (end - 1) / n.x + 1;
  for_ranges(first / n.x, end_row, rows_per_task, count >= values_worth_threads,
             [=, &row](std::int64_t from_row, std::int64_t to_row) {
               std::int64_t y = from_row % n.y, z = from_row / n.y;
               for (std::int64_t r = from_row; r < to_row; ++r) {
                 const std::int64_t row_begin = std::max(first, r * n.x),
                                    row_end = std::min(end, (r + 1) * n.x);
                 const F* const source = base + y * stride_y + z * stride_z;
                 prefetch_row(source + rows_ahead * stride_y, n.x);
                 row(source + (row_begin - r * n.x), row_begin - first, row_end - row_begin);
                 if (++y == n.y) y = 0, ++z;
               }
             });
}

/// Calls `row(source, position, 1)` for the points [first, first + count) of a list.
template <class F, class Row>
void visit_points(const FieldView& field, const Share& share, const Box& own, std::int64_t first,
                  std::int64_t count, const Row& row) {
  const std::int64_t stride_y = field.stride_y, stride_z = field.stride_z;
  const F* const base = static_cast<const F*>(field.data) + (own.lo.x - field.box.lo.x) +
                        (own.lo.y - field.box.lo.y) * stride_y + (own.lo.z - field.box.lo.z) * stride_z;
  const LocalPoint* const points = share.points.data() + first;
  for_ranges(
      0, count, rows_per_task, count >= values_worth_threads, [=, &row](std::int64_t from, std::int64_t to) {
        for (std::int64_t i = from; i < to; ++i)
          row(base + points[i].x + points[i].y * stride_y + points[i].z * stride_z, i, std::int64_t{1});
      });
}

/// Calls `row(source, position, n)` for the values [first, first + count) of a share; `source` points at `n`
/// neighbours in the field, `position` counts from `first`. Calls come from several threads.
template <class F, class Row>
void visit(const FieldView& field, const Share& share, const Box& own, std::int64_t first, std::int64_t count,
           const Row& row) {
  if (count == 0) return;
  if (share.points.empty())
    visit_block<F>(field, share.block, first, count, row);
  else
    visit_points<F>(field, share, own, first, count, row);
}

}  // namespace tailrace::output
