// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cerrno>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tailrace/box.hpp"

namespace tailrace::output {

/// A slow device imitated by sleeping around each write: what `--pace` asks for. Per process.
struct Pace {
  double bandwidth_bytes_s = 0;  ///< 0: no limit
  double latency_s = 0;          ///< refers to each write
  double jitter = 0;             ///< 0.1: each write takes between 0.9 and 1.1 of its time
  std::uint64_t seed = 1;

  friend bool operator==(const Pace&, const Pace&) = default;
};

/// A failure put in on purpose: what `--fault` asks for. Among the writes of the given rank, from the given
/// step and byte on, the fault strikes the n-th, every n-th, each with a probability, or all.
struct Fault {
  enum class Action {
    write,    ///< the write fails with `error`
    shorten,  ///< the system takes only half of the bytes
    kill,     ///< half of the bytes are written, then the process is killed
    stall,    ///< the write begins `stall_s` late
  };
  Action action = Action::write;
  int error = EIO;
  double stall_s = 1;
  std::optional<int> rank;
  std::optional<std::int64_t> nth, every;
  std::optional<double> probability;
  std::uint64_t seed = 0;        ///< refers to the probability; with `every`, shifts which writes are struck
  std::int64_t after_bytes = 0;  ///< this many bytes of the rank are written undisturbed
  StepIndex from_step = 0;

  friend bool operator==(const Fault&, const Fault&) = default;
};

/// Of a dataset over several directories, unless the user says otherwise, and the least.
inline constexpr std::int64_t default_stripe_bytes = 4 << 20, min_stripe_bytes = 64 << 10;

/// Of an output with streams that may go to another one: its datasets name each file in each of them.
inline constexpr std::size_t max_directories_to_switch = 24;

inline constexpr int max_lustre_stripes = 2000;
/// Describes how Lustre spreads a file over its targets; 0: as the file's directory has it.
struct LustreStripes {
  int count = 0;
  std::int64_t bytes = 0;  ///< refers to each, a multiple of 64 KiB

  [[nodiscard]] bool given() const noexcept { return count > 0 || bytes > 0; }
  friend bool operator==(const LustreStripes&, const LustreStripes&) = default;
};

/// Describes how samples leave the computation: what a user decides. A plain value; `parse_options` makes it
/// of texts.
struct WriteOptions {
  std::string strategy = "auto";  ///< who writes; see `parse_options` for the names
  bool strategy_given = false;    ///< the user asked for it
  int buffers = 2;                ///< staging buffers per rank of strategies that write behind the run
  int group = 0;                  ///< ranks per leader of the strategy `leaders`, 0: those of a node
  int writers = 1;                ///< processes that write, of `ranks`, `spawn` and `spawn-each`
  bool send_waits = false;        ///< `ranks`: handing a buffer over waits until it was sent
  std::string sink = "hdf5";      ///< says what the file is
  int deflate_level = 4;          ///< refers to the sink `hdf5-chunked`, 1 (fast) to 9 (small)
  std::vector<std::pair<std::string, std::string>>
      mpi_hints;  ///< for MPI-IO, or for ADIOS2's engine, of the sinks that use them
  /// Says where raw files with the streams' values are made, one in each; none: the values are in the file
  /// itself.
  std::vector<std::string> directories;
  std::int64_t stripe_bytes =
      default_stripe_bytes;    ///< refers to a dataset in one directory before the next one
  LustreStripes lustre;        ///< refers to the output file
  bool flush_samples = false;  ///< says what is written is put onto the device at once
  std::optional<Pace> pace;
  std::vector<Fault> faults;
  bool bind = true;  ///< writer threads go to processors on which nobody computes

  friend bool operator==(const WriteOptions&, const WriteOptions&) = default;
};

inline constexpr int max_buffers = 1000;
inline constexpr int max_group = 1 << 20;
inline constexpr int max_writers = 1 << 20;

/// The options as texts of a command line or case file; empty texts leave the defaults.
struct OptionTexts {
  std::string write;             ///< auto | blocking | threads[:BUFFERS] | leaders[:GROUP[,buffers=N]] |
                                 ///< uring[:BUFFERS] | ranks[:N[,send]] | spawn[:N] | spawn-each[:N]
  std::string sink;              ///< hdf5 | hdf5-chunked[:LEVEL] | mpiio[:KEY=VALUE,...] and so on
  std::string pace;              ///< bandwidth=50MB/s,latency=1ms,jitter=0.1,seed=1
  std::string flush = {};        ///< none | sample
  std::string bind = {};         ///< auto | none
  std::string directories = {};  ///< DIR,DIR and so on
  std::string stripe = {};       ///< a size such as 4MiB
  std::string lustre_count = {}, lustre_size = {};  ///< a number, a size such as 4MiB
  std::string fault;  ///< ACTION:KEY=VALUE,... several separated by ';', such as kill:rank=1,step=20
  bool plan = false;  ///< only measure and predict
};

/// Reads the options. Errors (usage): all bad texts together, each with the accepted forms.
WriteOptions parse_options(const OptionTexts& texts);

}  // namespace tailrace::output
