// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <filesystem>
#include <map>

#include "h5/file.hpp"
#include "mpi/file.hpp"
#include "mpi/library.hpp"
#include "mpi_case.hpp"
#include "output_fixture.hpp"

using namespace tailrace;
using namespace tailrace::output;
using namespace tailrace::output::fixture;

namespace {

/// Those whose files are to be as that of hdf5.
std::vector<std::string> sinks_to_compare(mpi::CommView comm) {
  std::vector<std::string> list{"mpiio"};
  const int max_ranks = mpi::is_open_mpi() ? 7 : 2;  // see fixture::all_sinks
  if (h5::has_parallel() && comm.size() <= max_ranks) list.emplace_back("hdf5-parallel");
  return list;
}

struct Dataset {
  h5::Shape shape;
  h5::ElementType type = h5::ElementType::other;
  std::optional<std::uint64_t> place;
  std::vector<std::byte> bytes;
  friend bool operator==(const Dataset&, const Dataset&) = default;
};

/// Everything that a reader sees in a file, and where its datasets lie.
std::map<std::string, Dataset> contents(const std::string& path) {
  std::map<std::string, Dataset> all;
  const auto file = h5::File::open(path);
  for (const auto& name : file.dataset_paths()) {
    Dataset found{.shape = file.shape(name), .type = file.type(name), .place = file.place(name), .bytes = {}};
    const auto count = h5::element_count(found.shape);
    found.bytes.resize(count * h5::size_bytes(found.type));
    file.read_range(name, 0, count, found.type, found.bytes);
    all.emplace(name, std::move(found));
  }
  return all;
}

void write_pattern(mpi::CommView comm, const std::string& path, Index3 domain,
                   const std::vector<Stream>& streams, Split split, const WriteOptions& options) {
  const Box own = split(domain, comm.size())[static_cast<std::size_t>(comm.rank())];
  pattern::Field<float> field(own);
  const FieldLookup lookup = [&](const std::string&) { return field.view(); };
  trace::Log log("main");
  Session session(comm, path, make_plan(streams, own, domain), head(), options, log);
  for (StepIndex step = 1; step <= 6; ++step) {
    field.set(step);
    session.sample(step, lookup);
    if (step == 4) CHECK(session.flush_all() == 4);
  }
  session.sample_final(6, lookup);
  session.finish(6, tail(6));
}

/// A stream whose datasets have the extents of their boxes, as those of case files.
Stream shaped_stream(const std::string& name, const Boxes& boxes, Reduction reduction, Index3 domain) {
  auto result = stream(name, boxes, reduction, domain);
  for (std::size_t i = 0; i < boxes.boxes.size(); ++i) {
    const Index3 n = boxes.boxes[i].extents();
    auto& shape = result.datasets[i].shape;
    shape = {shape[0], static_cast<std::uint64_t>(n.z), static_cast<std::uint64_t>(n.y),
             static_cast<std::uint64_t>(n.x)};
  }
  return result;
}

}  // namespace

MPI_CASE("files of mpiio and hdf5-parallel are those of hdf5: places, shapes and bytes",
         ranks{1, 2, 3, 4, 7}) {
  const SharedDir directory(comm);
  for (const auto& [domain, split] : {std::pair<Index3, Split>(Index3{11, 7, 9}, pattern::slabs),
                                      {Index3{11, 7, 9}, pattern::pencils},
                                      {Index3{11, 7, 9}, pattern::one_owner},
                                      {Index3{3, 1, 2}, pattern::pencils}}) {
    auto streams = streams_of_all_kinds(domain);
    streams.push_back(shaped_stream("shaped", many_boxes(domain, 12), Reduction::none, domain));
    streams.push_back(shaped_stream("shaped_rms", many_boxes(domain, 12), Reduction::rms, domain));
    write_pattern(comm, directory.file("plain.h5"), domain, streams, split, options_of({}));
    for (const auto& sink : sinks_to_compare(comm)) {
      write_pattern(comm, directory.file("other.h5"), domain, streams, split,
                    options_of({.strategy = "blocking", .sink = sink}));
      if (comm.is_root()) CHECK(contents(directory.file("other.h5")) == contents(directory.file("plain.h5")));
      mpi::barrier(comm);
    }
  }
}

