// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <optional>
#include <span>

#include "../unit/output_pattern.hpp"
#include "error_of.hpp"
#include "h5/file.hpp"
#include "h5/parallel.hpp"
#include "mpi/library.hpp"
#include "mpi/verdict.hpp"
#include "output/registry/create.hpp"
#include "output/registry/options.hpp"
#include "output/session/session.hpp"
#include "output/strategies/io_servers.hpp"
#include "tailrace/error.hpp"
#include "temp_dir.hpp"

/// Describes what the tests of sessions share: directories, heads and tails, streams of all kinds.
namespace tailrace::output::fixture {

using Split = std::vector<Box> (*)(Index3 domain, int parts);

/// Name of a strategy or sink, of its form in the registry.
inline std::string name_of(const std::string& form) {
  return form.substr(0, form.find_first_of("[:"));
}

/// Returns how a strategy is given in tests whose ranks all compute and which know who writes.
inline std::vector<std::string> variants_of(const std::string& name) {
  if (name == "threads") return {"threads:1", "threads", "threads:4"};
  if (name == "leaders") return {"leaders", "leaders:2", "leaders:3,buffers=1"};
  if (name == "uring") return {"uring:1", "uring"};
  if (name == "ranks" || name == "spawn") return {};  // see ways_on, and output_io_servers.cpp
  if (name == "spawn-each") return {};                // lays files out otherwise; see output_io_servers.cpp
  if (name == "auto") return {};                      // changes who writes; see planner_auto.cpp
  return {name};
}

inline std::vector<std::string> all_strategies() {
  std::vector<std::string> all;
  for (const auto& service : services())
    for (auto& variant : variants_of(name_of(service.strategy))) all.push_back(std::move(variant));
  return all;
}
inline const std::vector<std::string> strategies = all_strategies();

/// Sinks of this build whose files are HDF5.
inline std::vector<std::string> all_sinks() {
  std::vector<std::string> sinks;
  for (const auto& service : services())
    for (const auto& form : service.sinks) {
      const auto name = name_of(form);
      if (!writes_hdf5(parse_options({.write = {}, .sink = name, .pace = {}, .fault = {}}))) continue;
      // MPICH waits in collective calls without giving the core away, which takes minutes where ranks share
      // cores: there, sinks_all.cpp tests it on two ranks.
      if (name == "hdf5-parallel" && !mpi::is_open_mpi()) continue;
      if (std::find(sinks.begin(), sinks.end(), name) == sinks.end()) sinks.push_back(name);
    }
  return sinks;
}
inline const std::vector<std::string> sinks = all_sinks();
/// Sinks whose ranks write together.
inline bool is_collective(const std::string& sink) {
  return sink == "hdf5-parallel";
}

/// Boxes for tests of many datasets: fewer where ranks write together, or each dataset has files of its own.
inline std::size_t box_count(const std::string& sink) {
  return is_collective(sink) || sink == "rsf" ? 16 : 256;
}

/// A way into the file.
struct Way {
  std::string strategy = "threads", sink = "hdf5";
};

inline WriteOptions options_of(const Way& way, const std::string& fault = {}) {
  return parse_options({.write = way.strategy, .sink = way.sink, .pace = {}, .fault = fault});
}

/// The strategies over the sinks that they serve.
inline std::vector<Way> all_ways() {
  std::vector<Way> ways;
  for (const auto& sink : sinks)
    for (const auto& strategy : strategies) {
      if (sink == "rsf" && strategy.find(':') != std::string::npos) continue;  // writes as hdf5 does
      try {
        options_of({strategy, sink});
      } catch (const Error&) {
        continue;  // refused, which has tests of its own
      }
      ways.push_back({strategy, sink});
    }
  return ways;
}
inline const std::vector<Way> ways = all_ways();

/// Ranks of `comm` that only write, with a strategy.
inline int writing_ranks(const std::string& strategy) {
  const auto options = parse_options({.write = strategy, .sink = {}, .pace = {}, .fault = {}});
  return options.strategy == "ranks" ? options.writers : 0;
}

/// The ways that work on as many ranks as `comm` has.
inline std::vector<Way> ways_on(mpi::CommView comm) {
  auto fitting = ways;
  for (const char* strategy : {"ranks:1", "ranks:2,send", "ranks:3"})
    if (2 * writing_ranks(strategy) <= comm.size()) fitting.push_back({strategy, "hdf5"});
  return fitting;
}

/// One of the ways to share a domain, by turns: loops over other axes meet every split on one of the numbers
/// of ranks.
inline Split next_split(std::size_t turn) {
  constexpr Split splits[] = {pattern::slabs, pattern::pencils, pattern::one_owner};
  return splits[turn % std::size(splits)];
}

/// The process that writes the samples of `rank`, of `size` ranks that compute on one machine.
inline int writer_of(const Way& way, int rank, int size) {
  if (way.sink == "hdf5-chunked") return 0;
  const WriteOptions options = options_of(way);
  if (options.strategy == "ranks") return size + rank * options.writers / size;
  if (options.strategy != "leaders") return rank;
  const int group = options.group == 0 ? size : options.group;
  return rank / group * group;
}

/// A directory of the root that all ranks know.
class SharedDir {
 public:
  explicit SharedDir(mpi::CommView comm) {
    if (comm.is_root()) directory_.emplace();
    path_ = mpi::broadcast(comm, directory_ ? directory_->path() : "", 0);
  }
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::optional<test::TempDir> directory_;
  std::string path_;
};

inline FileHead head() {
  const std::vector<std::uint64_t> zero{0};
  FileHead result;
  StaticDataset index;
  index.spec.path = "/t_index";
  index.spec.shape = {1, 1, 1};
  index.spec.type = h5::ElementType::uint64;
  index.values.assign(sizeof(std::uint64_t), std::byte{0});
  result.datasets.push_back(index);
  result.attributes.push_back({.name = "created_by", .value = std::string("a test"), .reserved_bytes = 0});
  result.attributes.push_back({.name = "run_time", .value = std::string(), .reserved_bytes = 64});
  return result;
}

inline FileTail tail(StepIndex steps) {
  const auto value = static_cast<std::uint64_t>(steps);
  const auto bytes = std::as_bytes(std::span(&value, 1));
  FileTail result;
  result.attributes.emplace_back("run_time", "12.5 s");
  result.datasets.emplace_back("/t_index", std::vector<std::byte>(bytes.begin(), bytes.end()));
  return result;
}

inline std::vector<std::uint64_t> commit_mark(const h5::File& file) {
  std::vector<std::uint64_t> slots(file.shape(commit_mark_path).back());
  file.read(commit_mark_path, std::span(slots));
  return slots;
}

inline constexpr Cadence six_steps{.first = 1, .every = 1, .last = 6};

inline Stream stream(const std::string& name, const Selection& selection, Reduction reduction, Index3 domain,
                     Cadence cadence = six_steps, h5::ElementType type = h5::ElementType::float32) {
  return pattern::make_stream(name, selection, reduction, cadence, type, domain);
}

/// Boxes of all kinds: overlapping, full rows, single points, reaching over several ranks.
inline Boxes many_boxes(Index3 n, std::size_t count) {
  Boxes boxes;
  for (std::size_t i = 0; i < count; ++i) {
    const auto k = static_cast<std::int64_t>(i);
    const Index3 lo{k * 5 % n.x, k * 3 % n.y, k * 7 % n.z};
    const Index3 size{1 + k % 4, 1 + k % 3, 1 + k % 6};
    boxes.boxes.push_back(
        {lo, {std::min(lo.x + size.x, n.x), std::min(lo.y + size.y, n.y), std::min(lo.z + size.z, n.z)}});
  }
  return boxes;
}

inline Points some_points(Index3 n) {
  return {
      {{n.x - 1, n.y - 1, n.z - 1}, {0, 0, 0}, {1, 0, 0}, {2, 0, 0}, {0, 0, 0}, {n.x / 2, n.y / 2, n.z / 2}}};
}

inline std::vector<Stream> streams_of_all_kinds(Index3 n) {
  const Boxes boxes = many_boxes(n, 9);
  const Cadence sparse{.first = 2, .every = 3, .last = 6};
  return {stream("whole", Whole{}, Reduction::none, n),
          stream("sparse", Whole{}, Reduction::none, n, sparse),
          stream("points", some_points(n), Reduction::none, n),
          stream("boxes", boxes, Reduction::none, n),
          stream("doubles", boxes, Reduction::none, n, sparse, h5::ElementType::float64),
          stream("max", Whole{}, Reduction::max, n),
          stream("min", some_points(n), Reduction::min, n, sparse),
          stream("rms", boxes, Reduction::rms, n),
          stream("mean", boxes, Reduction::mean, n),
          stream("last", Whole{}, Reduction::final, n),
          stream("last_boxes", boxes, Reduction::final, n)};
}

/// Runs `body(ranks that compute, options, services)` with I/O servers for the way; ranks that only write
/// serve meanwhile. Returns what the body returned or threw (`Error`) on the root, on all ranks.
/// @collective{comm}
template <class Body>
std::optional<ErrorInfo> with_io_servers(mpi::CommView comm, const WriteOptions& options, const Body& body) {
  std::optional<ErrorInfo> error;
  {
    IoServers io_servers(comm, options, create_sink);
    if (io_servers.computes()) {
      try {
        error = body(io_servers.compute_comm(), options, SessionServices{.io_servers = &io_servers});
      } catch (const Error& thrown) {
        error = thrown.info();
      }
    } else {
      io_servers.serve();
    }
  }
  try {
    mpi::agree(comm, comm.is_root() ? error : std::nullopt);
  } catch (const Error& shared) {
    return shared.info();
  }
  return {};
}

using test::error_of;

/// A run whose fields have the values of the pattern.
struct PatternRun {
  Index3 domain;
  std::vector<Stream> streams;
  Split split = pattern::slabs;
  StepIndex steps = 6;
};

/// Runs a session; returns the error of `finish`. @collective{comm}
inline std::optional<ErrorInfo> run_pattern(mpi::CommView comm, const std::string& path,
                                            const PatternRun& run, const WriteOptions& options,
                                            const FileHead& file_head = head()) {
  const Box own = run.split(run.domain, comm.size())[static_cast<std::size_t>(comm.rank())];
  pattern::Field<float> field(own);
  const FieldLookup lookup = [&](const std::string&) { return field.view(); };
  trace::Log log("main");
  Session session(comm, path, make_plan(run.streams, own, run.domain), file_head, options, log);
  for (StepIndex step = 1; step <= run.steps; ++step) {
    field.set(step);
    session.sample(step, lookup);
  }
  session.sample_final(run.steps, lookup);
  return error_of([&] { session.finish(run.steps, tail(run.steps)); });
}

}  // namespace tailrace::output::fixture
