// SPDX-License-Identifier: BSD-3-Clause
// tailrace-heat with a rule of its own for who owns which mortar point: runs of eight numbers dealt out by
// turns, vertices first.  mpirun -n 3 build/bin/heat-distribution S
#include <algorithm>

#include "program.hpp"

using namespace tailrace;

/// What `exchange::Distribution` asks of a rule: who owns an index, its place there, and the way back.
class Turns {
 public:
  Turns(std::int64_t size, int ranks) : size_(size), ranks_(ranks) {}
  std::int64_t size() const { return size_; }
  int ranks() const { return ranks_; }
  int owner(std::int64_t index) const { return static_cast<int>(index / run % ranks_); }
  std::int64_t local(std::int64_t index) const { return index / (run * ranks_) * run + index % run; }
  std::int64_t global(int rank, std::int64_t local) const {
    return (local / run * ranks_ + rank) * run + local % run;
  }
  std::int64_t count(int rank) const {
    const std::int64_t round = run * ranks_, rest = size_ % round - rank * run;
    return size_ / round * run + std::clamp<std::int64_t>(rest, 0, run);
  }

 private:
  static constexpr std::int64_t run = 8;
  std::int64_t size_;
  int ranks_;
};

int main(int argc, char** argv) {
  const mpi::Environment environment(argc, argv);
  return heat::run_program(environment.world(), argc, argv, [](auto vertices, auto others, int ranks) {
    return exchange::Distribution(Turns(vertices + others, ranks));
  });
}