MPI_CASE("256 boxes of the collective sinks", ranks{1, 2}) {
  const Index3 domain{17, 13, 19};
  const SharedDir directory(comm);
  const std::vector<Stream> streams{shaped_stream("p", many_boxes(domain, 256), Reduction::none, domain),
                                    shaped_stream("m", many_boxes(domain, 256), Reduction::max, domain)};
  write_pattern(comm, directory.file("plain.h5"), domain, streams, pattern::pencils, options_of({}));
  for (const auto& sink : sinks_to_compare(comm)) {
    if (!is_collective(sink)) continue;
    write_pattern(comm, directory.file("other.h5"), domain, streams, pattern::pencils,
                  options_of({.strategy = "blocking", .sink = sink}));
    if (comm.is_root()) CHECK(contents(directory.file("other.h5")) == contents(directory.file("plain.h5")));
    mpi::barrier(comm);
  }
}

MPI_CASE("points in random order, more than are selected as blocks", ranks{1, 3, 7}) {
  const Index3 domain{11, 7, 9};
  const SharedDir directory(comm);
  Points points;
  for (std::int64_t i = 0; i < 700; ++i)
    points.points.push_back({i * 7 % domain.x, i * 5 % domain.y, i * 11 % domain.z});
  const std::vector<Stream> streams{stream("points", points, Reduction::none, domain),
                                    stream("mean", points, Reduction::mean, domain)};
  write_pattern(comm, directory.file("plain.h5"), domain, streams, pattern::slabs, options_of({}));
  for (const auto& sink : sinks_to_compare(comm)) {
    write_pattern(comm, directory.file("other.h5"), domain, streams, pattern::slabs,
                  options_of({.strategy = "blocking", .sink = sink}));
    if (comm.is_root()) CHECK(contents(directory.file("other.h5")) == contents(directory.file("plain.h5")));
    mpi::barrier(comm);
  }
}

MPI_CASE("hints that MPI-IO does not take are reported, the others are in effect", ranks{1, 3}) {
  const SharedDir directory(comm);
  const auto path = directory.file("out.h5");
  const Plan plan = make_plan({}, comm.is_root() ? Box::whole({4, 4, 4}) : Box{}, {4, 4, 4});
  trace::Log log("main");
  const auto warning_of = [&](const char* sink) {
    Session session(comm, path, plan, head(), options_of({.strategy = "blocking", .sink = sink}), log);
    const auto warning = fmt::format("{}", fmt::join(session.warnings(), "; "));
    session.finish(0, {});
    return warning;
  };
  CHECK(warning_of("mpiio").empty());
  CHECK(warning_of("mpiio:cb_buffer_size=1048576").empty());
  const auto reported = warning_of("mpiio:cb_buffer_size=1048576,no_such_hint=7");
  // Open MPI says of all hints that they are in effect.
  CHECK((reported.empty() || reported == "MPI-IO does not take the hints no_such_hint=7"));
  if (!mpi::is_open_mpi()) CHECK(reported.empty() != comm.is_root());
  mpi::File file(comm, path, {{"cb_buffer_size", "1048576"}});
  CHECK(mpi::not_taken({{"cb_buffer_size", "1048576"}}, file.hints()).empty());
  CHECK(mpi::not_taken({{"cb_buffer_size", "5"}}, file.hints()).size() == 1);
  file.close();
}

MPI_CASE("a hint that MPI cannot hold is the same error on all ranks", ranks{1, 3}) {
  const SharedDir directory(comm);
  const Plan plan = make_plan({}, Box{}, {4, 4, 4});
  trace::Log log("main");
  WriteOptions options = options_of({.strategy = "blocking", .sink = "mpiio"});
  options.mpi_hints = {{std::string(5000, 'k'), "1"}};
  const auto error =
      error_of([&] { Session session(comm, directory.file("out.h5"), plan, head(), options, log); });
  REQUIRE(error);
  CHECK(error->message.find("MPI refuses the hint kkk") != std::string::npos);
  mpi::barrier(comm);
  CHECK(!std::filesystem::exists(directory.file("out.h5")));
}

MPI_CASE("the memory of each sink is bounded and known", ranks{1, 2}) {
  const SharedDir directory(comm);
  const Index3 domain{8, 8, 8};
  const Box own = pattern::slabs(domain, comm.size())[static_cast<std::size_t>(comm.rank())];
  trace::Log log("main");
  const auto plan = make_plan({stream("p", Whole{}, Reduction::none, domain)}, own, domain);
  for (const auto& sink : sinks) {
    const WriteOptions options = options_of({.strategy = sink == "hdf5" ? "threads:3" : "", .sink = sink});
    Session session(comm, directory.file("out.h5"), plan, head(), options, log);
    const auto beside = session.memory_bytes() - plan.memory_bytes(buffer_count(options));
    CHECK((sink == "hdf5-chunked" ? beside >= 8 << 20 && beside < 9 << 20 : beside == 0));
    CHECK(session.memory_bytes() >= buffer_count(options) * 4 * own.volume());
    session.finish(0, tail(0));
  }
}
