// SPDX-License-Identifier: BSD-3-Clause
#include "output/registry/registry.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "h5/parallel.hpp"
#include "mpi/file.hpp"
#include "output/registry/create.hpp"
#include "output/registry/options.hpp"
#include "tailrace/error.hpp"

namespace tailrace::output {

namespace {

/// For names behind which nothing may be.
void parse_nothing(const std::string& argument, WriteOptions&) {
  if (!argument.empty()) throw Error(ErrorKind::usage, fmt::format("takes no \"{}\"", argument));
}
std::string no_argument(const WriteOptions&) {
  return {};
}

/// A number from 1 to `most`; `fallback` if there is none.
int parse_count(const std::string& argument, const char* what, int most, int fallback) {
  if (argument.empty()) return fallback;
  const auto number = parse_number<int>(argument, 1, most);
  if (!number)
    throw Error(ErrorKind::usage, fmt::format("\"{}\" is no {} from 1 to {}", argument, what, most));
  return *number;
}

void parse_buffers(const std::string& argument, WriteOptions& options) {
  options.buffers = parse_count(argument, "number of buffers", max_buffers, options.buffers);
}

/// GROUP or GROUP,buffers=N.
void parse_leaders(const std::string& argument, WriteOptions& options) {
  constexpr std::string_view key = ",buffers=";
  const auto comma = std::min(argument.find(','), argument.size());
  const auto group = argument.substr(0, comma), buffers = argument.substr(comma);
  if (!buffers.empty() && (group.empty() || !buffers.starts_with(key) || buffers == key))
    throw Error(ErrorKind::usage, fmt::format("\"{}\" is not GROUP,buffers=N", argument));
  const bool node = group == "node";
  options.group = node ? 0 : parse_count(group, "size of a group (node or a number)", max_group, 0);
  if (!buffers.empty()) parse_buffers(buffers.substr(key.size()), options);
}

std::string leaders_argument(const WriteOptions& options) {
  const auto group = options.group == 0 ? std::string("node") : std::to_string(options.group);
  return fmt::format(":{},buffers={}", group, options.buffers);
}

void parse_level(const std::string& argument, WriteOptions& options) {
  constexpr int max_level = 9;  // of zlib
  options.deflate_level = parse_count(argument, "level", max_level, options.deflate_level);
}

/// KEY=VALUE,KEY=VALUE; `what` says what each is.
mpi::Hints parse_pairs(const std::string& argument, const char* what) {
  mpi::Hints hints;
  for (std::size_t start = 0; start < argument.size();) {
    const auto end = std::min(argument.find(',', start), argument.size());
    const auto hint = argument.substr(start, end - start);
    const auto equals = hint.find('=');
    if (equals == 0 || equals == std::string::npos || equals + 1 == hint.size())
      throw Error(ErrorKind::usage, fmt::format("\"{}\" is not KEY=VALUE, {}", hint, what));
    hints.emplace_back(hint.substr(0, equals), hint.substr(equals + 1));
    start = end + 1;
  }
  return hints;
}

void parse_hints(const std::string& argument, WriteOptions& options) {
  options.mpi_hints = parse_pairs(argument, "a hint for MPI-IO");
}
std::string hints_argument(const WriteOptions& options) {
  if (options.mpi_hints.empty()) return {};
  return fmt::format(":{}", mpi::to_string(options.mpi_hints));
}

void parse_hdf5_parallel(const std::string& argument, WriteOptions& options) {
  if (!h5::has_parallel())
    throw Error(ErrorKind::usage,
                "this build has no parallel HDF5: install the one of its MPI (Debian: libhdf5-openmpi-dev or "
                "libhdf5-mpich-dev) and build again");
  parse_hints(argument, options);
}

#ifdef TAILRACE_HAVE_PNETCDF
constexpr auto create_pnetcdf = create_pnetcdf_sink;
constexpr auto parse_pnetcdf = parse_hints;
#else
constexpr std::unique_ptr<Sink> (*create_pnetcdf)(const SinkContext&) = nullptr;
void parse_pnetcdf(const std::string&, WriteOptions&) {
  throw Error(ErrorKind::usage,
              "this build has no PnetCDF: install the one of its MPI (Debian, for Open MPI: libpnetcdf-dev) "
              "and build again");
}
#endif

#ifdef TAILRACE_HAVE_ADIOS2
constexpr auto create_adios2 = create_adios_sink;

/// Parameters of the engine BP5, by the names that ADIOS2 gives them. The others would have data arrive later
/// than it says (AsyncWrite), or elsewhere (BurstBufferPath, NodeLocal), leave ranks waiting after a failure
/// (AggregationType), or are for readers; and names that it does not know it ignores.
constexpr std::array adios2_parameters{
    "AggregatorRatio",     "AsyncOpen",    "BufferChunkSize",   "BufferVType",     "DirectIO",
    "DirectIOAlignBuffer", "GrowthFactor", "InitialBufferSize", "MinDeferredSize", "DirectIOAlignOffset",
    "NumAggregators",      "StatsLevel",   "StatsBlockSize",    "StripeSize"};

void parse_adios2(const std::string& argument, WriteOptions& options) {
  auto parameters = parse_pairs(argument, "a parameter of ADIOS2's engine BP5");
  for (const auto& [key, value] : parameters)
    if (std::find(adios2_parameters.begin(), adios2_parameters.end(), key) == adios2_parameters.end())
      throw Error(ErrorKind::usage, fmt::format("\"{}\" is none of the parameters that can be set: {}", key,
                                                fmt::join(adios2_parameters, ", ")));
  options.mpi_hints = std::move(parameters);
}
#else
constexpr std::unique_ptr<Sink> (*create_adios2)(const SinkContext&) = nullptr;
void parse_adios2(const std::string&, WriteOptions&) {
  throw Error(
      ErrorKind::usage,
      "this build has no ADIOS2: install one of version 2.9 or later that was built for its MPI, name "
      "its place to CMake (-D ADIOS2_DIR=...) and build again");
}
#endif

/// Reads "N", "N,send" and "N,isend".
void parse_ranks(const std::string& argument, WriteOptions& options) {
  const auto comma = argument.find(',');
  const auto way = comma == std::string::npos ? "isend" : argument.substr(comma + 1);
  if (way != "send" && way != "isend")
    throw Error(ErrorKind::usage, fmt::format("\"{}\" is neither send nor isend", way));
  options.writers = parse_count(argument.substr(0, comma), "number of ranks", max_writers, 1);
  options.send_waits = way == "send";
}

void parse_processes(const std::string& argument, WriteOptions& options) {
  options.writers = parse_count(argument, "number of processes", max_writers, 1);
}

/// One process would leave nothing to take turns with.
void parse_turns(const std::string& argument, WriteOptions& options) {
  options.writers = parse_count(argument, "number of processes", max_writers, 2);
}

bool can_be_joined(const SinkTraits& sink) {
  return sink.any_source && sink.joins;
}
constexpr const char* a_joinable_sink = "a sink into which other processes can write";

constexpr std::array strategy_table{
    StrategyEntry{.name = "auto",
                  .form = "auto",
                  .parse = parse_nothing,
                  .argument = no_argument,
                  .buffers = [](const WriteOptions& options) { return options.buffers; },
                  .make = make_threads_writer,  // where no session measures and chooses
                  .serves = [](const SinkTraits& sink) { return sink.any_thread; },
                  .needs = "a sink that leaves a choice: one that takes samples on any thread"},
    StrategyEntry{.name = "blocking",
                  .form = "blocking",
                  .parse = parse_nothing,
                  .argument = no_argument,
                  .buffers = [](const WriteOptions&) { return 1; },
                  .make = make_blocking_writer,
                  .serves = [](const SinkTraits&) { return true; },
                  .needs = "nothing"},
    StrategyEntry{.name = "threads",
                  .form = "threads[:BUFFERS]",
                  .parse = parse_buffers,
                  .argument = [](const WriteOptions& options) { return fmt::format(":{}", options.buffers); },
                  .buffers = [](const WriteOptions& options) { return options.buffers; },
                  .make = make_threads_writer,
                  .serves = [](const SinkTraits& sink) { return sink.any_thread; },
                  .needs = "a sink that takes samples on any thread"},
    StrategyEntry{
        .name = "ranks",
        .form = "ranks[:N[,send|,isend]]",
        .parse = parse_ranks,
        .argument = ranks_argument,
        .buffers = [](const WriteOptions& options) { return options.send_waits ? 1 : options.buffers; },
        .make = make_ranks_writer,
        .serves = can_be_joined,
        .needs = a_joinable_sink},
    StrategyEntry{.name = "spawn",
                  .form = "spawn[:N]",
                  .parse = parse_processes,
                  .argument = [](const WriteOptions& options) { return fmt::format(":{}", options.writers); },
                  .buffers = [](const WriteOptions& options) { return options.buffers; },
                  .make = make_spawn_writer,
                  .serves = can_be_joined,
                  .needs = a_joinable_sink},
    StrategyEntry{.name = "spawn-each",
                  .form = "spawn-each[:N]",
                  .parse = parse_turns,
                  .argument = [](const WriteOptions& options) { return fmt::format(":{}", options.writers); },
                  .buffers = [](const WriteOptions& options) { return options.buffers; },
                  .make = make_spawn_writer,
                  .serves = [](const SinkTraits& sink) { return sink.joins && sink.splits; },
                  .needs = "a sink that can put each sample into a file of its own",
                  .splits = true},
    StrategyEntry{.name = "leaders",
                  .form = "leaders[:GROUP[,buffers=N]]",
                  .parse = parse_leaders,
                  .argument = leaders_argument,
                  .buffers = [](const WriteOptions& options) { return options.buffers; },
                  .make = make_leaders_writer,
                  .serves = [](const SinkTraits& sink) { return sink.any_thread && sink.any_source; },
                  .needs = "a sink that takes samples of several ranks on any thread"},
    StrategyEntry{.name = "uring",
                  .form = "uring[:BUFFERS]",
                  .parse = parse_buffers,
                  .argument = [](const WriteOptions& options) { return fmt::format(":{}", options.buffers); },
                  .buffers = [](const WriteOptions& options) { return options.buffers; },
                  .make = make_uring_writer,
                  .serves = [](const SinkTraits& sink) { return sink.places; },
                  .needs = "a sink whose samples have known places in a plain file"},
};

constexpr std::array sink_table{
    SinkEntry{.name = "hdf5",
              .form = "hdf5",
              .parse = parse_nothing,
              .argument = no_argument,
              .create = create_hdf5_sink,
              .traits = {.any_thread = true,
                         .any_source = true,
                         .joins = true,
                         .places = true,
                         .rewrites = true,
                         .splits = true,
                         .directories = true,
                         .row_files = true}},
    SinkEntry{.name = "rsf",
              .form = "rsf",
              .parse = parse_nothing,
              .argument = no_argument,
              .create = create_rsf_sink,
              .traits = {.any_thread = true,
                         .any_source = true,
                         .joins = true,
                         .places = true,
                         .rewrites = true,
                         .one_file = false,
                         .resumes = false}},
    SinkEntry{
        .name = "hdf5-chunked",
        .form = "hdf5-chunked[:LEVEL]",
        .parse = parse_level,
        .argument = [](const WriteOptions& options) { return fmt::format(":{}", options.deflate_level); },
        .create = create_hdf5_chunked_sink,
        .traits = {.any_thread = true, .any_source = false, .joins = false, .places = false, .grows = true}},
    SinkEntry{
        .name = "mpiio",
        .form = "mpiio[:KEY=VALUE,...]",
        .parse = parse_hints,
        .argument = hints_argument,
        .create = create_mpiio_sink,
        .traits =
            {.any_thread = false, .any_source = true, .places = false, .rewrites = true, .hints = true}},
    SinkEntry{.name = "hdf5-parallel",
              .form = "hdf5-parallel[:KEY=VALUE,...]",
              .parse = parse_hdf5_parallel,
              .argument = hints_argument,
              .create = create_hdf5_parallel_sink,
              .traits = {.any_thread = false, .any_source = false, .places = false, .hints = true}},
    SinkEntry{
        .name = "pnetcdf",
        .form = "pnetcdf[:KEY=VALUE,...]",
        .parse = parse_pnetcdf,
        .argument = hints_argument,
        .create = create_pnetcdf,
        .traits = {.any_thread = false, .any_source = false, .hdf5 = false, .hints = true, .resumes = false}},
    SinkEntry{
        .name = "adios2",
        .form = "adios2[:KEY=VALUE,...]",
        .parse = parse_adios2,
        .argument = hints_argument,
        .create = create_adios2,
        .traits =
            {.any_thread = false, .any_source = false, .hdf5 = false, .one_file = false, .resumes = false}},
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

bool can_resume(const WriteOptions& options) {
  return find_sink(options.sink).traits.resumes;
}

void check_resumes(const WriteOptions& options) {
  if (can_resume(options)) return;
  throw Error(ErrorInfo{.kind = ErrorKind::usage,
                        .message = fmt::format("a run cannot resume in a file of --sink {}", options.sink),
                        .path = {},
                        .hint = "write with another sink from the start, such as hdf5, or without stops"});
}

std::unique_ptr<Sink> create_sink(SinkContext context) {
  context.splits_samples = splits_samples(context.options);
  context.buffers = buffer_count(context.options);
  return find_sink(context.options.sink).create(context);
}

std::unique_ptr<Writer> create_writer(WriterContext context) {
  context.buffers = buffer_count(context.options);
  context.splits_samples = splits_samples(context.options);
  context.strategy = strategy_text(context.options);
  return find_strategy(context.options.strategy).make(context);
}

namespace {

void check_directories(const SinkEntry& sink, const WriteOptions& options) {
  if (options.directories.empty()) return;
  if (splits_samples(options))
    throw Error(ErrorInfo{.kind = ErrorKind::usage,
                          .message = fmt::format("several directories (write.directories, --directories) do "
                                                 "not go with --write {}, which has one of its own",
                                                 options.strategy),
                          .path = {},
                          .hint = "--write spawn:N, or one directory"});
  if (sink.traits.directories) return;
  std::vector<const char*> able;
  for (const auto& entry : sinks())
    if (entry.traits.directories) able.push_back(entry.name);
  throw Error(ErrorInfo{
      .kind = ErrorKind::usage,
      .message = fmt::format(
          "several directories (write.directories, --directories) do not go with --sink {}", sink.name),
      .path = {},
      .hint = fmt::format("--sink {}, or one directory", fmt::join(able, " or "))});
}

void add_hint(const char* key, std::int64_t value, mpi::Hints& hints) {
  if (value == 0) return;
  const auto text = std::to_string(value);
  for (const auto& [known, other] : hints)
    if (known == key && other != text)
      throw Error(
          ErrorInfo{.kind = ErrorKind::usage,
                    .message = fmt::format("stripes on Lustre (write.lustre_count, write.lustre_size) "
                                           "say {}={}, and the sink's hints {}={}",
                                           key, text, key, other),
                    .path = {},
                    .hint = "leave one of them out"});
    else if (known == key)
      return;
  hints.emplace_back(key, text);
}

void fit_lustre(const SinkEntry& sink, WriteOptions& options) {
  if (!options.lustre.given()) return;
  if (!options.directories.empty() || splits_samples(options) || !sink.traits.one_file)
    throw Error(ErrorInfo{.kind = ErrorKind::usage,
                          .message = "stripes on Lustre (write.lustre_count, write.lustre_size) are of the "
                                     "output file, and the samples go into others",
                          .path = {},
                          .hint = "have new files of their directories striped, by lfs setstripe DIRECTORY"});
  if (!sink.traits.hints) return;
  add_hint("striping_factor", options.lustre.count, options.mpi_hints);
  add_hint("striping_unit", options.lustre.bytes, options.mpi_hints);
}

}  // namespace

void fit_strategy(WriteOptions& options) {
  const auto& sink = find_sink(options.sink);
  check_directories(sink, options);
  fit_lustre(sink, options);
  const auto& strategy = find_strategy(options.strategy);
  if (strategy.serves(sink.traits)) return;
  std::vector<const char*> serving;
  for (const auto& entry : strategies())
    if (entry.serves(sink.traits)) serving.push_back(entry.name);
  if (options.strategy_given)
    throw Error(ErrorInfo{.kind = ErrorKind::usage,
                          .message = fmt::format("--write {} does not go with --sink {}: it needs {}",
                                                 strategy.name, sink.name, strategy.needs),
                          .path = {},
                          .hint = fmt::format("--write {}, or another sink", fmt::join(serving, " or "))});
  options.strategy = serving.front();
}

bool places_rows(const WriteOptions& options) {
  return find_sink(options.sink).traits.row_files && !splits_samples(options);
}

std::string strategy_text(const WriteOptions& options) {
  return options.strategy + find_strategy(options.strategy).argument(options);
}

std::string sink_text(const WriteOptions& options) {
  return options.sink + find_sink(options.sink).argument(options);
}

bool splits_samples(const WriteOptions& options) {
  return find_strategy(options.strategy).splits;
}

bool writes_hdf5(const WriteOptions& options) {
  return find_sink(options.sink).traits.hdf5;
}

int buffer_count(const WriteOptions& options) {
  return find_strategy(options.strategy).buffers(options);
}

}  // namespace tailrace::output
