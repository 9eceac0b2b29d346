// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "tailrace/write_options.hpp"

namespace tailrace::output {

/// Reads one of them alone; `name` is in messages for where the text comes from. Errors (usage).
void parse_strategy(const char* name, const std::string& text, WriteOptions& options);
void parse_sink(const char* name, const std::string& text, WriteOptions& options);
void parse_flush(const char* name, const std::string& text, WriteOptions& options);
void parse_stripe(const char* name, const std::string& text, WriteOptions& options);
void parse_lustre_count(const char* name, const std::string& text, WriteOptions& options);
void parse_lustre_size(const char* name, const std::string& text, WriteOptions& options);
/// Takes directories for raw files. Errors (usage): one is missing, is none, may not be written, or is named
/// twice.
void take_directories(const char* name, std::vector<std::string> directories, WriteOptions& options);
std::vector<std::string> parse_directories(const std::string& text);
void parse_bind(const char* name, const std::string& text, WriteOptions& options);
/// Errors (usage): a number of buffers, ranks of a group or writers that no strategy can have. @local
void check_counts(const WriteOptions& options);
/// Takes over who writes, and nothing else.
void take_strategy(const WriteOptions& from, WriteOptions& to);
/// Takes a strategy that serves the sink if the user named none, and turns stripes on Lustre into hints where
/// MPI-IO makes the file. Errors (usage): what was named does not go together.
void fit_strategy(WriteOptions& options);
Pace parse_pace(const std::string& text);
std::vector<Fault> parse_faults(const std::string& text);

/// The accepted forms of strategies and sinks, such as "blocking, threads[:BUFFERS]".
std::string strategy_forms();
std::string sink_forms();
/// A strategy and the sinks that it serves, each as the user writes it.
struct Service {
  std::string strategy;
  std::string usual;  ///< the strategy as `strategy_text` has it where no number is given
  std::vector<std::string> sinks;
};
/// Returns what can be used together in this build.
std::vector<Service> services();
/// The strategy as it is given to `--write`, such as "threads:2".
std::string strategy_text(const WriteOptions& options);
/// The sink as it is given to `--sink`, such as "hdf5-chunked:4".
std::string sink_text(const WriteOptions& options);
/// Returns whether each sample goes into a file of its own (docs/formats/snapshots.md).
bool splits_samples(const WriteOptions& options);
/// Returns whether a run can resume in the file that another one left.
bool can_resume(const WriteOptions& options);
/// Returns whether the file is HDF5.
bool writes_hdf5(const WriteOptions& options);
/// Staging buffers that a rank needs under the strategy.
int buffer_count(const WriteOptions& options);

}  // namespace tailrace::output
