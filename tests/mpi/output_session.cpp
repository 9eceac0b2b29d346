// SPDX-License-Identifier: BSD-3-Clause
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <optional>
#include <span>

#include "h5/file.hpp"
#include "mpi_case.hpp"
#include "output_fixture.hpp"

using namespace tailrace;
using namespace tailrace::output;
using namespace tailrace::output::fixture;

namespace {

/// A small file system in memory on a directory, where this process may mount one.
class SmallDisk {
 public:
  SmallDisk(mpi::CommView comm, std::string path, const char* size)
      : path_(std::move(path)), root_(comm.is_root()) {
    const bool done = !root_ || mount("tailrace-test", path_.c_str(), "tmpfs", 0, size) == 0;
    mounted_ = mpi::min(comm, std::int64_t{done}) == 1;
    if (root_ && !mounted_) fmt::print("skipped: this process may not mount a small file system\n");
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;
  ~SmallDisk() {
    if (root_ && mounted_) umount2(path_.c_str(), MNT_DETACH);
  }
  [[nodiscard]] bool mounted() const { return mounted_; }

 private:
  std::string path_;
  bool root_, mounted_ = false;
};

/// One run of a session over pattern fields.
struct Fixture {
  Index3 domain;
  std::vector<Stream> streams;
  Split split = pattern::slabs;
  StepIndex steps = 6;
  Way way = {};
  std::string fault = {};
};

/// Returns what I/O servers say that they have written; 0 but on the root.
std::int64_t bytes_of_io_servers(mpi::CommView comm, IoServers& io_servers) {
  std::int64_t bytes = 0;
  if (comm.is_root())
    for (const auto& writer : io_servers.report()) bytes += writer.output.bytes;
  return bytes;
}

/// Runs it on the ranks that compute; returns the error of `finish`, the same on all if they are right.
std::optional<ErrorInfo> run_session(mpi::CommView comm, const std::string& path, const Fixture& run,
                                     const WriteOptions& options, const SessionServices& services) {
  const Box own = run.split(run.domain, comm.size())[static_cast<std::size_t>(comm.rank())];
  pattern::Field<float> field(own);
  trace::Log log("main");
  Session session(comm, path, make_plan(run.streams, own, run.domain), head(), options, log,
                  {.services = services});
  int lookups = 0;
  const FieldLookup lookup = [&](const std::string& quantity) {
    CHECK(quantity == "p");
    ++lookups;
    return field.view();
  };
  field.set(0);
  for (StepIndex step = 1; step <= run.steps; ++step) {
    mpi::barrier(comm);  // as the exchanges of a simulation's step keep its ranks together
    field.set(step);
    session.sample(step, lookup);
  }
  session.sample_final(run.steps, lookup);
  if (own.empty()) CHECK(lookups == 0);
  try {
    session.finish(run.steps, tail(run.steps));
  } catch (const Error& error) {
    return error.info();
  }
  CHECK(!session.failure());
  const trace::Log& writing = session.writer_log() != nullptr ? *session.writer_log() : log;
  std::int64_t written = mpi::sum(comm, writing.total(trace::Kind::write).bytes);
  if (services.io_servers != nullptr && !services.io_servers->connections(options.strategy).empty())
    written = mpi::sum(comm, bytes_of_io_servers(comm, *services.io_servers));
  CHECK(written == mpi::sum(comm, session.account().bytes));
  return {};
}

/// Runs it on all ranks, some of which only write if the strategy wants it so.
std::optional<ErrorInfo> run_session(mpi::CommView comm, const std::string& path, const Fixture& run) {
  return with_io_servers(
      comm, options_of(run.way, run.fault),
      [&](mpi::CommView computing, const WriteOptions& options, const SessionServices& services) {
        return run_session(computing, path, run, options, services);
      });
}

/// Returns what a reduction of the pattern over the steps of `cadence` up to `last` is, computed as the
/// definition says.
float expected(const Stream& stream, Index3 point, StepIndex last) {
  const auto type_max = static_cast<double>(std::numeric_limits<float>::max());
  double min = type_max, max = -type_max, sum = 0, squares = 0, samples = 0;
  for (StepIndex step = 1; step <= last; ++step) {
    if (!stream.cadence.is_due(step)) continue;
    const double value = pattern::value(point, step);
    min = std::min(min, value);
    max = std::max(max, value);
    sum += value;
    squares += value * value;
    ++samples;
  }
  const double weight = samples > 0 ? 1 / samples : 0;
  switch (stream.reduction) {
    case Reduction::min:
      return static_cast<float>(min);
    case Reduction::max:
      return static_cast<float>(max);
    case Reduction::mean:
      return static_cast<float>(sum * weight);
    case Reduction::rms:
      return static_cast<float>(std::sqrt(squares * weight));
    case Reduction::final:
      return static_cast<float>(pattern::value(point, last));
    case Reduction::none:
      break;
  }
  return -1;
}

/// Compares one dataset with the definition of its stream; samples after `last` must read as 0.
void check_dataset(const h5::File& file, const Stream& stream, std::size_t part, Index3 domain,
                   StepIndex last) {
  const auto points = pattern::part_points(stream.selection, part, domain);
  std::vector<float> values(h5::element_count(stream.datasets[part].shape));
  file.read(stream.datasets[part].path, std::span(values));
  const std::size_t samples = points.empty() ? 0 : values.size() / points.size();
  std::size_t wrong = 0;
  for (std::size_t sample = 0; sample < samples; ++sample) {
    const StepIndex step = stream.cadence.first + static_cast<StepIndex>(sample) * stream.cadence.every;
    for (std::size_t i = 0; i < points.size(); ++i) {
      float wanted = step <= last ? static_cast<float>(pattern::value(points[i], step)) : 0.0F;
      if (stream.reduction != Reduction::none) wanted = expected(stream, points[i], last);
      wrong += values[sample * points.size() + i] != wanted;
    }
  }
  CHECK_MESSAGE(wrong == 0, stream.datasets[part].path);
}

std::uint64_t t_index(const h5::File& file) {
  std::vector<std::uint64_t> value(1);
  file.read("/t_index", std::span(value));
  return value[0];
}

/// Checks, on the root, everything that a run that went well has left.
void check_file(mpi::CommView comm, const std::string& path, const Fixture& run) {
  if (!comm.is_root()) return;
  const auto file = h5::File::open(path);
  for (const auto& stream : run.streams)
    for (std::size_t part = 0; part < stream.datasets.size(); ++part)
      check_dataset(file, stream, part, run.domain, run.steps);
  CHECK(t_index(file) == static_cast<std::uint64_t>(run.steps));
  CHECK(commit_mark(file) ==
        std::vector<std::uint64_t>(static_cast<std::size_t>(comm.size() - writing_ranks(run.way.strategy)),
                                   static_cast<std::uint64_t>(run.steps)));
  CHECK(file.text_attribute("/", "created_by") == "a test");
  CHECK(file.text_attribute("/", "run_time") == "12.5 s");
  CHECK(file.text_attribute(commit_mark_path, "data_type") == "long");
  CHECK(file.text_attribute(commit_mark_path, "domain_type") == "real");
}

/// Checks the first `count` samples of the whole domain in /p, those that the commit mark vouches for.
void check_samples(const h5::File& file, Index3 domain, StepIndex count) {
  if (count == 0) return;
  std::vector<float> values(static_cast<std::size_t>(count * domain.volume()));
  file.read_hyperslab("/p", {0, 0},
                      {static_cast<std::uint64_t>(count), static_cast<std::uint64_t>(domain.volume())},
                      std::span(values));
  const auto points = pattern::part_points(Whole{}, 0, domain);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < values.size(); ++i)
    wrong += values[i] != static_cast<float>(pattern::value(points[i % points.size()],
                                                            static_cast<StepIndex>(i / points.size()) + 1));
  CHECK(wrong == 0);
}

/// A run without faults, and its file.
void check_session(mpi::CommView comm, const SharedDir& directory, const Fixture& run) {
  CHECK(!run_session(comm, directory.file("out.h5"), run));
  check_file(comm, directory.file("out.h5"), run);
}

}  // namespace

