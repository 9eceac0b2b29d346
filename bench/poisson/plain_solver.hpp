// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <array>
#include <vector>

#include "problem.hpp"
#include "tailrace/comm.hpp"

namespace tailrace::bench {

/// Poisson's equation by the same methods as the simulation, as an MPI code without fragments does it: a
/// brick of points per rank, halos by messages, sums by MPI_Allreduce. Dirichlet sides on which u is 0, or
/// periodic ones.
class PlainSolver {
 public:
  /// @collective{comm}
  PlainSolver(mpi::CommView comm, const poisson::Problem& problem);
  PlainSolver(const PlainSolver&) = delete;
  PlainSolver& operator=(const PlainSolver&) = delete;
  ~PlainSolver();

  /// @collective{comm}
  void sweep(int count);
  /// The points of this rank.
  [[nodiscard]] const Box& own() const noexcept { return own_; }
  /// u at one of them, in global indices.
  [[nodiscard]] double at(Index3 point) const noexcept {
    return u_[index(point.x - own_.lo.x, point.y - own_.lo.y, point.z - own_.lo.z)];
  }

 private:
  void reset();
  using Field = std::vector<double>;

  [[nodiscard]] std::size_t index(std::int64_t x, std::int64_t y, std::int64_t z) const noexcept {
    return static_cast<std::size_t>(((z + 1) * (n_.y + 2) + y + 1) * (n_.x + 2) + x + 1);
  }
  void make_faces();
  void exchange(Field& field);
  void jacobi();
  void relax(int colour);
  void conjugate_gradients();
  template <class Each>
  void each_point(const Each& each) const;
  [[nodiscard]] double around(const Field& field, std::size_t i) const noexcept;
  [[nodiscard]] double dot(const Field& a, const Field& b) const;

  poisson::Problem problem_;
  MPI_Comm grid_ = MPI_COMM_NULL;
  Box own_;
  Index3 n_;
  std::array<int, 6> neighbours_{};
  std::array<MPI_Datatype, 6> inner_{}, halo_{};
  std::array<double, 3> factor_{};
  double diagonal_ = 0, rho_ = 0;
  Field u_, next_, rhs_, r_, p_, q_;
};

}  // namespace tailrace::bench
