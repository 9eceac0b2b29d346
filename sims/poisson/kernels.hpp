// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <span>

#include "block_grid.hpp"
#include "problem.hpp"
#include "tailrace/fragments/value.hpp"

/// What is computed on one block. A block is an array with x fastest; its edges are the values of its faces,
/// for its neighbours: those at the low and the high end of x, then of y, then of z in 3D.
namespace tailrace::poisson {

using Values = fragments::Block<double>;
/// The edges of the neighbours of a block: at the low and the high end of x, of y, and of z in 3D. Beyond
/// a Dirichlet side it is any block, which is not looked at.
using Neighbours = std::span<const Values* const>;

class Kernels {
 public:
  /// `problem` and `blocks` outlive the kernels.
  Kernels(const Problem& problem, const BlockGrid& blocks);

  /// The edges of a block.
  [[nodiscard]] Values edges(int number, const Values& values) const;
  /// A sweep of Jacobi over the block.
  [[nodiscard]] Values jacobi(int number, const Values& u, const Values& rhs, const Neighbours& around) const;
  /// Half a sweep of Gauss and Seidel: over the points whose indices have an even sum (`colour` 0), or an odd
  /// one (1).
  [[nodiscard]] Values relax(int number, int colour, const Values& u, const Values& rhs,
                             const Neighbours& around) const;
  /// rhs - A u
  [[nodiscard]] Values residual(int number, const Values& u, const Values& rhs,
                                const Neighbours& around) const;
  /// A p, for p that is 0 on Dirichlet sides.
  [[nodiscard]] Values apply(int number, const Values& p, const Neighbours& around) const;

 private:
  struct Row;
  template <class Each>
  void each_row(int number, const Values& values, const Neighbours& around, double wall,
                const Each& each) const;
  template <int dimensions>
  [[nodiscard]] double around_of(const Row& row, std::int64_t x) const noexcept;
  template <class Value>
  Values map(int number, const Values& values, const Neighbours& around, double wall,
             const Value& value) const;
  [[nodiscard]] bool at_wall(int number, int side) const noexcept;
  [[nodiscard]] const double* face(int number, int side, const Neighbours& around) const noexcept;

  const Problem& problem_;
  const BlockGrid& blocks_;
  std::array<double, 3> factor_{};  ///< 1 / h^2 along x, y, z; 0 along z in 2D
  double diagonal_ = 0;
};

/// What conjugate gradients have after a step of length alpha along p, where q is the operator's p.
struct Updated {
  Values u, r;
  double square = 0;  ///< the sum of the squares of r
};
/// u + alpha p, and r - alpha q.
Updated update(double alpha, const Values& u, const Values& r, const Values& p, const Values& q);
/// The sum of a[i] b[i], in an order that depends on their number only.
double dot(const Values& a, const Values& b) noexcept;
/// a + factor b
Values sum(const Values& a, double factor, const Values& b);

}  // namespace tailrace::poisson
