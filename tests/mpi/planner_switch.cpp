// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <map>
#include <set>

#include "h5/file.hpp"
#include "mpi_case.hpp"
#include "output/core/raw_file.hpp"
#include "output_fixture.hpp"

using namespace tailrace;
using namespace tailrace::output;
using namespace tailrace::output::fixture;

namespace {

namespace fs = std::filesystem;

/// A sample of doubles has more than two stripes of 64 KiB.
constexpr Index3 domain{37, 29, 17};
constexpr StepIndex all_steps = 6;

struct Segment {
  StepIndex from = 0, to = all_steps;
  std::string strategy = "threads", fault = {};
  int directories = 3;
  OnFailure policy = OnFailure::switch_directory;
  std::string sink = "hdf5";
};

/// All kinds but those that lose digits when a run resumes from the file alone.
std::vector<Stream> streams(OnFailure policy) {
  auto all = streams_of_all_kinds(domain);
  std::erase_if(all, [](const Stream& s) { return s.reduction == Reduction::rms; });
  for (auto& stream : all) stream.on_failure = policy;
  return all;
}

std::string disk(const SharedDir& dir, int number) {
  return dir.file(fmt::format("disk{}", number));
}

WriteOptions options_of(const SharedDir& dir, const Segment& segment) {
  OptionTexts texts{.write = segment.strategy, .sink = segment.sink, .pace = {}, .fault = segment.fault};
  for (int i = 0; i < segment.directories; ++i) {
    fs::create_directories(disk(dir, i));
    texts.directories += (i == 0 ? "" : ",") + disk(dir, i);
    texts.stripe = "64KiB";
  }
  return parse_options(texts);
}

struct Outcome {
  std::optional<ErrorInfo> error;
  [[nodiscard]] std::string message() const { return error ? error->message : ""; }
  std::vector<std::string> warnings;  ///< on the root
};

Outcome run_segment(mpi::CommView comm, const std::string& path, const WriteOptions& options,
                    const Segment& segment, const SessionServices& services = {}) {
  Outcome outcome;
  outcome.error = error_of([&] {
    const Box own = pattern::slabs(domain, comm.size())[static_cast<std::size_t>(comm.rank())];
    pattern::Field<float> field(own);
    const FieldLookup lookup = [&](const std::string&) { return field.view(); };
    trace::Log log("main");
    Session session(comm, path, make_plan(streams(segment.policy), own, domain), head(), options, log,
                    {.services = services, .resume = {.after = segment.from, .accumulators = ""}});
    for (StepIndex step = segment.from + 1; step <= segment.to; ++step) {
      field.set(step);
      session.sample(step, lookup);
      session.wait(WriteState::written, step, 60);  // so that writes are counted alike in each run
    }
    if (segment.to == all_steps) session.sample_final(segment.to, lookup);
    try {
      if (segment.to < all_steps)
        session.close_for_restart(segment.to, tail(segment.to));
      else
        session.finish(segment.to, tail(segment.to));
    } catch (...) {
      outcome.warnings = session.warnings();
      throw;
    }
    outcome.warnings = session.warnings();
  });
  return outcome;
}

Outcome run_segment(mpi::CommView comm, const SharedDir& dir, const Segment& segment) {
  return run_segment(comm, dir.file("out.h5"), options_of(dir, segment), segment);
}

using Contents = std::map<std::string, std::vector<std::byte>>;

Contents contents(const std::string& path) {
  Contents all;
  const auto file = h5::File::open(path);
  for (const auto& name : file.dataset_paths()) {
    const auto count = h5::element_count(file.shape(name));
    auto& bytes = all[name];
    bytes.resize(count * h5::size_bytes(file.type(name)));
    file.read_range(name, 0, count, file.type(name), bytes);
  }
  all.erase(switches_path);
  return all;
}

Contents in_one_file(mpi::CommView comm) {
  const SharedDir dir(comm);
  CHECK(run_segment(comm, dir, {.strategy = "blocking", .directories = 0, .policy = OnFailure::stop})
            .message() == "");
  auto found = comm.is_root() ? contents(dir.file("out.h5")) : Contents{};
  mpi::barrier(comm);
  return found;
}

/// On the root: the values are those wanted, the commit mark too unless there were fewer ranks.
void check_values(mpi::CommView comm, const SharedDir& dir, Contents wanted) {
  if (comm.is_root()) {
    auto found = contents(dir.file("out.h5"));
    for (const auto slot : commit_mark(h5::File::open(dir.file("out.h5")))) CHECK(slot == all_steps);
    for (auto* one : {&found, &wanted}) one->erase(commit_mark_path);
    REQUIRE(found.size() == wanted.size());
    for (const auto& [name, bytes] : wanted) CHECK_MESSAGE(found[name] == bytes, name);
  }
  mpi::barrier(comm);
}

/// Rows of the changes that state one.
std::vector<std::array<std::uint64_t, 4>> changes(const SharedDir& dir) {
  const auto file = h5::File::open(dir.file("out.h5"));
  std::vector<std::uint64_t> values(h5::element_count(file.shape(switches_path)));
  file.read(switches_path, std::span(values));
  std::vector<std::array<std::uint64_t, 4>> rows;
  for (std::size_t i = 0; i < values.size(); i += 4)
    if (values[i + 3] != 0) rows.push_back({values[i], values[i + 1], values[i + 2], values[i + 3]});
  return rows;
}

std::size_t directory_warnings(const Outcome& outcome) {
  return static_cast<std::size_t>(
      std::count_if(outcome.warnings.begin(), outcome.warnings.end(),
                    [](const auto& text) { return text.find("took no more at step") != std::string::npos; }));
}

}  // namespace

