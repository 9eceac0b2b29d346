#pragma once

#include <span>
#include <string>

#include "sinks.hpp"
#include "writers.hpp"

namespace tailrace::output {

/// A strategy of `--write`.
struct StrategyEntry {
  const char* name;
  const char* form;  ///< as the user writes it
  /// Reads what stands behind the colon, nothing if there is none. Errors (usage).
  void (*parse)(const std::string& argument, Options& options);
  std::string (*argument)(const Options& options);  ///< the reverse of `parse`, with the colon
  int (*buffers)(const Options& options);           ///< staging buffers per rank
  std::unique_ptr<Writer> (*make)(const WriterContext& context);
};

/// A sink of `--sink`.
struct SinkEntry {
  const char* name;
  const char* form;  ///< as the user writes it
  /// Reads what stands behind the colon, nothing if there is none. Errors (usage).
  void (*parse)(const std::string& argument, Options& options);
  std::string (*argument)(const Options& options);  ///< the reverse of `parse`, with the colon
  std::unique_ptr<Sink> (*create)(const SinkContext& context);
};

std::span<const StrategyEntry> strategies() noexcept;
std::span<const SinkEntry> sinks() noexcept;
/// The entry of a name. Errors (usage): unknown, with the known ones.
const StrategyEntry& find_strategy(const std::string& name);
const SinkEntry& find_sink(const std::string& name);

}  // namespace tailrace::output
