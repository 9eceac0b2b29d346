#pragma once

#include <cerrno>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/topology.hpp"
#include "mpi/file.hpp"
#include "tailrace/box.hpp"

namespace tailrace::output {

/// A slow device imitated by sleeping around each write: what `--pace` asks for. Per process.
struct Pace {
  double bandwidth_bytes_s = 0;  ///< 0: no limit
  double latency_s = 0;          ///< of each write
  double jitter = 0;             ///< 0.1: each write takes between 0.9 and 1.1 of its time
  std::uint64_t seed = 1;
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
  std::uint64_t seed = 0;        ///< of the probability; with `every`, shifts which writes are struck
  std::int64_t after_bytes = 0;  ///< this many bytes of the rank are written undisturbed
  StepIndex from_step = 0;
};

/// Of a dataset over several directories, unless the user says otherwise, and the least.
inline constexpr std::int64_t default_stripe_bytes = 4 << 20, least_stripe_bytes = 64 << 10;

/// Of an output with streams that may go to another one: its datasets name each file in each of them.
inline constexpr std::size_t most_directories_to_switch = 24;

inline constexpr int most_lustre_stripes = 2000;
/// How Lustre spreads a file over its targets; 0: as the file's directory has it.
struct LustreStripes {
  int count = 0;
  std::int64_t bytes = 0;  ///< of each, a multiple of 64 KiB

  [[nodiscard]] bool given() const noexcept { return count > 0 || bytes > 0; }
};

class Crew;
class Seats;
class StagingMemory;

/// How samples leave the computation.
struct Options {
  std::string strategy = "auto";  ///< who writes; see `parse_options` for the names
  bool strategy_given = false;    ///< the user asked for it
  int buffers = 2;                ///< staging buffers per rank of strategies that write behind the run
  int group = 0;                  ///< ranks per leader of the strategy `leaders`, 0: those of a node
  int writers = 1;                ///< processes that write, of `ranks`, `spawn` and `spawn-each`
  bool send_waits = false;        ///< `ranks`: handing a buffer over waits until it was sent
  std::string sink = "hdf5";      ///< what the file is
  int deflate_level = 4;          ///< of the sink `hdf5-chunked`, 1 (fast) to 9 (small)
  mpi::Hints mpi_hints;           ///< for MPI-IO, or for ADIOS2's engine, of the sinks that use them
  /// Where raw files with the streams' values are made, one in each; none: the values are in the file itself.
  std::vector<std::string> directories;
  std::int64_t stripe_bytes = default_stripe_bytes;  ///< of a dataset in one directory before the next one
  LustreStripes lustre;                              ///< of the output file
  bool flush_samples = false;                        ///< what is written is put onto the device at once
  std::optional<Pace> pace;
  std::vector<Fault> faults;
  bool bind = true;      ///< writer threads go to processors on which nobody computes
  Cpus writer_cpus;      ///< where they run; the session finds that out
  Crew* crew = nullptr;  ///< the processes that write for others; set by the program, outlives all sessions
  /// From which the writer takes its buffers where they are memory of the process alone; outlives the
  /// session, and serves one at a time. Null: each session has its own.
  StagingMemory* memory = nullptr;
  /// Where the processes of this machine run, as an earlier session of the same ranks has found out; null: a
  /// session asks them.
  std::shared_ptr<const Seats> seats;
  bool plan_only =
      false;  ///< measure and predict as `auto` does, whatever the strategy; see `Session::planned`
  /// For tests: what `auto` takes after each window, again and again, instead of what it would choose.
  std::vector<std::string> planner_script;
};

inline constexpr int most_buffers = 1000;
inline constexpr int most_group = 1 << 20;
inline constexpr int most_writers = 1 << 20;

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
Options parse_options(const OptionTexts& texts);
/// Reads one of them alone; `name` stands in messages for where the text comes from. Errors (usage).
void parse_strategy(const char* name, const std::string& text, Options& options);
void parse_sink(const char* name, const std::string& text, Options& options);
void parse_flush(const char* name, const std::string& text, Options& options);
void parse_stripe(const char* name, const std::string& text, Options& options);
void parse_lustre_count(const char* name, const std::string& text, Options& options);
void parse_lustre_size(const char* name, const std::string& text, Options& options);
/// Takes directories for raw files. Errors (usage): one is missing, is none, may not be written, or is named
/// twice.
void take_directories(const char* name, std::vector<std::string> directories, Options& options);
std::vector<std::string> parse_directories(const std::string& text);
void parse_bind(const char* name, const std::string& text, Options& options);
/// Takes a strategy that serves the sink if the user named none, and turns stripes on Lustre into hints where
/// MPI-IO makes the file. Errors (usage): what was named does not go together.
void fit_strategy(Options& options);
Pace parse_pace(const std::string& text);
std::vector<Fault> parse_faults(const std::string& text);

/// The accepted forms of strategies and sinks, such as "blocking, threads[:BUFFERS]".
std::string strategy_forms();
std::string sink_forms();
/// A strategy and the sinks that it serves, each as the user writes it.
struct Service {
  std::string strategy;
  std::vector<std::string> sinks;
};
/// What can be used together in this build.
std::vector<Service> services();
/// The strategy as it is given to `--write`, such as "threads:2".
std::string strategy_text(const Options& options);
/// The sink as it is given to `--sink`, such as "hdf5-chunked:4".
std::string sink_text(const Options& options);
/// Whether each sample goes into a file of its own (docs/formats/snapshots.md).
bool splits_samples(const Options& options);
/// Whether a run can go on in the file that another one left.
bool can_go_on(const Options& options);
/// Whether the file is HDF5.
bool writes_hdf5(const Options& options);
/// Staging buffers that a rank needs under the strategy.
int buffer_count(const Options& options);

}  // namespace tailrace::output
