// SPDX-License-Identifier: BSD-3-Clause
#include "run/clock_comparison.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include "mpi/message.hpp"

namespace tailrace::run {

namespace {

constexpr int tag = 0x7472;  // used by nothing else

/// Sends a number and waits until it is on its way, or receives one.
class Line {
 public:
  Line(mpi::CommView comm, int other) : comm_(comm), other_(other) {}

  void send(double value) const {
    auto request = mpi::start_send(comm_, bytes_of(value), type_.get(), other_, tag);
    mpi::wait_all({&request, 1});
  }
  [[nodiscard]] double receive() const {
    double value = 0;
    auto request = mpi::start_receive(comm_, bytes_of(value), type_.get(), other_, tag);
    mpi::wait_all({&request, 1});
    return value;
  }

 private:
  static std::byte* bytes_of(double& value) { return std::as_writable_bytes(std::span(&value, 1)).data(); }

  mpi::CommView comm_;
  int other_;
  mpi::BlockType type_{{.row_bytes = sizeof(double)}};
};

}  // namespace

ClockComparison::ClockComparison(mpi::CommView comm, const trace::Clock& clock) : comm_(comm), clock_(clock) {
  const auto identities = mpi::gather(comm, clock.identity(), 0);
  std::vector<int> group(identities.size());
  for (std::size_t rank = 0; rank < identities.size(); ++rank) {
    const auto first = static_cast<std::size_t>(
        std::find(identities.begin(), identities.end(), identities[rank]) - identities.begin());
    if (first == rank) speakers_.push_back(static_cast<int>(rank));
    group[rank] = first == rank ? static_cast<int>(speakers_.size()) - 1 : group[first];
  }
  mpi::broadcast(comm, speakers_, 0);
  mpi::broadcast(comm, group, 0);
  mine_ = group[static_cast<std::size_t>(comm.rank())];
}

trace::ClockPoint ClockComparison::compare() const {
  std::vector<trace::ClockPoint> points(speakers_.size());
  points[0].local_s = clock_.now_s();
  const auto speaker = static_cast<std::size_t>(mine_);
  if (comm_.is_root())
    for (std::size_t i = 1; i < speakers_.size(); ++i) points[i] = ask(speakers_[i]);
  else if (mine_ != 0 && speakers_[speaker] == comm_.rank())
    answer();
  mpi::broadcast(comm_, points, 0);
  return points[speaker];
}

/// Rank 0's part: asks another rank for its time.
trace::ClockPoint ClockComparison::ask(int rank) const {
  const Line line(comm_, rank);
  trace::ClockPoint best{.error_s = std::numeric_limits<double>::infinity()};
  for (int trip = 0; trip < round_trips; ++trip) {
    const double asked_s = clock_.now_s();
    line.send(asked_s);
    const double local_s = line.receive();
    const double reported_s = clock_.now_s();
    const double error_s = (reported_s - asked_s) / 2;
    if (error_s < best.error_s)
      best = {.local_s = local_s, .offset_s = asked_s + error_s - local_s, .error_s = error_s};
  }
  return best;
}

void ClockComparison::answer() const {
  const Line line(comm_, 0);
  for (int trip = 0; trip < round_trips; ++trip) {
    static_cast<void>(line.receive());
    line.send(clock_.now_s());
  }
}

}  // namespace tailrace::run
