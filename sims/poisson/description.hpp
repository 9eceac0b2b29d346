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

/// The sweeps from one look to the next; looks are counted from 1.
struct Interval {
  Int look;
  Int begin, end;      ///< sweep `begin` + 1 is the first
  Data<int> next_end;  ///< to be written where it ends: when the interval after the next one ends
  Int readers;         ///< of that
};

/// Describes what is done for all blocks or ranks.
class Layout {
 public:
  /// Both outlive this.
  Layout(const Grid& grid, const BlockGrid& blocks) : grid_(grid), blocks_(blocks) {}

  /// Gives the ends of the first two intervals.
  using Ends = fragments::Atomic<std::tuple<>, std::tuple<int, int, int>>;
  /// Gives, from the look at the end of an interval and what is there, when the interval after the next one
  /// ends; -1 if there is none.
  using Passed = fragments::Atomic<std::tuple<int, double>, std::tuple<int>>;

  using PerBlock = std::function<void(Scope&, const BlockPlace&)>;
  using PerRank = std::function<void(Scope&, const Int& rank)>;
  /// What is described for a rank is one fragment there. So it is unfolded in the order of the text.
  void each_rank(Scope& scope, const PerRank& describe) const;
  /// The blocks of a rank.
  void each_block(Scope& scope, const Int& rank, const PerBlock& describe) const;
  /// How many blocks a rank has.
  [[nodiscard]] Int blocks_on(const Int& rank) const;

  using PerInterval = std::function<void(Scope&, const Interval&)>;
  /// All sweeps at a place, from look to look. A interval is created when the one before the last has ended
  /// there: not all at once, and none waits for the next.
  static void each_interval(Scope& scope, const Int& rank, const Int& looks, const Ends& ends,
                            const PerInterval& describe);

  using Add = fragments::Atomic<std::tuple<int, double, double, double, double>, std::tuple<double>>;
  /// The bodies of sums.
  struct Adding {
    Add add;
    Ends ends;
    Passed passed;
  };
  /// What there is a sum for.
  enum class Each { sweep, look };
  /// Sums over all blocks.
  struct Sums {
    Data<double> all;  ///< all[k][0], to be read once on each rank
    PerRank describe;  ///< what a rank computes of them
  };
  /// The sums of parts[k][slot], k being a sweep or a look, by a tree that does not depend on the ranks. The
  /// parts are read once.
  Sums sums(Scope& main, const std::string& name, Each each, const Int& looks, const Data<double>& parts,
            const Adding& bodies) const;
  /// How many parts a sum of the tree takes.
  static constexpr int fan_in = 4;

 private:
  void describe_block(Scope& scope, const Int& rank, const std::vector<Int>& at,
                      const PerBlock& describe) const;
  struct Level;
  void describe_sum(Scope& scope, const Int& rank, const Int& number, const Level& level) const;
  [[nodiscard]] Int slot_of_block(const Int& number) const;
  [[nodiscard]] Int slot_of_sum(int sums, const Int& number) const;
  [[nodiscard]] std::vector<Int> neighbours(const std::vector<Int>& at, const Int& number) const;
  [[nodiscard]] Int readers(const std::vector<Int>& at) const;
  [[nodiscard]] std::vector<int> counts() const;

  const Grid& grid_;
  const BlockGrid& blocks_;
};

}  // namespace tailrace::poisson
