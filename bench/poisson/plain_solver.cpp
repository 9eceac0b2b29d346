// SPDX-License-Identifier: BSD-3-Clause
#include "plain_solver.hpp"

#include <algorithm>

#include "tailrace/decomposition.hpp"

namespace tailrace::bench {

using poisson::Method;

PlainSolver::PlainSolver(mpi::CommView comm, const poisson::Problem& problem) : problem_(problem) {
  const auto& grid = problem.grid;
  const auto bricks = layout::min_cut_bricks(grid.cells, comm.size());
  const std::array<int, 3> dims{bricks.z, bricks.y, bricks.x};
  std::array<int, 3> round{};
  for (std::size_t axis = 0; axis < 3; ++axis) round[2 - axis] = grid.periodic[axis] ? 1 : 0;
  MPI_Cart_create(comm.get(), 3, dims.data(), round.data(), 0, &grid_);
  own_ = layout::Decomposition::bricks(grid.cells, bricks).box(comm.rank());
  n_ = own_.extents();
  for (int axis = 0; axis < 3; ++axis) {
    const auto i = static_cast<std::size_t>(axis);
    MPI_Cart_shift(grid_, 2 - axis, 1, &neighbours_[2 * i], &neighbours_[2 * i + 1]);
    if (axis < grid.dimensions) factor_[i] = 1 / (grid.spacing_m[i] * grid.spacing_m[i]);
    diagonal_ += 2 * factor_[i];
  }
  make_faces();
  reset();
}

PlainSolver::~PlainSolver() {
  for (auto* const types : {&inner_, &halo_})
    for (auto& type : *types) MPI_Type_free(&type);
  MPI_Comm_free(&grid_);
}

/// The points at the sides that neighbours get, and those beyond that come from them.
void PlainSolver::make_faces() {
  const std::array<int, 3> all{static_cast<int>(n_.z) + 2, static_cast<int>(n_.y) + 2,
                               static_cast<int>(n_.x) + 2};
  for (std::size_t side = 0; side < 6; ++side) {
    const std::size_t axis = 2 - side / 2;
    std::array<int, 3> size{all[0] - 2, all[1] - 2, all[2] - 2}, first{1, 1, 1};
    const int last = size[axis];
    size[axis] = 1;
    const auto make = [&](int at, MPI_Datatype& type) {
      first[axis] = at;
      MPI_Type_create_subarray(3, all.data(), size.data(), first.data(), MPI_ORDER_C, MPI_DOUBLE, &type);
      MPI_Type_commit(&type);
    };
    make(side % 2 == 0 ? 1 : last, inner_[side]);
    make(side % 2 == 0 ? 0 : last + 1, halo_[side]);
  }
}

void PlainSolver::reset() {
  const auto count = static_cast<std::size_t>((n_.x + 2) * (n_.y + 2) * (n_.z + 2));
  for (auto* const field : {&u_, &next_, &rhs_, &r_, &p_, &q_}) field->assign(count, 0);
  std::vector<double> values(static_cast<std::size_t>(own_.volume()));
  problem_.rhs(own_, values);
  auto value = values.begin();
  each_point([&](std::size_t i, std::int64_t /*parity*/) { rhs_[i] = *value++; });
  r_ = p_ = rhs_;  // the residual of u = 0
  rho_ = dot(r_, r_);
}

void PlainSolver::exchange(Field& field) {
  std::array<MPI_Request, 12> requests{};
  int count = 0;
  for (std::size_t side = 0; side < 2 * static_cast<std::size_t>(problem_.grid.dimensions); ++side) {
    const int opposite = static_cast<int>(side ^ 1U);
    MPI_Irecv(field.data(), 1, halo_[side], neighbours_[side], opposite, grid_,
              &requests[static_cast<std::size_t>(count++)]);
    MPI_Isend(field.data(), 1, inner_[side], neighbours_[side], static_cast<int>(side), grid_,
              &requests[static_cast<std::size_t>(count++)]);
  }
  MPI_Waitall(count, requests.data(), MPI_STATUSES_IGNORE);
}

template <class Each>
void PlainSolver::each_point(const Each& each) const {
  for (std::int64_t z = 0; z < n_.z; ++z)
    for (std::int64_t y = 0; y < n_.y; ++y) {
      const std::int64_t parity = own_.lo.x + own_.lo.y + y + own_.lo.z + z;
      const std::size_t first = index(0, y, z);
      for (std::int64_t x = 0; x < n_.x; ++x) each(first + static_cast<std::size_t>(x), parity + x);
    }
}

double PlainSolver::around(const Field& field, std::size_t i) const noexcept {
  const auto row = static_cast<std::size_t>(n_.x) + 2, plane = row * (static_cast<std::size_t>(n_.y) + 2);
  const double* const at = field.data() + i;
  const double sum = factor_[0] * (*(at - 1) + *(at + 1)) + factor_[1] * (*(at - row) + *(at + row));
  if (problem_.grid.dimensions == 2) return sum;
  return sum + factor_[2] * (*(at - plane) + *(at + plane));
}

double PlainSolver::dot(const Field& a, const Field& b) const {
  double sum = 0;
  each_point([&](std::size_t i, std::int64_t /*parity*/) { sum += a[i] * b[i]; });
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, grid_);
  return sum;
}

void PlainSolver::sweep(int count) {
  for (int k = 0; k < count; ++k) {
    if (problem_.method == Method::jacobi) {
      jacobi();
    } else if (problem_.method == Method::gauss_seidel) {
      relax(0);
      relax(1);
    } else {
      conjugate_gradients();
    }
  }
}

void PlainSolver::jacobi() {
  const double scale = 1 / diagonal_;
  exchange(u_);
  each_point([&](std::size_t i, std::int64_t /*parity*/) { next_[i] = (rhs_[i] + around(u_, i)) * scale; });
  std::swap(u_, next_);
}

void PlainSolver::relax(int colour) {
  const double scale = 1 / diagonal_;
  exchange(u_);
  each_point([&](std::size_t i, std::int64_t parity) {
    if (parity % 2 == colour) u_[i] = (rhs_[i] + around(u_, i)) * scale;
  });
}

void PlainSolver::conjugate_gradients() {
  exchange(p_);
  each_point([&](std::size_t i, std::int64_t /*parity*/) { q_[i] = diagonal_ * p_[i] - around(p_, i); });
  const double pq = dot(p_, q_), alpha = pq != 0 ? rho_ / pq : 0;
  each_point([&](std::size_t i, std::int64_t /*parity*/) {
    u_[i] += alpha * p_[i];
    r_[i] -= alpha * q_[i];
  });
  const double rho = dot(r_, r_), beta = rho_ != 0 ? rho / rho_ : 0;
  each_point([&](std::size_t i, std::int64_t /*parity*/) { p_[i] = r_[i] + beta * p_[i]; });
  rho_ = rho;
}

}  // namespace tailrace::bench
