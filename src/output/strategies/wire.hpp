// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstring>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "base/bytes.hpp"
#include "output/core/plan.hpp"
#include "output/core/staging.hpp"
#include "output/strategies/io_servers.hpp"
#include "tailrace/comm.hpp"
#include "tailrace/error.hpp"
#include "tailrace/write_options.hpp"
#include "trace/clock.hpp"
#include "trace/recorder.hpp"

/// Describes what compute ranks and the processes that write for them say to each other. All of them run on
/// machines with the same representation of numbers.
namespace tailrace::output::wire {

/// Compute ranks send commands, each perhaps followed by the bytes of a job; writers send answers.
inline constexpr int command_tag = 1, payload_tag = 2, answer_tag = 3;
/// A job's bytes travel in parts of this size, as MPI counts them in 31 bits.
inline constexpr std::size_t payload_part_bytes = std::size_t{1} << 30;
/// Jobs of a rank that a writer has room for in each session: one to be written, one to come in meanwhile.
inline constexpr int slots = 2;

enum class Command : std::int32_t {
  open,    ///< `OpenRequest`; answered
  job,     ///< `JobHead`, then the bytes; answered when it is written or dropped
  close,   ///< number of the session; every job of the rank was answered
  clock,   ///< answered
  trace,   ///< `TraceRequest`
  report,  ///< `trace::ClockPoint`; the trace ends; answered
  end,     ///< the rank sends nothing any more
};
enum class Answer : std::int32_t {
  opened,  ///< session, then the error if there is one
  done,    ///< session, `JobDone`, then the error if there is one
  clock,   ///< `ClockReading`
  report,  ///< `WriterAccount`
};

/// Describes what a writer must know of a session, and of one rank in it.
struct OpenRequest {
  std::int64_t session = 0;
  std::int32_t sources = 0, source = 0;  ///< ranks of the session, and which of them asks
  std::int64_t staging_bytes = 0;
  std::string path;
  WriteOptions options;                ///< refers to the sink
  std::vector<PlannedStream> streams;  ///< when they are due, and their datasets without attributes
  std::vector<Share> shares;           ///< refers to the rank, by their numbers; without blocks and points
};

/// A job without its bytes.
struct JobHead {
  std::int64_t session = 0;
  std::int64_t number = 0;  ///< refers to the job, for the answer
  std::uint64_t bytes = 0;  ///< that follow
  StepIndex step = 0, commit_mark = 0;
  bool has_commit_mark = false, flush = false;
};

/// Describes what became of a job. Times of jobs that were written together are shared out by their bytes.
struct JobDone {
  std::int64_t number = 0;
  bool written = false;   ///< with its commit mark and its flush; else it was dropped after a failure
  bool left_out = false;  ///< some of it could not be written, which its streams allow
  std::int64_t bytes = 0, writes = 0, retries = 0, dropped_bytes = 0;
  double write_s = 0, write_cpu_s = 0;
};

/// Has a writer trace what it does, as `process` in DIR/trace.
struct TraceRequest {
  std::string directory;
  trace::Mode mode = trace::Mode::off;
  trace::ClockPoint point;
};

/// Describes what the clock of a writer shows.
struct ClockReading {
  double now_s = 0;
  std::string identity;
};

/// Of the messages above, of `WriterAccount`, of `ErrorInfo` and of shares, which pass on no blocks.
template <class T>
void put(Packer& packer, const T& value);
template <class T>
void get(Unpacker& unpacker, T& value);

template <class T>
T read(Unpacker& unpacker) {
  T value;
  get(unpacker, value);
  return value;
}

/// The parts of a job's bytes, each to be sent or received by itself.
template <class Byte>
std::vector<std::span<Byte>> parts_of(std::span<Byte> bytes) {
  std::vector<std::span<Byte>> parts;
  for (std::size_t first = 0; first < bytes.size(); first += payload_part_bytes)
    parts.push_back(bytes.subspan(first, std::min(payload_part_bytes, bytes.size() - first)));
  return parts;
}

/// The writer, counted from 0, that serves a compute rank: neighbours have the same.
inline int writer_of(int rank, int compute_ranks, int writers) noexcept {
  return static_cast<int>(std::int64_t{rank} * writers / compute_ranks);
}

}  // namespace tailrace::output::wire
