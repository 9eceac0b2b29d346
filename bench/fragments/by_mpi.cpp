// SPDX-License-Identifier: BSD-3-Clause
/// Plain MPI: blocks of points per rank, step by step, with non-blocking messages for each input that is
/// elsewhere.
#include <mpi.h>

#include "base/system.hpp"
#include "owners.hpp"
#include "systems.hpp"

namespace tailrace::bench {

namespace {

/// One rank's part.
class Rank {
 public:
  Rank(mpi::CommView comm, const Load& load) : comm_(comm), load_(load), outputs_(load) {}

  void step(int step) {
    for (int number = 0; const auto& graph : load_.graphs) {
      if (step < graph.steps()) exchange(graph, number, step);
      ++number;
    }
    MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
    requests_.clear();
    for (int number = 0; const auto& graph : load_.graphs) {
      if (step < graph.steps()) execute(graph, number, step);
      ++number;
    }
  }
  void rethrow() const {
    const bool failed = mpi::max(comm_, error_ ? 1.0 : 0.0) > 0;
    if (error_) std::rethrow_exception(error_);
    if (failed) throw std::runtime_error("wrong input on another rank");
  }

 private:
  /// Starts the messages of the inputs that this rank has and others want, or the other way round.
  void exchange(const Graph& graph, int number, int step) {
    const Owners owners{graph.width(), comm_.size()};
    const auto points = graph.points(step);
    for (int point = points.begin; point < points.end; ++point)
      for (const int input : graph.inputs(step, point)) {
        const int from = owners.rank_of(input), to = owners.rank_of(point);
        if (from == to || (from != comm_.rank() && to != comm_.rank())) continue;
        start(outputs_.at(load_, {number, step - 1, input}), from, to, tag(graph, number, input, point));
      }
  }
  /// One value may travel to several points of a rank: each message has its own tag.
  static int tag(const Graph& graph, int number, int input, int point) {
    return (number * graph.width() + input) * graph.width() + point;
  }
  void start(std::byte* bytes, int from, int to, int tag) {
    const int length = static_cast<int>(load_.bytes);
    auto& request = requests_.emplace_back();
    if (from == comm_.rank())
      MPI_Isend(bytes, length, MPI_BYTE, to, tag, comm_.get(), &request);
    else
      MPI_Irecv(bytes, length, MPI_BYTE, from, tag, comm_.get(), &request);
  }
  void execute(const Graph& graph, int number, int step) {
    const auto own = Owners{graph.width(), comm_.size()}.points_of(comm_.rank());
    const auto points = graph.points(step);
    for (int point = std::max(own.begin, points.begin); point < std::min(own.end, points.end); ++point) try {
        outputs_.execute(load_, {number, step, point});
      } catch (const std::runtime_error&) {
        if (!error_) error_ = std::current_exception();
      }
  }

  mpi::CommView comm_;
  const Load& load_;
  Outputs outputs_;
  std::vector<MPI_Request> requests_;
  std::exception_ptr error_;
};

}  // namespace

double run_mpi(const Team& team, const Load& load) {
  Rank rank(team.comm, load);
  int steps = 0;
  for (const auto& graph : load.graphs) steps = std::max(steps, graph.steps());
  mpi::barrier(team.comm);
  const double start_s = monotonic_s();
  for (int step = 0; step < steps; ++step) rank.step(step);
  const double seconds = mpi::max(team.comm, monotonic_s() - start_s);
  rank.rethrow();
  return seconds;
}

}  // namespace tailrace::bench