MPI_CASE("switch: values continue in other directories, through each strategy", ranks{1, 3}) {
  const auto wanted = in_one_file(comm);
  for (const std::string strategy : {"blocking", "threads:1", "leaders", "uring", "auto"}) {
    INFO(strategy);
    const SharedDir dir(comm);
    // Where one rank writes for all, the second fault strikes too.
    const auto outcome = run_segment(
        comm, dir,
        {.strategy = strategy, .fault = "write:rank=0,nth=4,error=ENOSPC;write:rank=0,nth=9,error=EIO"});
    CHECK(outcome.message() == "");
    check_values(comm, dir, wanted);
    if (!comm.is_root()) continue;
    const auto rows = changes(dir);
    REQUIRE(rows.size() == 2);
    CHECK(rows[0][3] == ENOSPC);
    CHECK(rows[1][3] == EIO);
    CHECK(rows[0][1] != rows[1][1]);
    CHECK(directory_warnings(outcome) == 2);
    CHECK(outcome.warnings.back().find(disk(dir, static_cast<int>(rows[1][1]))) == 0);
  }
}

MPI_CASE("switch: ranks that fail at the same time agree", ranks{2, 3}) {
  const auto wanted = in_one_file(comm);
  for (const std::string strategy : {"blocking", "threads:1"}) {
    INFO(strategy);
    const SharedDir dir(comm);
    const auto outcome = run_segment(comm, dir, {.strategy = strategy, .fault = "write:nth=5,error=ENOSPC"});
    // With as many failures as directories there may be none left for the last.
    if (comm.size() == 2) CHECK(outcome.message() == "");
    if (!outcome.error) check_values(comm, dir, wanted);
    mpi::barrier(comm);
  }
}

MPI_CASE("switch: processes that write for others do it too", ranks{2, 3}) {
  const auto wanted = in_one_file(comm);
  const SharedDir dir(comm);
  const Segment segment{.strategy = "ranks:1",
                        .fault = fmt::format("write:rank={},nth=4,error=EDQUOT", comm.size() - 1)};
  const auto error = with_io_servers(
      comm, options_of(dir, segment),
      [&](mpi::CommView computing, const WriteOptions& options, const SessionServices& services) {
        const auto outcome = run_segment(computing, dir.file("out.h5"), options, segment, services);
        CHECK(directory_warnings(outcome) == (computing.is_root() ? 1 : 0));
        return outcome.error;
      });
  CHECK(!error);
  check_values(comm, dir, wanted);
}

