// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "basis.hpp"
#include "forest.hpp"
#include "tailrace/checkpoint.hpp"

namespace tailrace::heat {

/// Elements as rows of a checkpoint: a cell per element, by its key on Morton's curve.
class ElementRows final : public checkpoint::RowSet {
 public:
  using Get = std::function<std::vector<double>(std::size_t element)>;
  using Put = std::function<void(const Leaf& leaf, std::span<const double> values)>;
  /// The forest outlives the rows; `get` gives what is saved of its elements, with polynomials of this
  /// order, `put` takes what is restored.
  ElementRows(const Forest& forest, int rank, int order, Get get, Put put)
      : forest_(forest),
        rank_(static_cast<std::size_t>(rank)),
        points_(element_points_of(order)),
        get_(std::move(get)),
        put_(std::move(put)) {}

  [[nodiscard]] checkpoint::RowType type() const override;
  [[nodiscard]] std::vector<Cell> cells() const override;
  void read(std::size_t cell, std::span<std::byte> rows) const override;
  [[nodiscard]] std::vector<checkpoint::KeyRange> begin_restore() override;
  [[nodiscard]] bool owns(std::uint64_t key, std::span<const std::byte> row) const override;
  void add(std::uint64_t key, std::span<const std::byte> row) override;

 private:
  const Forest& forest_;
  std::size_t rank_, points_;
  Get get_;
  Put put_;
};

}  // namespace tailrace::heat
