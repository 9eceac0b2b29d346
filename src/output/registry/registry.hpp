// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <string>

#include "output/sinks/sinks.hpp"
#include "output/strategies/writers.hpp"

namespace tailrace::output {

/// Describes what a sink allows a strategy.
struct SinkTraits {
  bool any_thread = true;    ///< samples may come on a thread of the writer's own
  bool any_source = true;    ///< a process may bring samples of several ranks
  bool joins = false;        ///< processes that did not create the file can write into it
  bool places = false;       ///< samples have known places in a plain file
  bool rewrites = false;     ///< a failed write may be tried again, or left out
  bool splits = false;       ///< each sample can go into a file of its own
  bool hdf5 = true;          ///< the file is HDF5
  bool one_file = true;      ///< the samples are in the output file itself
  bool directories = false;  ///< the values can be in raw files in other directories
  bool grows = false;        ///< samples of any number and size
  bool row_files = false;    ///< rows of any number, in files beside the output file
  bool hints = false;        ///< MPI-IO makes the file, and takes hints
  bool resumes = true;       ///< a run can resume in a file that an earlier one left
};

/// A strategy of `--write`.
struct StrategyEntry {
  const char* name;
  const char* form;  ///< as the user writes it
  /// Reads what is behind the colon, nothing if there is none. Errors (usage).
  void (*parse)(const std::string& argument, WriteOptions& options);
  std::string (*argument)(const WriteOptions& options);  ///< the reverse of `parse`, with the colon
  int (*buffers)(const WriteOptions& options);           ///< staging buffers per rank
  std::unique_ptr<Writer> (*make)(const WriterContext& context);
  /// Returns whether it can serve such a sink.
  bool (*serves)(const SinkTraits& traits);
  const char* needs;    ///< says what it asks of a sink, for messages
  bool splits = false;  ///< it wants each sample in a file of its own
};

/// A sink of `--sink`.
struct SinkEntry {
  const char* name;
  const char* form;  ///< as the user writes it
  /// Reads what is behind the colon, nothing if there is none. Errors (usage).
  void (*parse)(const std::string& argument, WriteOptions& options);
  std::string (*argument)(const WriteOptions& options);  ///< the reverse of `parse`, with the colon
  std::unique_ptr<Sink> (*create)(const SinkContext& context);
  SinkTraits traits;
};

std::span<const StrategyEntry> strategies() noexcept;
std::span<const SinkEntry> sinks() noexcept;
/// The entry of a name. Errors (usage): unknown, with the known ones.
const StrategyEntry& find_strategy(const std::string& name);
const SinkEntry& find_sink(const std::string& name);

}  // namespace tailrace::output