MPI_CASE("switch: a run resumes in an output that has failed over from a directory", ranks{1, 2}) {
  const auto wanted = in_one_file(comm);
  for (const bool named_again : {true, false}) {
    const SharedDir dir(comm);
    CHECK(run_segment(comm, dir, {.to = 3, .fault = "write:rank=0,nth=3,error=ENOSPC"}).message() == "");
    if (comm.is_root()) CHECK(changes(dir).size() == 1);
    mpi::barrier(comm);
    Segment second{.from = 3, .fault = "write:rank=0,nth=2,error=EROFS", .directories = named_again ? 3 : 0};
    CHECK(run_segment(comm, dir, second).message() == "");
    check_values(comm, dir, wanted);
    if (!comm.is_root()) continue;
    const auto rows = changes(dir);  // of the second run alone
    REQUIRE(rows.size() == 1);
    CHECK(rows[0][3] == EROFS);
  }
}

MPI_CASE("switch: when no directory is left the run ends, and what is recorded is there", ranks{1, 3}) {
  const SharedDir dir(comm);
  const auto wanted = in_one_file(comm);
  const auto outcome = run_segment(comm, dir, {.fault = "write:step=4,error=ENOSPC"});
  REQUIRE(outcome.error);
  CHECK(outcome.error->message.find("No space left") != std::string::npos);
  if (comm.is_root()) {
    CHECK(changes(dir).size() == 2);
    CHECK(directory_warnings(outcome) == 2);
    const auto found = contents(dir.file("out.h5"));
    const auto& values = found.at("/whole");
    const auto three = values.size() / all_steps * 3;
    CHECK(std::equal(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(three),
                     wanted.at("/whole").begin()));
  }
  mpi::barrier(comm);
}

MPI_CASE("switch: reasons that another directory does not cure end the run", ranks{1, 2}) {
  const SharedDir dir(comm);
  const auto outcome = run_segment(comm, dir, {.fault = "write:rank=0,nth=4,error=EFBIG"});
  REQUIRE(outcome.error);
  if (comm.is_root()) CHECK(changes(dir).empty());
  mpi::barrier(comm);
}

MPI_CASE("switch: what it does not go with is refused", ranks{1, 2}) {
  const SharedDir dir(comm);
  const auto refused = [&](const Segment& segment, const std::string& part) {
    const auto outcome = run_segment(comm, dir, segment);
    REQUIRE(outcome.error);
    CHECK(outcome.error->kind == ErrorKind::usage);
    CHECK_MESSAGE(outcome.error->message.find(part) != std::string::npos, outcome.error->message);
    CHECK(!fs::exists(dir.file("out.h5")));
    mpi::barrier(comm);
  };
  refused({.directories = 0}, "needs from 2 to 24 directories, and 0 are named");
  refused({.directories = 1}, "needs from 2 to 24 directories, and 1 is named");
  refused({.directories = 0, .sink = "hdf5-chunked"}, "does not go with --sink hdf5-chunked");
  // An output that was not made for it cannot learn it.
  CHECK(run_segment(comm, dir, {.to = 3, .policy = OnFailure::stop}).message() == "");
  const auto outcome = run_segment(comm, dir, {.from = 3});
  REQUIRE(outcome.error);
  CHECK(outcome.error->message.find("cannot resume in this file") != std::string::npos);
}

namespace {

/// Two processes that write halves of the samples of one dataset, without a session.
class TwoWriters {
 public:
  explicit TwoWriters(mpi::CommView comm, const SharedDir& dir)
      : path_(dir.file("out.h5")), options_(options_of(dir, {})) {
    auto stream = fixture::stream("p", Whole{}, Reduction::none, domain);
    stream.on_failure = OnFailure::switch_directory;
    plan_ = make_plan({stream}, Box::whole(domain), domain);
    const FileHead nothing;
    first = create_sink(
        {.comm = comm, .path = path_, .plan = plan_, .head = nothing, .options = options_, .sources = 2});
    second = create_sink({.comm = comm,
                          .path = path_,
                          .plan = plan_,
                          .head = nothing,
                          .options = options_,
                          .sources = 2,
                          .joins = true,
                          .process = 1});
  }

  /// Writes one half of the sample of a step, all values the step's number.
  void write(Sink& sink, StepIndex step) const {
    const auto half = domain.volume() / 2;
    const bool front = &sink == first.get();
    const std::vector<float> values(static_cast<std::size_t>(front ? half : domain.volume() - half),
                                    static_cast<float>(step));
    const auto offset = ((step - 1) * domain.volume() + (front ? 0 : half)) * std::int64_t{sizeof(float)};
    const Extent extent{.dataset = 0, .offset_bytes = offset, .bytes = std::as_bytes(std::span(values))};
    sink.write(std::span(&extent, 1), step);
  }

