// SPDX-License-Identifier: BSD-3-Clause
#include <filesystem>
#include <fstream>
#include <iterator>

#include "h5/file.hpp"
#include "mpi_case.hpp"
#include "output_fixture.hpp"

using namespace tailrace;
using namespace tailrace::output;
using namespace tailrace::output::fixture;

namespace {

namespace fs = std::filesystem;

/// A sample of doubles has more than two stripes.
constexpr Index3 domain{37, 29, 17};
constexpr StepIndex all_steps = 6;

struct Segment {
  StepIndex from = 0, to = all_steps;
  std::string strategy = "threads";
  int directories = 0;
  bool abandoned = false;  ///< left without an end, as by a kill
};

/// All kinds but those that lose digits when a run resumes from the file alone.
std::vector<Stream> streams() {
  auto all = streams_of_all_kinds(domain);
  std::erase_if(all, [](const Stream& s) { return s.reduction == Reduction::rms; });
  return all;
}

std::string output_of(const SharedDir& dir) {
  return dir.file("out.h5");
}

WriteOptions options_of(const SharedDir& dir, const Segment& segment) {
  OptionTexts texts{.write = segment.strategy, .sink = "hdf5", .pace = {}, .fault = {}};
  for (int i = 0; i < segment.directories; ++i) {
    const auto directory = dir.file("disk" + std::to_string(i));
    fs::create_directories(directory);
    texts.directories += (i == 0 ? "" : ",") + directory;
    texts.stripe = "64KiB";
  }
  return parse_options(texts);
}

std::optional<ErrorInfo> run_segment(mpi::CommView comm, const SharedDir& dir, const Segment& segment) {
  return error_of([&] {
    const Box own = pattern::slabs(domain, comm.size())[static_cast<std::size_t>(comm.rank())];
    pattern::Field<float> field(own);
    const FieldLookup lookup = [&](const std::string&) { return field.view(); };
    trace::Log log("main");
    Session session(comm, output_of(dir), make_plan(streams(), own, domain), head(), options_of(dir, segment),
                    log, {.resume = {.after = segment.from, .accumulators = ""}});
    for (StepIndex step = segment.from + 1; step <= segment.to; ++step) {
      field.set(step);
      session.sample(step, lookup);
    }
    if (segment.abandoned) return;
    if (segment.to < all_steps) return session.close_for_restart(segment.to, tail(segment.to));
    field.set(segment.to);
    session.sample_final(segment.to, lookup);
    session.finish(segment.to, tail(segment.to));
  });
}

using Contents = std::vector<std::pair<std::string, std::vector<std::byte>>>;

Contents contents(const std::string& path) {
  Contents all;
  const auto file = h5::File::open(path);
  for (const auto& name : file.dataset_paths()) {
    const auto count = h5::element_count(file.shape(name));
    std::vector<std::byte> bytes(count * h5::size_bytes(file.type(name)));
    file.read_range(name, 0, count, file.type(name), bytes);
    all.emplace_back(name, std::move(bytes));
  }
  return all;
}

Contents in_one_file(mpi::CommView comm) {
  const SharedDir dir(comm);
  CHECK(!run_segment(comm, dir, {.strategy = "blocking"}));
  auto found = comm.is_root() ? contents(output_of(dir)) : Contents{};
  mpi::barrier(comm);
  return found;
}

void check_equal(mpi::CommView comm, const SharedDir& dir, const Contents& wanted) {
  if (comm.is_root()) {
    const auto found = contents(output_of(dir));
    REQUIRE(found.size() == wanted.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
      CHECK(found[i].first == wanted[i].first);
      CHECK_MESSAGE(found[i].second == wanted[i].second, found[i].first);
    }
  }
  mpi::barrier(comm);
}

std::string bytes_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The raw files in a directory.
std::vector<fs::path> raw_in(const std::string& directory) {
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(directory)) found.push_back(entry.path());
  return found;
}

}  // namespace

MPI_CASE("directories: all kinds of streams, through each strategy", ranks{1, 3}) {
  const auto wanted = in_one_file(comm);
  for (const std::string strategy : {"blocking", "threads:1", "leaders", "uring", "auto"})
    for (const int directories : {1, 2, 3}) {
      INFO(strategy << ", " << directories);
      const SharedDir dir(comm);
      CHECK(!run_segment(comm, dir, {.strategy = strategy, .directories = directories}));
      check_equal(comm, dir, wanted);
    }
}

MPI_CASE("directories: a run resumes in its raw files", ranks{1, 2, 3}) {
  const auto wanted = in_one_file(comm);
  for (const bool named_again : {true, false})
    for (const std::string strategy : {"threads", "uring"}) {
      INFO(strategy);
      const SharedDir dir(comm);
      CHECK(!run_segment(comm, dir, {.to = 3, .strategy = strategy, .directories = 2}));
      const auto left = comm.is_root() ? raw_in(dir.file("disk0")) : std::vector<fs::path>();
      CHECK(!run_segment(comm, dir,
                         {.from = 3, .to = 5, .strategy = strategy, .directories = 2, .abandoned = true}));
      CHECK(!run_segment(comm, dir, {.from = 3, .strategy = strategy, .directories = named_again ? 2 : 0}));
      check_equal(comm, dir, wanted);
      if (comm.is_root()) CHECK(raw_in(dir.file("disk0")) == left);
      mpi::barrier(comm);
    }
}

MPI_CASE("directories: a lost or foreign raw file is no place to resume in", ranks{1, 2}) {
  const auto wanted = in_one_file(comm);
  const SharedDir dir(comm);
  CHECK(!run_segment(comm, dir, {.to = 3, .directories = 2}));
  const auto raw = comm.is_root() ? raw_in(dir.file("disk1")).front() : fs::path();
  const auto lost = dir.file("lost");
  if (comm.is_root()) fs::rename(raw, lost);
  mpi::barrier(comm);
  const auto error = run_segment(comm, dir, {.from = 3, .directories = 2});
  REQUIRE(error);
  CHECK(error->message.find(".1.raw") != std::string::npos);
  CHECK(error->message.find("No such file") != std::string::npos);
  // Without its mark it may be anybody's: its values are copied, and nothing is written into it.
  std::string before;
  if (comm.is_root()) {
    fs::rename(lost, raw);
    std::fstream(raw, std::ios::in | std::ios::out | std::ios::binary).write("?", 1);
    before = bytes_of(raw);
  }
  mpi::barrier(comm);
  CHECK(!run_segment(comm, dir, {.from = 3, .directories = 2}));
  check_equal(comm, dir, wanted);
  if (comm.is_root()) CHECK(bytes_of(raw) == before);
  mpi::barrier(comm);
}

MPI_CASE("directories: nothing is left of an output that cannot be made", ranks{1, 2}) {
  const SharedDir dir(comm);
  const auto options = options_of(dir, {.directories = 3});
  mpi::barrier(comm);
  if (comm.is_root()) fs::remove(dir.file("disk2"));
  mpi::barrier(comm);
  trace::Log log("main");
  const auto error = error_of([&] {
    const Box own = pattern::slabs(domain, comm.size())[static_cast<std::size_t>(comm.rank())];
    Session session(comm, output_of(dir), make_plan(streams(), own, domain), head(), options, log);
  });
  REQUIRE(error);
  CHECK(error->message.find("disk2") != std::string::npos);
  if (comm.is_root()) {
    CHECK(!fs::exists(output_of(dir)));
    CHECK(raw_in(dir.file("disk0")).empty());
  }
  mpi::barrier(comm);
}
