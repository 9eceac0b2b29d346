// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <vector>

#include "file_grid.hpp"
#include "molecule_list.hpp"
#include "region.hpp"
#include "tailrace/checkpoint.hpp"

namespace tailrace::molecules {

/// The molecules of a rank as rows of a checkpoint, in the cells of a grid over the box: any number of
/// ranks reads them back, each those of its region. Those of a cell keep their order where one rank had them
/// all.
class MoleculeRows final : public checkpoint::RowSet {
 public:
  using Add = std::function<void(const Molecule&)>;

  /// `grid` is the same on all ranks when a state is saved, and again when it is restored. `list` is what is
  /// saved; `add` takes what is restored, into an empty container. Both live as long as this.
  MoleculeRows(const FileGrid& grid, const Region& own, MoleculeList list, Add add)
      : grid_(grid), own_(own), list_(std::move(list)), add_(std::move(add)) {}

  [[nodiscard]] checkpoint::RowType type() const override;
  [[nodiscard]] std::vector<Cell> cells() const override;
  void read(std::size_t cell, std::span<std::byte> rows) const override;
  [[nodiscard]] std::vector<checkpoint::KeyRange> begin_restore() override;
  [[nodiscard]] bool owns(std::uint64_t key, std::span<const std::byte> row) const override;
  void add(std::uint64_t key, std::span<const std::byte> row) override;

 private:
  FileGrid grid_;
  Region own_;
  MoleculeList list_;
  Add add_;
  mutable CellOrder order_;  ///< made by `cells`
};

}  // namespace tailrace::molecules