// On these numbers each way of writing meets each split.
MPI_CASE("all kinds of streams, splits and strategies give the same file", shared_by{2, 3, 7}) {
  const Index3 domain{11, 7, 5};
  const SharedDir directory(comm);
  auto turn = static_cast<std::size_t>(comm.size());
  for (const auto& way : ways_on(comm)) {
    const Fixture run{
        .domain = domain, .streams = streams_of_all_kinds(domain), .split = next_split(turn++), .way = way};
    check_session(comm, directory, run);
  }
}

MPI_CASE("256 boxes, and a domain smaller than the number of ranks", shared_by{1, 2, 3, 4, 7}) {
  const SharedDir directory(comm);
  const Index3 domains[] = {{17, 13, 19}, {3, 1, 2}, {1, 1, 1}};
  auto turn = static_cast<std::size_t>(comm.size());  // so each way meets each domain
  for (const auto& way : ways_on(comm)) {
    const auto mine = turn++;
    if (comm.size() > 1 && mine % 2 == 1) continue;  // odd numbers of ranks leave these ways to even ones
    const Index3 domain = domains[mine % std::size(domains)];
    const Boxes boxes = many_boxes(domain, box_count(way.sink));
    const std::vector streams{stream("p", boxes, Reduction::none, domain),
                              stream("m", boxes, Reduction::max, domain)};
    const Fixture run{.domain = domain, .streams = streams, .split = pattern::pencils, .way = way};
    check_session(comm, directory, run);
  }
}

