// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "solver.hpp"
#include "tailrace/stream.hpp"

namespace tailrace::heat {

/// The mesh itself for outputs: a row for each element, in Morton order, with its low corner in lengths of
/// the cube, its level, and the field at its points, x fastest (docs/formats/heat.md).
class MeshRows {
 public:
  /// Quantities: with the field at all points, and at the corners only.
  static constexpr const char *all_points = "mesh", *corners = "mesh_corners";
  static constexpr std::int64_t components_before = 4;  ///< low corner and level
  static bool offers(const std::string& quantity) noexcept {
    return quantity == all_points || quantity == corners;
  }
  /// Numbers in a row of a quantity that it offers, with polynomials of an order.
  static std::int64_t components_of(const std::string& quantity, int order) noexcept;

  /// For the streams that take such quantities.
  MeshRows(const std::vector<output::Stream>& streams, int order);

  /// This rank's elements as they are now. Valid until the next call. @local
  [[nodiscard]] output::RowsView rows(const std::string& quantity, const Solver& solver);
  /// What the rows of so many elements take: those of one quantity as they are made, and a copy for each
  /// stream until it is written.
  [[nodiscard]] std::int64_t memory_bytes(std::size_t elements) const noexcept {
    return (made_bytes_ + copied_bytes_) * static_cast<std::int64_t>(elements);
  }

 private:
  template <class Real>
  output::RowsView fill(const Solver& solver, const std::vector<std::size_t>& points);

  std::map<std::string, h5::ElementType> types_;
  std::int64_t made_bytes_ = 0, copied_bytes_ = 0;  ///< for each element
  std::vector<std::byte> bytes_;
};

}  // namespace tailrace::heat
