// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>

#include "h5/file.hpp"
#include "mpi_case.hpp"
#include "output_fixture.hpp"

using namespace tailrace;
using namespace tailrace::output;
using namespace tailrace::output::fixture;

namespace {

constexpr Index3 domain{11, 7, 5};
constexpr StepIndex all_steps = 6;
const std::vector<int> rank_counts{1, 2, 3, 4, 7};

/// One segment of a run, on the first `ranks` ranks of the test.
struct Segment {
  StepIndex from = 0, to = all_steps;
  int ranks = 1;
  Split split = pattern::slabs;
  std::string strategy = "threads";
  StepIndex kept_at = -1;  ///< the reductions are put into the checkpoint after this step
  bool abandoned = false;  ///< left without an end, as by a kill
  std::vector<Stream> streams = streams_of_all_kinds(domain);
};

std::string output_of(const std::string& directory) {
  return directory + "/out.h5";
}
std::string checkpoint_of(const std::string& directory) {
  return directory + "/checkpoint.h5";
}

void keep_accumulators(mpi::CommView comm, Session& session, const std::string& path, Box own) {
  session.flush_all();
  trace::Log log("checkpoint");
  Plan plan{.domain = domain, .own_box = own, .streams = session.accumulator_streams(0)};
  Session checkpoint(comm, path, std::move(plan), FileHead{}, options_of({.strategy = "blocking"}), log);
  checkpoint.write_accumulators(session.running_reductions(), 0);
  checkpoint.finish(0, {});
}

void run_on(mpi::CommView comm, const std::string& directory, const Segment& segment) {
  const Box own = segment.split(domain, comm.size())[static_cast<std::size_t>(comm.rank())];
  pattern::Field<float> field(own);
  const FieldLookup lookup = [&](const std::string&) { return field.view(); };
  trace::Log log("main");
  const bool kept = segment.from > 0 && std::filesystem::exists(checkpoint_of(directory));
  mpi::barrier(comm);
  Session session(comm, output_of(directory), make_plan(segment.streams, own, domain), head(),
                  options_of({.strategy = segment.strategy}), log,
                  {.resume = {.after = segment.from, .accumulators = kept ? checkpoint_of(directory) : ""}});
  for (StepIndex step = segment.from + 1; step <= segment.to; ++step) {
    field.set(step);
    session.sample(step, lookup);
    if (step == segment.kept_at) keep_accumulators(comm, session, checkpoint_of(directory), own);
  }
  if (segment.abandoned) return;
  if (segment.to < all_steps) return session.close_for_restart(segment.to, tail(segment.to));
  field.set(segment.to);
  session.sample_final(segment.to, lookup);
  session.finish(segment.to, tail(segment.to));
}

/// @collective{comm}: the ranks that have no part in the segment wait. Returns the error that all its ranks
/// had.
std::optional<ErrorInfo> run_segment(mpi::CommView comm, const std::string& directory,
                                     const Segment& segment) {
  std::optional<ErrorInfo> error;
  auto some = mpi::Comm::split(comm, comm.rank() < segment.ranks ? 0 : -1);
  if (!some.empty()) {
    error = error_of([&] { run_on(some, directory, segment); });
    some.close();
  }
  mpi::barrier(comm);
  return error;
}

using Contents = std::map<std::string, std::vector<std::byte>>;

/// The bytes of every dataset but the record.
Contents contents(const std::string& path) {
  Contents all;
  const auto file = h5::File::open(path);
  for (const auto& name : file.dataset_paths()) {
    if (name == commit_mark_path) continue;
    auto& bytes = all[name];
    const auto count = h5::element_count(file.shape(name));
    bytes.resize(count * h5::size_bytes(file.type(name)));
    file.read_range(name, 0, count, file.type(name), bytes);
  }
  return all;
}

/// The file of a run without a stop.
Contents whole_run(mpi::CommView comm, const std::vector<Stream>& streams = streams_of_all_kinds(domain)) {
  const SharedDir directory(comm);
  CHECK(!run_segment(comm, directory.path(), {.ranks = 1, .streams = streams}));
  auto found = comm.is_root() ? contents(output_of(directory.path())) : Contents{};
  mpi::barrier(comm);
  return found;
}

void check_equal(mpi::CommView comm, const std::string& directory, const Contents& wanted) {
  if (comm.is_root()) {
    const auto found = contents(output_of(directory));
    CHECK(found.size() == wanted.size());
    for (const auto& [name, bytes] : wanted) CHECK_MESSAGE(found.at(name) == bytes, name);
    const auto slots = commit_mark(h5::File::open(output_of(directory)));
    CHECK(slots == std::vector<std::uint64_t>(slots.size(), std::uint64_t{all_steps}));
  }
  mpi::barrier(comm);
}

std::string bytes_of_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Rewrites a file as another program would have made it: chunked, compressed, and without a record.
void make_foreign(const std::string& path) {
  const auto old = h5::File::open(path);
  const std::string place = path + ".foreign";
  const auto check = [](auto id) {
    REQUIRE(id >= 0);
    return id;
  };
  const hid_t file = check(H5Fcreate(place.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT));
  const hid_t links = check(H5Pcreate(H5P_LINK_CREATE));
  check(H5Pset_create_intermediate_group(links, 1));
  for (const auto& [name, bytes] : contents(path)) {
    if (name.starts_with("/last")) continue;  // final states come at the end
    const auto shape = old.shape(name);
    const std::vector<hsize_t> extents(shape.begin(), shape.end());
    std::vector<hsize_t> chunk = extents;
    for (auto& length : chunk) length = (length + 1) / 2;
    const hid_t type = old.type(name) == h5::ElementType::uint64    ? H5T_NATIVE_UINT64
                       : old.type(name) == h5::ElementType::float64 ? H5T_NATIVE_DOUBLE
                                                                    : H5T_NATIVE_FLOAT;
    const hid_t properties = check(H5Pcreate(H5P_DATASET_CREATE));
    check(H5Pset_chunk(properties, static_cast<int>(chunk.size()), chunk.data()));
    check(H5Pset_deflate(properties, 1));
    const hid_t space = check(H5Screate_simple(static_cast<int>(extents.size()), extents.data(), nullptr));
    const hid_t set = check(H5Dcreate2(file, name.c_str(), type, space, links, properties, H5P_DEFAULT));
    check(H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes.data()));
    check(H5Dclose(set)), check(H5Sclose(space)), check(H5Pclose(properties));
  }
  check(H5Pclose(links)), check(H5Fclose(file));
  std::filesystem::rename(place, path);
}

