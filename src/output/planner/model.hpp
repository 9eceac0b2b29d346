// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

/// Describes how long a run takes under each strategy, from what was measured on it: plain values, no MPI, no
/// files. Symbols as in docs/explain/planner.md.
namespace tailrace::output {

/// A measured or assumed number, and half of the interval that holds it in 19 of 20 cases.
struct Estimate {
  double value = 0, error = 0;

  friend bool operator==(const Estimate&, const Estimate&) = default;
};

/// Mean of measured values and its error by Student's distribution; a single value may be wrong by itself.
/// `values` is not empty. @local
Estimate estimate_of(std::span<const double> values) noexcept;
/// The same from the number of values, their sum and the sum of their squares. @local
Estimate estimate_of(std::int64_t count, double sum, double squares) noexcept;
/// Two independent estimates of one number as one, each weighted by its certainty. @local
Estimate combine(Estimate a, Estimate b) noexcept;

/// Says how much slower computing and writing are beside each other, apart from the processor time of the
/// writing, when nobody has measured it: a few percent.
inline constexpr Estimate assumed_interference{.value = 0.02, .error = 0.05};

/// One output on its way into the file, in seconds of the slowest writer.
struct WriteTime {
  double gather_s = 0;  ///< bringing the data of other ranks to the writer
  double open_s = 0;    ///< says what each output costs before its first byte
  double write_s = 0;   ///< handing the bytes to the operating system
  double flush_s = 0;   ///< from there onto the device
  double agree_s = 0;   ///< marking that it is there

  friend bool operator==(const WriteTime&, const WriteTime&) = default;
};

/// Outputs that come in groups: `outputs` of them every `interval_s`, a group every `period_s`.
struct Bursts {
  std::int64_t outputs = 1;
  double interval_s = 0, period_s = 0;
};

/// The strategies that the laws know.
enum class Strategy { blocking, threads, leaders, uring, ranks, spawn };
inline constexpr int strategy_count = 6;
/// Its name in --write. @local
const char* name_of(Strategy strategy) noexcept;

/// A strategy that cannot be had here, and why.
struct Refusal {
  Strategy strategy;
  std::string reason;
};

/// Describes whether processes can be started during the run.
enum class Spawning { unknown, works, refused };

/// The machine as this job has it; numbers per node are those of the fullest node.
struct Machine {
  int ranks = 1, nodes = 1, ranks_per_node = 1;  ///< that compute
  int threads_per_rank = 1;
  int free_cores = 0;       ///< per node, of those that the job may use, without a thread that computes
  int dedicated_ranks = 0;  ///< ranks of the job that do not compute
  Spawning spawning = Spawning::unknown;
  int spawn_slots = 0;                 ///< processes that there is room for
  double spawn_s = 0.25;               ///< to start one process
  std::int64_t memory_free_bytes = 0;  ///< per node, beside the simulation; 0: unknown
  double copy_bytes_s = 2e9;           ///< refers to one rank, within a node
  double message_s = 2e-6;             ///< latency of a message
  double submission_s = 3e-6;  ///< refers to the simulation's thread, to have the kernel carry out a write
  std::int64_t dirty_limit_bytes = 0;  ///< says what the system keeps in memory before writers must wait; per
                                       ///< node; 0: unknown
  double writer_limit_bytes_s = 0;     ///< that one writing process is held to (--pace); 0: none
};

/// Writing through the kernel's queue (`uring`), once it was measured: seconds per output.
struct QueueTime {
  double submit_s = 0;  ///< refers to the simulation's thread
  double write_s = 0;   ///< W, with the flush if that counts, nothing computing meanwhile
  double cpu_s = 0;     ///< processor time of the kernel's worker
  Estimate interference = assumed_interference;  ///< s beside it

  friend bool operator==(const QueueTime&, const QueueTime&) = default;
};

/// Describes what was measured on a run: times of the slowest rank, per output. C, s, W, r, phi, D, N in the
/// laws.
struct Measurements {
  std::int64_t outputs_left = 0;                       ///< N
  Estimate compute_s;                                  ///< C, nothing being written meanwhile
  Estimate interference = assumed_interference;        ///< s, computing beside writing
  double copy_s = 0;                                   ///< t_copy, into the staging buffer
  WriteTime write;                                     ///< W and its parts, nothing computing meanwhile
  double write_error = 0;                              ///< refers to W, relative
  double write_slowest_s = 0;                          ///< 95th percentile of W; 0: as W
  Estimate write_interference = assumed_interference;  ///< r, writing beside computing
  Estimate phi;                                        ///< processor seconds of a writer per second of W
  int writers = 1;                                     ///< A, when W was measured
  std::optional<QueueTime> queue;                      ///< nothing: as a thread, submission by its rate
  std::int64_t steps_between = 1;                      ///< time steps from an output to the next, the fewest
  std::int64_t bytes = 0;                              ///< D, of one output on all ranks
  std::int64_t largest_rank_bytes = 0;                 ///< refers to one output on the rank that has most
  int datasets = 1;                                    ///< that one output touches
  std::int64_t staging_bytes = 0;  ///< refers to one staging buffer on the rank that has most
  std::int64_t run_bytes = 0;      ///< that the whole run writes
  bool each_flushed = false;       ///< every output goes onto the device at once
  Bursts bursts;
  Machine machine;
  std::vector<Refusal> refused;
  std::vector<std::string> dropped;  ///< strategies that were tried, and clearly slower than another one
};

/// True if W must contain the flush: each output is flushed, or the run does not fit into the page cache.
/// @local
bool beyond_page_cache(const Measurements& m) noexcept;
/// W with what counts of its parts. @local
double write_time(const Measurements& m) noexcept;

/// A strategy with its number: buffers, group, ranks or processes.
struct Candidate {
  Strategy strategy = Strategy::blocking;
  int number = 1;
  int buffers = 2;  ///< staging buffers per rank

  friend bool operator==(const Candidate&, const Candidate&) = default;
};

/// As it is given to --write: "threads:2". @local
std::string to_string(const Candidate& candidate);

/// Describes what the laws say about a candidate.
struct Prediction {
  Candidate candidate;
  double run_s = 0;                   ///< the outputs that are left, with their computing
  double per_output_s = 0;            ///< in the middle of the run
  double compute_s = 0, write_s = 0;  ///< C' and W'
  int extra_processes = 0;            ///< that the job needs beside the ranks it has
  bool possible = true;
  std::string reason;  ///< why it is impossible, or what the time consists of
};

/// Writers of a candidate on all nodes: A. @local
int writer_count(const Machine& machine, const Candidate& candidate) noexcept;
/// Seconds per output that a candidate's writing takes from the computation: phi W q, and with `uring` the
/// submission. @local
double taken_s(const Measurements& m, const Candidate& candidate) noexcept;

/// Applies the laws. @local. Source: docs/explain/planner.md.
Prediction predict(const Measurements& m, const Candidate& candidate);

/// Returns how much sooner the run ends with `candidate` than with `other`, and by how much less that may be
/// in view of the uncertainty of the measurements. @local
Estimate gain_s(const Measurements& m, const Candidate& candidate, const Candidate& other);

}  // namespace tailrace::output