  /// Returns whether all values of a step are there.
  [[nodiscard]] bool complete(StepIndex step) const {
    std::vector<float> values(static_cast<std::size_t>(domain.volume()));
    h5::File::open(path_).read_hyperslab("/p", {static_cast<std::uint64_t>(step - 1), 0}, {1, values.size()},
                                         std::span(values));
    return std::all_of(values.begin(), values.end(), [&](float v) { return v == static_cast<float>(step); });
  }

  /// The directories in which the values are.
  [[nodiscard]] std::set<std::string> directories() const {
    std::set<std::string> found;
    for (const auto& part : h5::File::open(path_).external_parts("/p"))
      found.insert(fs::path(part.file).parent_path().filename().string());
    return found;
  }

  /// A refusal of the system to write into a directory's own file.
  [[nodiscard]] RefusedWrite refusal(int directory, int error) const {
    for (const auto& part : h5::File::open(path_).external_names("/p"))
      if (part.file.find(fmt::format("/disk{}/", directory)) != std::string::npos)
        return {file_failure(part.file, "writing", 0, error).info(), error};
    throw Error(ErrorKind::internal, "no such directory");
  }

  std::unique_ptr<Sink> first, second;

 private:
  std::string path_;
  WriteOptions options_;
  Plan plan_;
};

}  // namespace

MPI_CASE("switch: who writes while another one moves stripes writes again", ranks{1}) {
  const SharedDir dir(comm);
  TwoWriters two(comm, dir);
  for (auto* sink : {two.first.get(), two.second.get()}) {
    two.write(*sink, 1);
    CHECK(sink->is_unchanged());
    sink->commit_mark(sink == two.first.get() ? 0 : 1, 1);
  }
  two.write(*two.second, 2);  // to where the stripes were
  const auto all = two.directories();
  CHECK(all.size() == 3);
  REQUIRE(two.first->fail_over(two.refusal(0, ENOSPC), 2));
  two.write(*two.first, 2);
  CHECK(two.first->is_unchanged());
  CHECK(two.complete(1));
  two.write(*two.second, 3);
  CHECK_FALSE(two.second->is_unchanged());
  for (const StepIndex step : {2, 3}) two.write(*two.second, step);
  CHECK(two.second->is_unchanged());
  two.write(*two.first, 3);
  for (const StepIndex step : {1, 2, 3}) CHECK(two.complete(step));
}

MPI_CASE("switch: whoever fails after another one has moved continues where that one is", ranks{1}) {
  const SharedDir dir(comm);
  TwoWriters two(comm, dir);
  const auto late = two.refusal(0, ENOSPC);
  REQUIRE(two.first->fail_over(late, 1));
  REQUIRE(two.second->fail_over(late, 1));
  CHECK(changes(dir).size() == 1);
  two.write(*two.second, 1);
  CHECK_FALSE(two.second->is_unchanged());  // what it had written of the job before may be elsewhere
  two.write(*two.second, 1);
  CHECK(two.second->is_unchanged());
  two.write(*two.first, 1);
  CHECK(two.complete(1));
  CHECK(two.directories() == std::set<std::string>{"disk1", "disk2"});
}

MPI_CASE("switch: a directory that refuses as well is passed over", ranks{1}) {
  const SharedDir dir(comm);
  TwoWriters two(comm, dir);
  two.write(*two.first, 1);
  two.write(*two.second, 1);
  fs::rename(disk(dir, 1), disk(dir, 1) + " is gone");
  const auto refusal = two.refusal(0, EIO);
  REQUIRE(two.first->fail_over(refusal, 2));
  fs::rename(disk(dir, 1) + " is gone", disk(dir, 1));
  const auto rows = changes(dir);
  REQUIRE(rows.size() == 1);
  CHECK(rows[0] == std::array<std::uint64_t, 4>{2, 0, 2, EIO});
  CHECK(two.complete(1));
  CHECK_FALSE(two.first->fail_over(two.refusal(1, EFBIG), 2));
  REQUIRE(two.first->fail_over(two.refusal(1, ENOSPC), 3));
  CHECK_FALSE(two.first->fail_over(two.refusal(2, ENOSPC), 3));  // none is left
  CHECK(two.complete(1));
  CHECK(two.directories() == std::set<std::string>{"disk2"});
}
