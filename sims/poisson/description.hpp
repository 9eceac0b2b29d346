// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "block_grid.hpp"
#include "problem.hpp"
#include "tailrace/fragments/program.hpp"

/// Parts of which the fragment programs of all methods consist: loops over the blocks where they are, and
/// sums over all blocks.
namespace tailrace::poisson {

using fragments::Data;
using fragments::Int;
using fragments::Scope;

/// A block as a program knows it.
struct BlockPlace {
  Int number, rank;
  Int slot;               ///< the last index of its data fragments, by which they are on its rank
  Int readers;            ///< blocks that read its edges
  std::vector<Int> near;  ///< the slots of the blocks beyond its sides; of the block itself at a wall
};

/// Describes what is done for all blocks or ranks.
class Layout {
 public:
  /// Both outlive this.
  Layout(const Grid& grid, const BlockGrid& blocks) : grid_(grid), blocks_(blocks) {}

  using PerBlock = std::function<void(Scope&, const BlockPlace&)>;
  using PerRank = std::function<void(Scope&, const Int& rank)>;
  void each_block(Scope& scope, const PerBlock& describe) const;
  void each_rank(Scope& scope, const PerRank& describe) const;

  /// The sums over all blocks of parts[k][slot], for k = 1 to `count`, by a tree that does not depend on the
  /// ranks: sum[k][0].
  using Add = fragments::Atomic<std::tuple<int, double, double, double, double>, std::tuple<double>>;
  Data<double> sums(Scope& main, const std::string& name, const Int& count, const Data<double>& parts,
                    const Add& add) const;
  /// How many parts a sum of the tree takes.
  static constexpr int fan_in = 4;

 private:
  void blocks_of(Scope& scope, const Int& rank, const PerBlock& describe) const;
  void describe_block(Scope& scope, const Int& rank, const std::vector<Int>& at,
                      const PerBlock& describe) const;
  [[nodiscard]] Int slot_of_block(const Int& number) const;
  [[nodiscard]] Int slot_of_sum(int sums, const Int& number) const;
  [[nodiscard]] std::vector<Int> neighbours(const std::vector<Int>& at, const Int& number) const;
  [[nodiscard]] Int readers(const std::vector<Int>& at) const;
  [[nodiscard]] std::vector<int> counts() const;

  const Grid& grid_;
  const BlockGrid& blocks_;
};

}  // namespace tailrace::poisson
