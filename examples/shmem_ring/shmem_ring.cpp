// SPDX-License-Identifier: BSD-3-Clause
// Adds up a vector of all ranks, which goes around a ring in symmetric memory: mpirun -n 3 shmem_ring [TURNS]
#include <mpi.h>

#include <charconv>
#include <cstdio>
#include <string>
#include <tailrace/error.hpp>
#include <tailrace/exchange/heap.hpp>
#include <vector>

using namespace tailrace;

void turn(exchange::Heap& heap, exchange::Symmetric<double>& sum, exchange::Symmetric<std::uint64_t>& signal,
          std::uint64_t number) {
  const int rank = heap.rank(), next = (rank + 1) % heap.size();
  if (rank != 0 || number > 1)
    heap.wait_until(signal, 0, exchange::Compare::equal, rank == 0 ? number - 1 : number);
  std::vector<double> values(sum.local().begin(), sum.local().end());
  if (rank == 0) std::fill(values.begin(), values.end(), 0.0);  // a new sum
  for (std::size_t i = 0; i < values.size(); ++i) values[i] += (rank + 1.0) * static_cast<double>(i + 1);
  heap.put_signal(sum.on(next), values, signal.on(next), number);
}

std::uint64_t turns_of(const std::string& word) {
  std::uint64_t turns = 0;
  const char* const end = word.data() + word.size();
  const auto [rest, error] = std::from_chars(word.data(), end, turns);
  if (error != std::errc() || rest != end || turns < 1)
    throw Error(ErrorKind::usage, word + " is no number of turns", "a whole number from 1 on");
  return turns;
}

int main(int argc, char** argv) {
  int granted = 0, status = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &granted);
  try {
    const std::uint64_t turns = argc > 1 ? turns_of(argv[1]) : 1;
    exchange::Heap heap{mpi::CommView(MPI_COMM_WORLD)};
    auto sum = heap.allocate<double>(1000);
    auto signal = heap.allocate<std::uint64_t>(1);
    for (std::uint64_t number = 1; number <= turns; ++number) turn(heap, sum, signal, number);
    heap.barrier_all();
    if (heap.rank() == 0) std::printf("sum %.0f ... %.0f\n", sum.local().front(), sum.local().back());
  } catch (const Error& error) {
    const bool usage = error.info().kind == ErrorKind::usage;  // the same on all ranks
    if (!usage || mpi::CommView(MPI_COMM_WORLD).is_root())
      std::fprintf(stderr, "shmem_ring: %s\n", error.what());
    status = usage ? 2 : 3;
  }
  MPI_Finalize();
  return status;
}