MPI_CASE("a run that stops early has its samples, reductions over them and the last state",
         shared_by{2, 3, 7}) {
  const Index3 domain{11, 7, 5};
  const SharedDir directory(comm);
  auto turn = static_cast<std::size_t>(comm.size());  // so each way meets each end
  for (const auto& way : ways_on(comm)) {
    const StepIndex steps = std::array{0, 1, 4}[turn++ % 3];
    const Fixture run{.domain = domain, .streams = streams_of_all_kinds(domain), .steps = steps, .way = way};
    check_session(comm, directory, run);
  }
}

MPI_CASE("reductions larger than a staging buffer are written in batches", ranks{1, 3}) {
  const Index3 domain{128, 96, 90};  // 4.2 MiB
  const SharedDir directory(comm);
  const Cadence two{.first = 1, .every = 1, .last = 2};
  for (const auto& sink : sinks) {
    const Fixture run{.domain = domain,
                      .streams = {stream("points", some_points(domain), Reduction::none, domain, two),
                                  stream("rms", Whole{}, Reduction::rms, domain, two),
                                  stream("last", Whole{}, Reduction::final, domain, two)},
                      .steps = 2,
                      .way = {.strategy = "", .sink = sink}};
    check_session(comm, directory, run);
  }
}

MPI_CASE("no streams at all still make a file", ranks{1, 2}) {
  const SharedDir directory(comm);
  for (const auto& way : ways_on(comm)) {
    const Fixture run{.domain = {4, 4, 4}, .streams = {}, .way = way};
    CHECK(!run_session(comm, directory.file("out.h5"), run));
    if (comm.is_root()) CHECK(t_index(h5::File::open(directory.file("out.h5"))) == 6);
  }
}

MPI_CASE("a failed write on one rank is the same error on all, and the commit mark says what is there",
         ranks{1, 2, 3, 4, 7}) {
  const Index3 domain{8, 7, 14};
  const SharedDir directory(comm);
  for (const auto& way : ways_on(comm)) {
    const int computing = comm.size() - writing_ranks(way.strategy);
    const int failing = writer_of(way, computing - 1, computing);
    const Fixture run{.domain = domain,
                      .streams = {stream("p", Whole{}, Reduction::none, domain)},
                      .way = way,
                      .fault = fmt::format("write:rank={},step=4,error=ENOSPC", failing)};
    const auto error = run_session(comm, directory.file("out.h5"), run);
    REQUIRE(error);
    CHECK(error->kind == ErrorKind::io);
    CHECK(error->rank == failing);
    CHECK(error->path == directory.file(way.sink == "rsf" ? "out.p.rsf@" : "out.h5"));
    CHECK(error->offset > 0);
    CHECK(error->message.find("No space left on device") != std::string::npos);
    if (!comm.is_root()) continue;
    const auto file = h5::File::open(directory.file("out.h5"));
    const auto slots = commit_mark(file);
    for (int rank = 0; rank < computing; ++rank) {
      const auto slot = slots[static_cast<std::size_t>(rank)];
      // Less if the step was gathered with earlier ones.
      const bool stops = is_collective(way.sink) || writer_of(way, rank, computing) == failing;
      CHECK((stops ? slot <= 3 : slot == 6));
    }
    CHECK(t_index(file) == 0);
    CHECK(file.text_attribute("/", "run_time") == "12.5 s");
    check_samples(file, domain, static_cast<StepIndex>(*std::min_element(slots.begin(), slots.end())));
  }
}

