#pragma once

#include <cerrno>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tailrace/base/box.hpp"

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

/// How samples leave the computation.
struct Options {
  std::string strategy = "threads";  ///< who writes; see `parse_options` for the names
  int buffers = 2;                   ///< staging buffers per rank of the strategy `threads`
  std::string sink = "hdf5";         ///< what the file is
  int deflate_level = 4;             ///< of the sink `hdf5-chunked`, 1 (fast) to 9 (small)
  bool flush_samples = false;        ///< what is written is put onto the device at once
  std::optional<Pace> pace;
  std::vector<Fault> faults;
};

inline constexpr int most_buffers = 1000;

/// The options as texts of a command line or case file; empty texts leave the defaults.
struct OptionTexts {
  std::string write;       ///< blocking | threads[:BUFFERS]
  std::string sink;        ///< hdf5 | hdf5-chunked[:LEVEL]
  std::string pace;        ///< bandwidth=50MB/s,latency=1ms,jitter=0.1,seed=1
  std::string flush = {};  ///< none | sample
  std::string fault;       ///< ACTION:KEY=VALUE,... several separated by ';', such as kill:rank=1,step=20
};

/// Reads the options. Errors (usage): all bad texts together, each with the accepted forms.
Options parse_options(const OptionTexts& texts);
/// Reads one of them alone; `name` stands in messages for where the text comes from. Errors (usage).
void parse_strategy(const char* name, const std::string& text, Options& options);
void parse_sink(const char* name, const std::string& text, Options& options);
void parse_flush(const char* name, const std::string& text, Options& options);
Pace parse_pace(const std::string& text);
std::vector<Fault> parse_faults(const std::string& text);

/// The strategy as it is given to `--write`, such as "threads:2".
std::string strategy_text(const Options& options);
/// The sink as it is given to `--sink`, such as "hdf5-chunked:4".
std::string sink_text(const Options& options);
/// Staging buffers that a rank needs under the strategy.
int buffer_count(const Options& options);

}  // namespace tailrace::output
