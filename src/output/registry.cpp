#include "registry.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "tailrace/base/error.hpp"

namespace tailrace::output {

namespace {

/// For names behind which nothing may stand.
void parse_nothing(const std::string& argument, Options&) {
  if (!argument.empty()) throw Error(ErrorKind::usage, fmt::format("takes no \"{}\"", argument));
}
std::string no_argument(const Options&) {
  return {};
}

/// A number from 1 to `most`; `fallback` if there is none.
int parse_number(const std::string& argument, const char* what, int most, int fallback) {
  if (argument.empty()) return fallback;
  int number = 0;
  const char* const end = argument.data() + argument.size();
  const auto [stop, code] = std::from_chars(argument.data(), end, number);
  if (code != std::errc{} || stop != end || number < 1 || number > most)
    throw Error(ErrorKind::usage, fmt::format("\"{}\" is no {} from 1 to {}", argument, what, most));
  return number;
}

void parse_buffers(const std::string& argument, Options& options) {
  options.buffers = parse_number(argument, "number of buffers", most_buffers, options.buffers);
}

void parse_level(const std::string& argument, Options& options) {
  constexpr int most_level = 9;  // of zlib
  options.deflate_level = parse_number(argument, "level", most_level, options.deflate_level);
}

constexpr std::array strategy_table{
    StrategyEntry{.name = "blocking",
                  .form = "blocking",
                  .parse = parse_nothing,
                  .argument = no_argument,
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
    SinkEntry{.name = "hdf5",
              .form = "hdf5",
              .parse = parse_nothing,
              .argument = no_argument,
              .create = create_hdf5_sink},
    SinkEntry{.name = "hdf5-chunked",
              .form = "hdf5-chunked[:LEVEL]",
              .parse = parse_level,
              .argument = [](const Options& options) { return fmt::format(":{}", options.deflate_level); },
              .create = create_hdf5_chunked_sink},
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

std::string sink_text(const Options& options) {
  return options.sink + find_sink(options.sink).argument(options);
}

int buffer_count(const Options& options) {
  return find_strategy(options.strategy).buffers(options);
}

}  // namespace tailrace::output