/// The streams whose reductions lose nothing on their way through the file's 32-bit floats.
std::vector<Stream> exact_streams() {
  auto streams = streams_of_all_kinds(domain);
  std::erase_if(streams, [](const Stream& s) { return s.reduction == Reduction::rms; });
  return streams;
}

/// Values of "/p" that are not those of the pattern at `step`.
std::size_t wrong_values(const h5::File& file, StepIndex step) {
  std::vector<float> values(static_cast<std::size_t>(domain.volume()));
  file.read_hyperslab("/p", {static_cast<std::uint64_t>(step - 1), 0}, {1, values.size()}, std::span(values));
  const auto points = pattern::part_points(Whole{}, 0, domain);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < values.size(); ++i)
    wrong += values[i] != static_cast<float>(pattern::value(points[i], step));
  return wrong;
}

}  // namespace

MPI_CASE("a run in two segments on any numbers of ranks leaves the file of one without a stop", ranks{3, 7}) {
  const auto wanted = whole_run(comm);
  for (const int a : rank_counts)
    for (const int b : rank_counts) {
      if (std::max(a, b) > comm.size()) continue;
      CAPTURE(a);
      CAPTURE(b);
      const SharedDir directory(comm);
      const StepIndex stop = 1 + (a + b) % 5;
      const auto& strategy = strategies[static_cast<std::size_t>(a + 2 * b) % strategies.size()];
      CHECK(!run_segment(comm, directory.path(),
                         {.to = stop, .ranks = a, .strategy = strategy, .kept_at = stop}));
      CHECK(!run_segment(comm, directory.path(), {.from = stop, .ranks = b, .split = pattern::pencils}));
      check_equal(comm, directory.path(), wanted);
    }
}

