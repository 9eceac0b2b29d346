// SPDX-License-Identifier: BSD-3-Clause
// The equation of minimal_sim in a program with a main loop of its own: mpirun -n 2 plain_mpi out.h5
#include <mpi.h>

#include <cstdio>
#include <tailrace/tailrace.hpp>
#include <vector>

using namespace tailrace;

int solve(const char* path) {
  constexpr std::int64_t n = 24, steps = 60, row = n + 2, plane = row * row;
  int rank = 0, size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size > n) return std::puts("plain_mpi: at most 24 ranks"), 2;
  const std::int64_t low = n * rank / size, high = n * (rank + 1) / size;  // z planes of this rank
  const int below = rank > 0 ? rank - 1 : MPI_PROC_NULL, above = rank + 1 < size ? rank + 1 : MPI_PROC_NULL;
  std::vector<double> now(static_cast<std::size_t>((high - low + 2) * plane)), next(now.size());
  const auto at = [&](std::int64_t z, std::int64_t y, std::int64_t x) {
    return static_cast<std::size_t>((z - low + 1) * plane + (y + 1) * row + x + 1);
  };
  if (low <= n / 2 && n / 2 < high) now[at(n / 2, n / 2, n / 2)] = 1000;

  const Index3 cells{n, n, n};
  output::OutputContents contents{{.domain = cells, .dt_s = 1}, {{0, 0, low}, {n, n, high}}, {}};
  contents.streams = {
      output::make_stream("slices", "T", output::Boxes{{{{0, 0, n / 2}, {n, n, n / 2 + 1}}}},
                          {.first = 5, .every = 5, .last = steps}, output::Reduction::none, cells),
      output::make_stream("hottest", "T", output::Whole{}, {.first = 1, .every = 1, .last = steps},
                          output::Reduction::max, cells)};
  output::OutputFile file(mpi::CommView(MPI_COMM_WORLD), path, contents, output::WriteOptions());
  const auto field = [&](const std::string&) {
    return output::FieldView{&now[at(low, 0, 0)], h5::ElementType::float64, contents.own_box, row, plane};
  };

  for (std::int64_t step = 1; step <= steps; ++step) {
    double* const last = now.data() + now.size() - plane;
    MPI_Sendrecv(last - plane, plane, MPI_DOUBLE, above, 0, now.data(), plane, MPI_DOUBLE, below, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(now.data() + plane, plane, MPI_DOUBLE, below, 1, last, plane, MPI_DOUBLE, above, 1,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (auto z = low; z < high; ++z)
      for (std::int64_t y = 0; y < n; ++y)
        for (std::int64_t x = 0; x < n; ++x) {
          const std::size_t i = at(z, y, x);
          next[i] = now[i] + 0.1 * (now[i - 1] + now[i + 1] + now[i - row] + now[i + row] + now[i - plane] +
                                    now[i + plane] - 6 * now[i]);
        }
    now.swap(next);
    file.sample(step, field);
  }
  file.finish(steps);
  return 0;
}

int main(int argc, char** argv) {
  int granted = 0, status = 3;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &granted);
  if (argc != 2) return std::puts("plain_mpi FILE"), 2;
  try {
    status = solve(argv[1]);
  } catch (const Error& error) {  // the same on all ranks
    std::fprintf(stderr, "plain_mpi: %s\n", error.what());
  }
  MPI_Finalize();
  return status;
}