MPI_CASE("what is taken while the writer is busy leaves in larger writes", ranks{1, 3}) {
  const Index3 domain{8, 6, 12};
  const SharedDir directory(comm);
  const Cadence cadence{.first = 1, .every = 1, .last = 60};
  const Box own = pattern::slabs(domain, comm.size())[static_cast<std::size_t>(comm.rank())];
  pattern::Field<float> field(own);
  trace::Log log("main");
  const std::vector<Stream> streams{
      stream("p", Boxes{{{{0, 0, 0}, {8, 6, 4}}}}, Reduction::none, domain, cadence)};
  Session session(comm, directory.file("out.h5"), make_plan(streams, own, domain), head(),
                  options_of({}, "stall:nth=1,s=200ms"), log);
  for (StepIndex step = 1; step <= 60; ++step) {
    field.set(step);
    session.sample(step, [&](const std::string&) { return field.view(); });
  }
  session.finish(60, tail(60));
  if (comm.is_root()) CHECK(session.account().writes < 30);
  check_file(comm, directory.file("out.h5"), {.domain = domain, .streams = streams, .steps = 60});
}

MPI_CASE("space is set aside for the whole run and given back when it stops early", ranks{1, 2}) {
  const SharedDir directory(comm);
  const auto path = directory.file("out.h5");
  const Index3 domain{64, 64, 64};
  const Box own = pattern::slabs(domain, comm.size())[static_cast<std::size_t>(comm.rank())];
  pattern::Field<float> field(own);
  trace::Log log("main");
  const auto plan = make_plan({stream("p", Whole{}, Reduction::none, domain)}, own, domain);
  Session session(comm, path, plan, head(), options_of({}), log);
  const auto blocks_bytes = [&] {
    struct stat status {};
    CHECK(stat(path.c_str(), &status) == 0);
    return static_cast<std::int64_t>(status.st_blocks) * 512;
  };
  const auto set_aside = blocks_bytes();
  session.sample(1, [&](const std::string&) { return field.view(); });
  session.finish(1, tail(1));
  if (!comm.is_root()) return;
  if (set_aside >= plan.file_bytes())
    CHECK(blocks_bytes() < plan.file_bytes() / 3);
  else
    fmt::print("skipped: this file system sets no blocks aside\n");
}

MPI_CASE("short writes and stalls change nothing in the file", ranks{1, 3}) {
  const Index3 domain{11, 7, 5};
  const SharedDir directory(comm);
  for (const auto& way : ways_on(comm)) {
    const Fixture run{.domain = domain,
                      .streams = streams_of_all_kinds(domain),
                      .way = way,
                      .fault = "short:probability=0.5,seed=3;stall:nth=3,s=10ms"};
    check_session(comm, directory, run);
  }
}

MPI_CASE("a file that cannot be created is the same error on all and leaves nothing", ranks{1, 2, 3}) {
  const SharedDir directory(comm);
  const auto path = directory.file("missing/out.h5");
  for (const auto& sink : sinks) {
    const Fixture run{.domain = {4, 4, 4}, .streams = {}, .way = {.strategy = "", .sink = sink}};
    const auto error = run_session(comm, path, run);
    REQUIRE(error);
    CHECK(error->rank == 0);
    CHECK(error->path == path);
    CHECK(error->message.find("No such file or directory") != std::string::npos);
    CHECK(!std::filesystem::exists(directory.file("missing")));
  }
}

MPI_CASE("a full disk ends with the same error on all and a file that opens", ranks{1, 2, 3, 7}) {
  const SharedDir directory(comm);
  const Index3 domain{16, 16, 28};
  for (const auto& way : ways_on(comm)) {
    const SmallDisk disk(comm, directory.path(), way.sink == "hdf5-chunked" ? "size=20k" : "size=256k");
    if (!disk.mounted()) return;
    const Cadence cadence{.first = 1, .every = 1, .last = 20};
    const Fixture run{.domain = domain,
                      .streams = {stream("p", Whole{}, Reduction::none, domain, cadence),
                                  stream("m", Whole{}, Reduction::max, domain, cadence)},
                      .steps = 20,
                      .way = way};
    const auto error = run_session(comm, directory.file("out.h5"), run);
    REQUIRE(error);
    CHECK_MESSAGE(error->message.find("No space left on device") != std::string::npos, error->message);
    if (!comm.is_root()) continue;
    const auto file = h5::File::open(directory.file("out.h5"));
    const auto slots = commit_mark(file);
    const auto recorded = static_cast<StepIndex>(*std::min_element(slots.begin(), slots.end()));
    // A background writer may not have begun, or have put nothing of the structure into the file.
    CHECK(recorded >= (way.strategy == "blocking" && way.sink != "hdf5-chunked" ? 3 : 0));
    CHECK(recorded < 20);
    check_samples(file, domain, recorded);
  }
}