MPI_CASE("three segments, one of them before the first sample of some streams", ranks{1, 2, 3, 7}) {
  const auto wanted = whole_run(comm);
  const SharedDir directory(comm);
  const int n = comm.size();
  CHECK(!run_segment(comm, directory.path(), {.to = 1, .ranks = n, .kept_at = 1}));
  CHECK(!run_segment(comm, directory.path(),
                     {.from = 1, .to = 4, .ranks = (n + 1) / 2, .split = pattern::one_owner, .kept_at = 4}));
  CHECK(!run_segment(comm, directory.path(), {.from = 4, .ranks = n, .split = pattern::pencils}));
  check_equal(comm, directory.path(), wanted);
}

MPI_CASE("reductions resume from the output file where there is no checkpoint of them", ranks{1, 3, 7}) {
  const auto streams = exact_streams();
  const auto wanted = whole_run(comm, streams);
  for (const bool foreign : {false, true}) {
    CAPTURE(foreign);
    const SharedDir directory(comm);
    CHECK(!run_segment(comm, directory.path(), {.to = 3, .ranks = comm.size(), .streams = streams}));
    if (comm.is_root() && foreign) make_foreign(output_of(directory.path()));
    mpi::barrier(comm);
    CHECK(!run_segment(comm, directory.path(), {.from = 3, .ranks = comm.size(), .streams = streams}));
    check_equal(comm, directory.path(), wanted);
  }
}

MPI_CASE("a file closed for restart holds raw sums, which another program can resume with", ranks{1, 3}) {
  const SharedDir directory(comm);
  CHECK(!run_segment(comm, directory.path(), {.to = 4, .ranks = comm.size()}));
  if (!comm.is_root()) return;
  const auto file = h5::File::open(output_of(directory.path()));
  std::vector<float> squares(static_cast<std::size_t>(many_boxes(domain, 1).boxes[0].volume()));
  file.read("/rms/1", std::span(squares));
  double wanted = 0;
  for (StepIndex step = 1; step <= 4; ++step) {
    const double value = pattern::value({0, 0, 0}, step);
    wanted += value * value;
  }
  CHECK(squares[0] == static_cast<float>(wanted));
}

MPI_CASE("a file of another program is copied, reported of, and never without its samples",
         ranks{1, 2, 3, 7}) {
  const auto wanted = whole_run(comm);
  const SharedDir directory(comm);
  const auto path = output_of(directory.path());
  CHECK(!run_segment(comm, directory.path(), {.to = 4, .ranks = 1, .kept_at = 4}));
  if (comm.is_root()) make_foreign(path);
  mpi::barrier(comm);
  const Box own = pattern::slabs(domain, comm.size())[static_cast<std::size_t>(comm.rank())];
  {
    trace::Log log("main");
    const Session session(comm, path, make_plan(streams_of_all_kinds(domain), own, domain), head(),
                          options_of({}), log,
                          {.resume = {.after = 4, .accumulators = checkpoint_of(directory.path())}});
    REQUIRE(session.warnings().size() == (comm.is_root() ? 1 : 0));
    if (comm.is_root()) CHECK(session.warnings()[0].find("copied") != std::string::npos);
  }
  mpi::barrier(comm);
  if (comm.is_root()) {
    const auto file = h5::File::open(path);
    for (const auto slot : commit_mark(file)) CHECK(slot == 4);
    std::vector<std::uint64_t> steps(1);
    file.read("/t_index", std::span(steps));
    CHECK(steps[0] == 4);
    CHECK(!std::filesystem::exists(path + ".partial"));
  }
  mpi::barrier(comm);
  CHECK(!run_segment(comm, directory.path(), {.from = 4, .ranks = comm.size()}));
  check_equal(comm, directory.path(), wanted);
}

