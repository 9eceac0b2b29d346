#include "registry.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "tailrace/base/error.hpp"

namespace tailrace::output {

namespace {

void parse_nothing(const std::string& argument, Options&) {
  if (!argument.empty()) throw Error(ErrorKind::usage, fmt::format("blocking takes no \"{}\"", argument));
}

void parse_buffers(const std::string& argument, Options& options) {
  if (argument.empty()) return;
  int buffers = 0;
  const char* const end = argument.data() + argument.size();
  const auto [stop, code] = std::from_chars(argument.data(), end, buffers);
  if (code != std::errc{} || stop != end || buffers < 1 || buffers > most_buffers)
    throw Error(ErrorKind::usage,
                fmt::format("\"{}\" is no number of buffers from 1 to {}", argument, most_buffers));
  options.buffers = buffers;
}

constexpr std::array strategy_table{
    StrategyEntry{.name = "blocking",
                  .form = "blocking",
                  .parse = parse_nothing,
                  .argument = [](const Options&) { return std::string(); },
                  .buffers = [](const Options&) { return 1; },
                  .make = make_blocking_writer},
    StrategyEntry{.name = "threads",
                  .form = "threads[:BUFFERS]",
                  .parse = parse_buffers,
                  .argument = [](const Options& options) { return fmt::format(":{}", options.buffers); },
                  .buffers = [](const Options& options) { return options.buffers; },
                  .make = make_threads_writer},
};

constexpr std::array sink_table{
    SinkEntry{.name = "hdf5", .create = create_hdf5_sink},
};

template <class Table>
const auto& find(const Table& table, const std::string& name, const char* what) {
  const auto found =
      std::find_if(table.begin(), table.end(), [&](const auto& entry) { return name == entry.name; });
  if (found != table.end()) return *found;
  std::vector<const char*> names;
  for (const auto& entry : table) names.push_back(entry.name);
  throw Error(ErrorInfo{.kind = ErrorKind::usage,
                        .message = fmt::format("unknown {} \"{}\"", what, name),
                        .path = {},
                        .hint = fmt::format("one of {}", fmt::join(names, ", "))});
}

}  // namespace

std::span<const StrategyEntry> strategies() noexcept {
  return strategy_table;
}
std::span<const SinkEntry> sinks() noexcept {
  return sink_table;
}
const StrategyEntry& find_strategy(const std::string& name) {
  return find(strategy_table, name, "strategy");
}
const SinkEntry& find_sink(const std::string& name) {
  return find(sink_table, name, "sink");
}

std::unique_ptr<Sink> create_sink(const SinkContext& context) {
  return find_sink(context.options.sink).create(context);
}

std::unique_ptr<Writer> create_writer(const WriterContext& context) {
  return find_strategy(context.options.strategy).make(context);
}

std::string strategy_text(const Options& options) {
  return options.strategy + find_strategy(options.strategy).argument(options);
}

int buffer_count(const Options& options) {
  return find_strategy(options.strategy).buffers(options);
}

}  // namespace tailrace::output