MPI_CASE("a disk too full for the file's head leaves no file and no crash", ranks{1, 2, 3}) {
  const SharedDir directory(comm);
  const SmallDisk disk(comm, directory.path(), "size=8k");
  if (!disk.mounted()) return;
  const Index3 domain{4, 4, 4};
  const Plan plan = make_plan({}, comm.is_root() ? Box::whole(domain) : Box{}, domain);
  auto large = head();
  large.datasets[0].spec.shape = {100'000};
  large.datasets[0].values.resize(800'000);
  trace::Log log("main");
  for (const auto& way : ways) {
    const auto error =
        error_of([&] { Session session(comm, directory.file("out.h5"), plan, large, options_of(way), log); });
    REQUIRE(error);
    CHECK(error->path == directory.file("out.h5"));
    CHECK(error->rank == 0);
    CHECK(!std::filesystem::exists(directory.file("out.h5")));
  }
}

MPI_CASE("a reader's lock on the file does not keep the run from closing it", ranks{1, 2}) {
  const SharedDir directory(comm);
  const Index3 domain{4, 4, 4};
  const Plan plan = make_plan({}, comm.is_root() ? Box::whole(domain) : Box{}, domain);
  trace::Log log("main");
  for (const auto& way : ways) {
    Session session(comm, directory.file("out.h5"), plan, head(), options_of(way), log);
    const int reader = open(directory.file("out.h5").c_str(), O_RDONLY);
    CHECK(flock(reader, LOCK_SH) == 0);
    CHECK(!error_of([&] { session.finish(0, tail(0)); }));
    close(reader);
  }
}

MPI_CASE("a disk that is too small is reported before the first step", ranks{2}) {
  const SharedDir directory(comm);
  const Index3 domain{1000, 1000, 1000};
  const Cadence cadence{.first = 1, .every = 1, .last = 2000};  // 8 TB, sparse
  auto whole = stream("p", Points{{{0, 0, 0}}}, Reduction::none, domain, cadence);
  whole.selection = Whole{};
  whole.datasets[0].shape = {2000, 1000, 1000, 1000};
  const Box own = pattern::one_owner(domain, 2)[static_cast<std::size_t>(comm.rank())];
  auto plan = make_plan({whole}, own, domain);
  for (auto& planned : plan.streams) planned.shares.clear();  // nothing is sampled here
  trace::Log log("main");
  for (const auto& sink : sinks) {
    const auto error = error_of([&] {
      Session session(comm, directory.file("out.h5"), plan, head(),
                      options_of({.strategy = "", .sink = sink}), log);
      REQUIRE(session.warnings().size() == (comm.is_root() ? 1 : 0));
      if (comm.is_root())
        CHECK(session.warnings()[0].find("writes will fail when it is full") != std::string::npos);
      session.finish(0, tail(0));
    });
    // File systems that allow no file of this size refuse its creation instead.
    if (error) CHECK(error->path == directory.file("out.h5"));
  }
}

MPI_CASE("a session that is left by an exception neither communicates nor hangs", ranks{1, 2, 3}) {
  const SharedDir directory(comm);
  const Index3 domain{8, 8, 8};
  for (const auto& way : ways) {
    const Box own = pattern::slabs(domain, comm.size())[static_cast<std::size_t>(comm.rank())];
    pattern::Field<float> field(own);
    trace::Log log("main");
    const auto run = [&] {
      Session session(comm, directory.file("out.h5"),
                      make_plan({stream("p", Whole{}, Reduction::none, domain)}, own, domain), head(),
                      options_of(way), log);
      for (StepIndex step = 1; step <= 3; ++step) {
        field.set(step);
        session.sample(step, [&](const std::string&) { return field.view(); });
      }
      throw std::runtime_error("the computation broke");
    };
    CHECK_THROWS_AS(run(), std::runtime_error);
    mpi::barrier(comm);
    if (comm.is_root()) {
      const auto file = h5::File::open(directory.file("out.h5"));
      auto slots = commit_mark(file);
      CHECK(slots[0] == 3);
      // Samples that are handed over after their writer has gone are lost.
      for (int rank = 0; rank < comm.size(); ++rank)
        if (writer_of(way, rank, comm.size()) == rank) CHECK(slots[static_cast<std::size_t>(rank)] == 3);
      check_samples(file, domain, static_cast<StepIndex>(*std::min_element(slots.begin(), slots.end())));
    }
    mpi::barrier(comm);
  }
}