MPI_CASE("steps that were recorded before a kill are recorded again", ranks{1, 2, 3, 7}) {
  const auto wanted = whole_run(comm);
  const SharedDir directory(comm);
  const int n = comm.size();
  CHECK(!run_segment(comm, directory.path(), {.to = 5, .ranks = n, .kept_at = 2, .abandoned = true}));
  CHECK(!run_segment(comm, directory.path(), {.from = 2, .to = 3, .ranks = 1, .abandoned = true}));
  CHECK(!run_segment(comm, directory.path(), {.from = 2, .ranks = n, .split = pattern::pencils}));
  check_equal(comm, directory.path(), wanted);
  // The whole segment once more, as after a kill between the end of the file and that of the checkpoint.
  CHECK(!run_segment(comm, directory.path(), {.from = 2, .ranks = n}));
  check_equal(comm, directory.path(), wanted);
}

MPI_CASE("with more ranks than slots the commit mark stays unchanged, with fewer every slot continues",
         ranks{3}) {
  for (const int first : {1, 3}) {
    const SharedDir directory(comm);
    const auto path = output_of(directory.path());
    CHECK(!run_segment(comm, directory.path(), {.to = 2, .ranks = first, .kept_at = 2}));
    const int second = 4 - first;
    CHECK(!run_segment(comm, directory.path(),
                       {.from = 2, .to = 3, .ranks = second, .strategy = "blocking", .abandoned = true}));
    if (comm.is_root()) {
      const auto slots = commit_mark(h5::File::open(path));
      CHECK(slots == std::vector<std::uint64_t>(static_cast<std::size_t>(first), first < second ? 2U : 3U));
    }
    mpi::barrier(comm);
    CHECK(!run_segment(comm, directory.path(),
                       {.from = 2, .to = 4, .ranks = second, .kept_at = 3, .abandoned = true}));
    if (comm.is_root())
      for (const auto slot : commit_mark(h5::File::open(path))) CHECK(slot >= 3);
    mpi::barrier(comm);
  }
}

MPI_CASE("what is flushed can be read by every rank, and sampling continues", ranks{1, 2, 3, 7}) {
  const Box own = pattern::slabs(domain, comm.size())[static_cast<std::size_t>(comm.rank())];
  for (const auto& way : ways) {
    const SharedDir directory(comm);
    const auto path = directory.file("out.h5");
    pattern::Field<float> field(own);
    const FieldLookup lookup = [&](const std::string&) { return field.view(); };
    trace::Log log("main");
    Session session(comm, path,
                    make_plan({stream("p", Whole{}, Reduction::none, domain),
                               stream("last", Whole{}, Reduction::final, domain)},
                              own, domain),
                    head(), options_of(way), log);
    for (StepIndex step = 1; step <= all_steps; ++step) {
      field.set(step);
      session.sample(step, lookup);
      const StepIndex readable = session.flush_all();
      CHECK((way.sink != "hdf5-chunked" || step == all_steps ? readable == step : readable <= step));
      const auto file = h5::File::open(path);
      for (const auto slot : commit_mark(file)) CHECK(slot == static_cast<std::uint64_t>(readable));
      if (readable > 0) CHECK(wrong_values(file, readable) == 0);
      mpi::barrier(comm);
    }
    session.finish(all_steps, tail(all_steps));
  }
}

