// SPDX-License-Identifier: BSD-3-Clause
// Solves A x = (1, ..., 1) by conjugate gradients, with a symmetric positive definite matrix in Matrix Market
// form that is distributed by rows: mpirun -n 2 spmv matrix.mtx x.txt
#include <mpi.h>

#include <cmath>
#include <cstdio>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>
#include <tailrace/error.hpp>
#include <tailrace/exchange/access_map.hpp>
#include <vector>

using namespace tailrace;

// The rows of one rank: entries of row r are first[r] to first[r + 1] - 1.
struct Rows {
  std::int64_t size = 0;
  std::vector<std::size_t> first{0};
  std::vector<std::int64_t> columns;
  std::vector<double> values;
};

// What the head of a file says.
struct Head {
  std::int64_t rows = 0, columns = 0, entries = 0;
  bool symmetric = false;
};

[[noreturn]] void refuse(const std::string& what, const std::string& fix) {
  throw Error(ErrorKind::input, what, fix);
}

Head read_head(const std::string& path, std::istream& in) {
  std::string line, banner, object, form, field, symmetry;
  std::getline(in, line);
  std::istringstream(line) >> banner >> object >> form >> field >> symmetry;
  if (banner != "%%MatrixMarket" || object != "matrix" || form != "coordinate" || field != "real")
    refuse(path + " is no real matrix in Matrix Market's coordinate form",
           "a file that begins with %%MatrixMarket matrix coordinate real");
  if (symmetry != "general" && symmetry != "symmetric")
    refuse(path + " has a matrix that is " + symmetry, "general or symmetric");
  while (std::getline(in, line) && line[0] == '%') continue;
  Head head{.symmetric = symmetry == "symmetric"};
  std::istringstream(line) >> head.rows >> head.columns >> head.entries;
  if (head.rows < 1 || head.rows != head.columns || head.entries < 0)
    refuse(path + ": the matrix is not square, or has no size",
           "a line ROWS COLUMNS ENTRIES below the comments");
  return head;
}

Rows read_rows(const std::string& path, const mpi::CommView comm) {
  std::ifstream in(path);
  if (!in) refuse(path + " cannot be read", "a file that is there");
  const Head head = read_head(path, in);
  Rows rows{.size = head.rows};
  const exchange::Block block(rows.size, comm.size());
  std::vector<std::vector<std::pair<std::int64_t, double>>> mine(
      static_cast<std::size_t>(block.count(comm.rank())));
  const auto keep = [&](std::int64_t row, std::int64_t column, double value) {
    if (block.owner(row) == comm.rank())
      mine[static_cast<std::size_t>(block.local(row))].emplace_back(column, value);
  };
  for (std::int64_t i = 0; i < head.entries; ++i) {
    std::int64_t row = 0, column = 0;
    double value = 0;
    if (!(in >> row >> column >> value) || row < 1 || row > rows.size || column < 1 || column > rows.size)
      refuse(path + ": entry " + std::to_string(i + 1) + " is missing, or out of range",
             "as many entries as the head says, each with row, column and value");
    keep(row - 1, column - 1, value);
    if (head.symmetric && row != column) keep(column - 1, row - 1, value);
  }
  if (std::string more; in >> more)
    refuse(path + ": has more than " + std::to_string(head.entries) + " entries", "as many as the head says");
  for (const auto& row : mine) {
    for (const auto& [column, value] : row) rows.columns.push_back(column), rows.values.push_back(value);
    rows.first.push_back(rows.columns.size());
  }
  return rows;
}

class Matrix {
 public:
  Matrix(mpi::CommView comm, const Rows& rows)
      : rows_(rows),
        map_(exchange::AccessMap::make(comm, exchange::Block(rows.size, comm.size()), rows.columns)) {
    for (std::size_t row = 0; row + 1 < rows.first.size(); ++row) {
      bool local = true;
      for (std::size_t k = rows.first[row]; k < rows.first[row + 1]; ++k)
        local = local && map_.slots()[k] < map_.owned();
      (local ? inner_ : outer_).push_back(row);
    }
  }
  std::size_t array_size() const { return static_cast<std::size_t>(map_.array_size()); }

  // y = A x: rows that need nothing of other ranks are computed while the rest of x is on its way.
  void multiply(std::vector<double>& x, std::vector<double>& y) {
    auto flight = map_.begin_gather(map_.view(std::span(x)));
    for (const std::size_t row : inner_) y[row] = row_times(row, x);
    flight.finish();
    for (const std::size_t row : outer_) y[row] = row_times(row, x);
  }

 private:
  double row_times(std::size_t row, const std::vector<double>& x) const {
    double sum = 0;
    for (std::size_t k = rows_.first[row]; k < rows_.first[row + 1]; ++k)
      sum += rows_.values[k] * x[static_cast<std::size_t>(map_.slots()[k])];
    return sum;
  }
  const Rows& rows_;
  exchange::AccessMap map_;
  std::vector<std::size_t> inner_, outer_;
};

int solve(mpi::CommView comm, const char* path, const char* result) {
  const Rows rows = read_rows(path, comm);
  Matrix a(comm, rows);
  const std::size_t n = rows.first.size() - 1;
  const auto dot = [&](const std::vector<double>& u, const std::vector<double>& v) {
    double sum = 0;
    for (std::size_t i = 0; i < n; ++i) sum += u[i] * v[i];
    return mpi::sum(comm, sum);
  };
  std::vector<double> x(n), r(n, 1.0), p(a.array_size()), q(n);
  std::copy(r.begin(), r.end(), p.begin());
  const double first = dot(r, r);
  double rho = first;
  std::int64_t steps = 0;
  for (; steps < 10 * rows.size && rho > 1e-24 * first; ++steps) {
    a.multiply(p, q);
    const double curvature = dot(p, q);
    if (!(curvature > 0))
      refuse(std::string(path) + ": the matrix is not positive definite", "another matrix");
    const double alpha = rho / curvature;
    for (std::size_t i = 0; i < n; ++i) x[i] += alpha * p[i], r[i] -= alpha * q[i];
    const double old = rho;
    rho = dot(r, r);
    for (std::size_t i = 0; i < n; ++i) p[i] = r[i] + rho / old * p[i];
  }
  for (int rank = 0; rank < comm.size(); ++rank) {
    if (rank == comm.rank()) {
      std::ofstream out(result, rank == 0 ? std::ios::trunc : std::ios::app);
      out.precision(std::numeric_limits<double>::max_digits10);
      for (const double value : x) out << value << '\n';
    }
    mpi::barrier(comm);
  }
  if (comm.is_root())
    std::printf("%lld rows, %lld steps, residual %.1e\n", static_cast<long long>(rows.size),
                static_cast<long long>(steps), std::sqrt(rho / first));
  return 0;
}

int main(int argc, char** argv) {
  int granted = 0, status = 2;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &granted);
  try {
    if (argc != 3) throw Error(ErrorKind::usage, "two words are wanted", "spmv MATRIX RESULT");
    status = solve(mpi::CommView(MPI_COMM_WORLD), argv[1], argv[2]);
  } catch (const Error& error) {  // the same on all ranks
    if (mpi::CommView(MPI_COMM_WORLD).is_root()) std::fprintf(stderr, "spmv: %s\n", error.what());
  }
  MPI_Finalize();
  return status;
}
