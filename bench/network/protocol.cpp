// SPDX-License-Identifier: BSD-3-Clause
#include <nlohmann/json.hpp>

#include "base/system.hpp"
#include "tests.hpp"

namespace tailrace::bench::network {

namespace {

constexpr int tag = 1, put_rounds = 5;
constexpr double patience_s = 5e-3, computing_s = 20e-3;

void compute(double seconds) {
  const double end = monotonic_s() + seconds;
  while (monotonic_s() < end) {
  }
}

/// Asks often enough, too: a process that had no core for a while has not asked.
bool complete_within(MPI_Request& request, double seconds) {
  constexpr int least = 1000;
  const double end = monotonic_s() + seconds;
  int done = 0;
  for (int asked = 0; done == 0 && (asked < least || monotonic_s() < end); ++asked)
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
  return done != 0;
}

/// Whether a send of so many bytes is complete before there is a receive for it.
bool leaves_alone(mpi::CommView comm, std::vector<std::byte>& data, int size) {
  int alone = 0;
  if (comm.rank() == 0) {
    MPI_Request request;
    MPI_Isend(data.data(), size, MPI_BYTE, 1, tag, comm.get(), &request);
    alone = complete_within(request, patience_s);
    MPI_Barrier(comm.get());
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else {
    MPI_Barrier(comm.get());
    MPI_Recv(data.data(), size, MPI_BYTE, 0, tag, comm.get(), MPI_STATUS_IGNORE);
  }
  MPI_Bcast(&alone, 1, MPI_INT, 0, comm.get());
  return alone != 0;
}

/// The largest size that is sent without its receiver, found by bisection; -1: not even an empty message.
int eager_limit(mpi::CommView comm, int largest) {
  std::vector<std::byte> data(static_cast<std::size_t>(largest));
  if (leaves_alone(comm, data, largest)) return largest;
  int eager = -1, waits = largest;
  while (waits - eager > 1) {
    const int size = eager + (waits - eager) / 2;
    (leaves_alone(comm, data, size) ? eager : waits) = size;
  }
  return eager;
}

/// Seconds of a put and its flush, while the target computes for so long and makes no call of MPI.
double put_flush(mpi::CommView comm, MPI_Win window, const std::vector<std::byte>& data, int size,
                 double target_computes_s) {
  MPI_Barrier(comm.get());
  double taken_s = 0;
  if (comm.rank() == 0) {
    const double begin = monotonic_s();
    MPI_Put(data.data(), size, MPI_BYTE, 1, 0, size, MPI_BYTE, window);
    MPI_Win_flush(1, window);
    taken_s = monotonic_s() - begin;
  } else {
    compute(target_computes_s);
  }
  MPI_Barrier(comm.get());
  return taken_s;
}

/// Null where MPI has no windows between these ranks.
nlohmann::json put_row(mpi::CommView comm, int size) {
  std::byte* memory = nullptr;
  MPI_Win window = allocate_window(comm.get(), static_cast<std::size_t>(size), memory);
  if (window == MPI_WIN_NULL) return {};
  MPI_Win_lock_all(0, window);
  const std::vector<std::byte> data(static_cast<std::size_t>(size));
  std::vector<double> waiting, computing;
  put_flush(comm, window, data, size, 0);
  for (int round = 0; round < put_rounds; ++round) {
    waiting.push_back(put_flush(comm, window, data, size, 0));
    computing.push_back(put_flush(comm, window, data, size, computing_s));
  }
  MPI_Win_unlock_all(window);
  MPI_Win_free(&window);
  return {{"test", "put-progress"},
          {"size", size},
          {"target_waits_s", waiting},
          {"target_computes_s", computing},
          {"computing_s", computing_s}};
}

}  // namespace

nlohmann::json protocol_rows(mpi::CommView comm) {
  constexpr int largest = 64 << 20;
  nlohmann::json rows = nlohmann::json::array();
  rows.push_back({{"test", "eager-limit"}, {"bytes", eager_limit(comm, largest)}, {"largest", largest}});
  for (const int size : {8, 65536, 4194304})
    if (const nlohmann::json row = put_row(comm, size); !row.is_null()) rows.push_back(row);
  return rows;
}

}  // namespace tailrace::bench::network