MPI_CASE("a failed write is the same error of a flush on all ranks", ranks{1, 3}) {
  const SharedDir directory(comm);
  const Box own = pattern::slabs(domain, comm.size())[static_cast<std::size_t>(comm.rank())];
  pattern::Field<float> field(own);
  trace::Log log("main");
  Session session(comm, directory.file("out.h5"),
                  make_plan({stream("p", Whole{}, Reduction::none, domain)}, own, domain), head(),
                  options_of({}, fmt::format("write:rank={},error=ENOSPC", comm.size() - 1)), log);
  session.sample(1, [&](const std::string&) { return field.view(); });
  for (int time = 0; time < 2; ++time) {
    const auto error = error_of([&] { session.flush_all(); });
    REQUIRE(error);
    CHECK(error->rank == comm.size() - 1);
    CHECK(error->message.find("No space left") != std::string::npos);
  }
  CHECK(error_of([&] { session.finish(1, tail(1)); }));
}

MPI_CASE("a file of another run is refused with all reasons, and stays as it is", ranks{1, 2, 3}) {
  const SharedDir directory(comm);
  const auto path = output_of(directory.path());
  CHECK(!run_segment(comm, directory.path(), {.to = 4, .ranks = 1, .kept_at = 4}));
  const auto before = comm.is_root() ? bytes_of_file(path) : "";
  const Cadence longer{.first = 1, .every = 1, .last = 9};
  auto streams = streams_of_all_kinds(domain);
  streams[0] = stream("whole", Whole{}, Reduction::none, domain, longer);
  streams[2] =
      stream("points", some_points(domain), Reduction::none, domain, six_steps, h5::ElementType::float64);
  streams[5] = stream("least", Whole{}, Reduction::min, domain);
  const auto error =
      run_segment(comm, directory.path(), {.from = 4, .ranks = comm.size(), .streams = streams});
  REQUIRE(error);
  CHECK(error->kind == ErrorKind::input);
  for (const char* part :
       {"dataset /whole has shape (6, 385), this run has (9, 385)",
        "dataset /points has elements of 32-bit float", "dataset /least is missing",
        "dataset /tailrace_accumulators/least is missing", "dataset /max is not recorded by this run",
        "the options and the input of the first"})
    CHECK_MESSAGE(error->message.find(part) != std::string::npos, error->message);
  if (comm.is_root()) CHECK(bytes_of_file(path) == before);
  mpi::barrier(comm);
}

MPI_CASE("a file without samples that were due before the step is not resumed after it", ranks{1, 2, 3}) {
  const SharedDir directory(comm);
  const auto path = output_of(directory.path());
  CHECK(!run_segment(comm, directory.path(), {.to = 4, .ranks = comm.size(), .kept_at = 4}));
  const auto before = comm.is_root() ? bytes_of_file(path) : "";
  const auto error = run_segment(comm, directory.path(), {.from = 5, .ranks = comm.size()});
  REQUIRE(error);
  CHECK(error->kind == ErrorKind::input);
  CHECK_MESSAGE(error->message.find("it has samples up to step 4 only, and whole takes some up to step 5") !=
                    std::string::npos,
                error->message);
  if (comm.is_root()) CHECK(bytes_of_file(path) == before);
  mpi::barrier(comm);
}

MPI_CASE("what is no output file, or is gone, is the same error on all ranks", ranks{1, 2, 3}) {
  const SharedDir directory(comm);
  const auto path = output_of(directory.path());
  const auto missing = run_segment(comm, directory.path(), {.from = 4, .ranks = comm.size()});
  REQUIRE(missing);
  CHECK(missing->message.find("cannot be opened: No such file") != std::string::npos);
  if (comm.is_root()) std::ofstream(path) << "no HDF5";
  mpi::barrier(comm);
  const auto other = run_segment(comm, directory.path(), {.from = 4, .ranks = comm.size()});
  REQUIRE(other);
  CHECK(other->message.find("is not an HDF5 file") != std::string::npos);
  if (comm.is_root()) CHECK(bytes_of_file(path) == "no HDF5");
  mpi::barrier(comm);
}
