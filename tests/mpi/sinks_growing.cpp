// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <thread>
#include <vector>

#include "../unit/output_pattern.hpp"
#include "h5/chunked.hpp"
#include "mpi_case.hpp"
#include "output/session/session.hpp"
#include "output_fixture.hpp"

/// Streams whose samples have no known number or size.
using namespace tailrace;
using namespace tailrace::output;

namespace {

constexpr Index3 domain{9, 7, 8};
constexpr double dt_s = 0.25;
constexpr Cadence open_steps{.first = 1, .every = 1, .last = Cadence::open_end};

/// Rows of a sample on all ranks: none, a few, and more than a chunk and than a message holds.
std::int64_t rows_at(StepIndex step) noexcept {
  if (step % 5 == 0) return 0;
  return step == 7 ? 30'000 : step * 37 % 101;
}

/// Row number i of a sample.
std::array<double, 2> commit_mark_of(StepIndex step, std::int64_t i) noexcept {
  return {static_cast<double>(step), static_cast<double>(i) + 0.5};
}

Stream growing(Stream stream) {
  stream.growth = Growth{.group = "/" + stream.name, .time_of_step_0_s = 1, .dt_s = dt_s};
  return stream;
}

Stream rows(const std::string& name, Cadence cadence, std::int64_t components, h5::ElementType type) {
  Stream stream;
  stream.name = stream.quantity = name;
  stream.selection = Rows{components};
  stream.cadence = cadence;
  stream.datasets = {{"/" + name + "/values", {0, static_cast<std::uint64_t>(components)}, type, {}}};
  return growing(stream);
}

/// The field at steps without an end.
Stream open_field(const std::string& name, const Selection& selection, Cadence cadence) {
  Stream stream{.name = name,
                .quantity = "p",
                .unit = "Pa",
                .selection = selection,
                .cadence = cadence,
                .datasets = {}};
  for (std::size_t part = 0; part < pattern::part_count(selection); ++part) {
    const auto points = pattern::part_points(selection, part, domain).size();
    stream.datasets.push_back(
        {fmt::format("/{}/values{}", name, part), {0, points}, h5::ElementType::float32, {}});
  }
  return growing(stream);
}

std::vector<Stream> all_streams() {
  return {rows("pairs", open_steps, 2, h5::ElementType::float64),
          open_field("whole", Whole{}, {.first = 2, .every = 2, .last = Cadence::open_end}),
          rows("numbers", {.first = 0, .every = 3, .last = 60}, 1, h5::ElementType::int64),
          open_field("boxes", Boxes{{{{0, 0, 2}, {4, 4, 6}}, {{1, 1, 1}, {2, 2, 2}}}}, open_steps),
          fixture::stream("planned", Whole{}, Reduction::none, domain, {.first = 1, .every = 1, .last = 60})};
}

/// What a sink takes that has places for rows: any number of them, and samples whose number is known.
std::vector<Stream> streams_of_known_steps() {
  return {rows("pairs", {.first = 1, .every = 1, .last = 60}, 2, h5::ElementType::float64),
          fixture::stream("planned", Boxes{{{{0, 0, 2}, {4, 4, 6}}, {{1, 1, 1}, {2, 2, 2}}}}, Reduction::none,
                          domain, {.first = 1, .every = 2, .last = 60}),
          rows("numbers", {.first = 0, .every = 3, .last = 60}, 1, h5::ElementType::int64)};
}

/// Describes what the ranks of a run have at a step: of the rows each its part.
class State {
 public:
  explicit State(mpi::CommView comm)
      : comm_(comm), field_(pattern::slabs(domain, comm.size())[static_cast<std::size_t>(comm.rank())]) {}

  void set(StepIndex step) {
    field_.set(step);
    pairs_.clear();
    numbers_.clear();
    const std::int64_t all = rows_at(step), first = all * comm_.rank() / comm_.size(),
                       end = all * (comm_.rank() + 1) / comm_.size();
    for (std::int64_t i = first; i < end; ++i) {
      const auto commit_mark = commit_mark_of(step, i);
      pairs_.insert(pairs_.end(), commit_mark.begin(), commit_mark.end());
      numbers_.push_back(1000 * step + i);
    }
  }
  void sample(Session& session, StepIndex step) const {
    session.sample(
        step, [&](const std::string&) { return field_.view(); },
        [&](const std::string& quantity) {
          const auto count = static_cast<std::int64_t>(numbers_.size());
          return quantity == "pairs" ? RowsView{pairs_.data(), count} : RowsView{numbers_.data(), count};
        });
  }

 private:
  mpi::CommView comm_;
  pattern::Field<float> field_;
  std::vector<double> pairs_;
  std::vector<std::int64_t> numbers_;
};

template <class T>
std::vector<T> all_of(const h5::File& file, const std::string& path) {
  std::vector<T> values(h5::element_count(file.shape(path)));
  file.read(path, std::span(values));
  return values;
}

/// The number of samples up to a step, whose steps and times are looked at.
std::size_t check_counts(const h5::File& file, const Stream& stream, StepIndex recorded) {
  const auto steps = all_of<std::int64_t>(file, "/" + stream.name + "/step");
  const auto times = all_of<double>(file, "/" + stream.name + "/time_s");
  const auto samples = static_cast<std::size_t>(recorded > 0 ? stream.cadence.samples_until(recorded) : 0);
  REQUIRE(std::min(steps.size(), times.size()) >= samples);
  for (std::size_t k = 0; k < samples; ++k) {
    CHECK(steps[k] == stream.cadence.step_of(static_cast<StepIndex>(k)));
    CHECK(times[k] == 1 + dt_s * static_cast<double>(steps[k]));
  }
  return samples;
}

template <class T, class Expected>
void check_rows(const h5::File& file, const Stream& stream, StepIndex recorded, const Expected& expected) {
  const std::size_t samples = check_counts(file, stream, recorded);
  const auto offsets = all_of<std::int64_t>(file, "/" + stream.name + "/offsets");
  const auto values = all_of<T>(file, stream.datasets.front().path);
  std::vector<T> wanted;
  std::vector<std::int64_t> ends{0};
  const std::size_t components = stream.datasets.front().shape[1];
  for (std::size_t k = 0; k < samples; ++k) {
    const StepIndex step = stream.cadence.step_of(static_cast<StepIndex>(k));
    for (std::int64_t i = 0; i < rows_at(step); ++i) expected(step, i, wanted);
    ends.push_back(static_cast<std::int64_t>(wanted.size() / components));
  }
  if (samples > 0) {
    REQUIRE(offsets.size() > samples);
    CHECK(std::equal(ends.begin(), ends.end(), offsets.begin()));
  }
  REQUIRE(values.size() >= wanted.size());
  CHECK(std::equal(wanted.begin(), wanted.end(), values.begin()));
}

void check_field(const h5::File& file, const Stream& stream, StepIndex recorded) {
  const std::size_t samples = stream.growth
                                  ? check_counts(file, stream, recorded)
                                  : static_cast<std::size_t>(stream.cadence.samples_until(recorded));
  for (std::size_t part = 0; part < stream.datasets.size(); ++part) {
    const auto values = all_of<float>(file, stream.datasets[part].path);
    const auto points = pattern::part_points(stream.selection, part, domain);
    REQUIRE(values.size() >= samples * points.size());
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < samples * points.size(); ++i)
      wrong += values[i] != static_cast<float>(pattern::value(
                                points[i % points.size()],
                                stream.cadence.step_of(static_cast<StepIndex>(i / points.size()))));
    CHECK(wrong == 0);
  }
}

/// Looks at everything that a reader may trust; returns the step up to which that goes. On the root.
StepIndex check_file(const std::string& path, const std::vector<Stream>& streams) {
  const auto file = h5::File::open(path);
  const auto slots = fixture::commit_mark(file);
  const auto recorded = static_cast<StepIndex>(*std::min_element(slots.begin(), slots.end()));
  for (const auto& stream : streams) {
    CAPTURE(stream.name);
    if (stream.name == "pairs")
      check_rows<double>(file, stream, recorded, [](StepIndex step, std::int64_t i, auto& out) {
        const auto commit_mark = commit_mark_of(step, i);
        out.insert(out.end(), commit_mark.begin(), commit_mark.end());
      });
    else if (stream.name == "numbers")
      check_rows<std::int64_t>(file, stream, recorded, [](StepIndex step, std::int64_t i, auto& out) {
        out.push_back(1000 * step + i);
      });
    else
      check_field(file, stream, recorded);
  }
  return recorded;
}

struct Segment {
  StepIndex after = 0, last = 0;
  std::vector<StepIndex> looks = {};  ///< steps after which the file is looked at
};

/// Goes through some steps and looks at what a reader finds in between.
void run_segment(mpi::CommView comm, const std::string& path, const Segment& segment,
                 const WriteOptions& options, const std::vector<Stream>& streams = all_streams()) {
  const Box own = pattern::slabs(domain, comm.size())[static_cast<std::size_t>(comm.rank())];
  trace::Log log("main");
  Session session(comm, path, make_plan(streams, own, domain), fixture::head(), options, log,
                  SessionContext{.resume = {.after = segment.after}});
  State state(comm);
  for (StepIndex step = segment.after == 0 ? 0 : segment.after + 1; step <= segment.last; ++step) {
    state.set(step);
    state.sample(session, step);
    if (std::count(segment.looks.begin(), segment.looks.end(), step) == 0) continue;
    const StepIndex flushed = session.flush_all();
    if (comm.is_root()) CHECK(check_file(path, streams) == flushed);
    mpi::barrier(comm);
  }
  session.finish(segment.last, fixture::tail(segment.last));
  if (comm.is_root()) CHECK(check_file(path, streams) == segment.last);
  mpi::barrier(comm);
}

WriteOptions chunked(const std::string& strategy) {
  return fixture::options_of({strategy, "hdf5-chunked"});
}

}  // namespace

MPI_CASE("streams grow with the run, the same on any number of ranks", ranks{1, 2, 3, 4, 7}) {
  const fixture::SharedDir directory(comm);
  for (const char* strategy : {"threads", "blocking"})
    run_segment(comm, directory.file(strategy), {.last = 23}, chunked(strategy));
}

MPI_CASE("a reader finds whole samples of streams that grow while the run continues", ranks{1, 3}) {
  const fixture::SharedDir directory(comm);
  run_segment(comm, directory.file("out.h5"), {.last = 23, .looks = {1, 2, 6, 7, 8, 15, 16}},
              chunked("threads"));
}

MPI_CASE("a run continues with streams that grow, also over what was recorded after its checkpoint",
         ranks{1, 2, 3}) {
  const fixture::SharedDir directory(comm);
  const auto path = directory.file("out.h5");
  run_segment(comm, path, {.last = 20}, chunked("threads"));
  run_segment(comm, path, {.after = 6, .last = 12, .looks = {7, 8}}, chunked("blocking"));
  run_segment(comm, path, {.after = 12, .last = 47, .looks = {20}}, chunked("threads"));
}

MPI_CASE("only a file that grows takes what has no known number or size", ranks{2}) {
  const fixture::SharedDir directory(comm);
  const Box own = pattern::slabs(domain, comm.size())[static_cast<std::size_t>(comm.rank())];
  trace::Log log("main");
  for (const auto& stream : {all_streams()[0], all_streams()[1]}) {
    const auto path = directory.file(stream.name);
    const auto error = fixture::error_of(
        [&] { Session(comm, path, make_plan({stream}, own, domain), {}, fixture::options_of({}), log); });
    REQUIRE(error);
    CHECK(error->kind == ErrorKind::usage);
    CHECK(error->message.find(stream.name) == 0);
    CHECK(error->message.find("--sink hdf5 ") != std::string::npos);
    CHECK(error->hint == "--sink hdf5-chunked");
    CHECK(!std::filesystem::exists(path));
  }
}

namespace {

std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

MPI_CASE("each rank writes its own rows, the same bytes whoever writes", ranks{1, 2, 3, 4, 7}) {
  const fixture::SharedDir directory(comm);
  std::string first;
  for (const auto& strategy : fixture::strategies) {
    CAPTURE(strategy);
    const auto path = directory.file(strategy);
    run_segment(comm, path, {.last = 23, .looks = {7}}, fixture::options_of({strategy, "hdf5"}),
                streams_of_known_steps());
    if (!comm.is_root()) continue;
    const auto content = content_of(path + ".rows/pairs.h5") + content_of(path + ".rows/numbers.h5");
    if (first.empty()) first = content;
    CHECK(content == first);
  }
  if (comm.is_root()) CHECK(first.size() > 30'000 * 2 * sizeof(double));
}

MPI_CASE("a run continues with rows of its own, also over what was recorded after its checkpoint",
         ranks{1, 2, 3}) {
  const fixture::SharedDir directory(comm);
  const auto path = directory.file("out.h5");
  const auto streams = streams_of_known_steps();
  const auto ways = [](const char* strategy) { return fixture::options_of({strategy, "hdf5"}); };
  run_segment(comm, path, {.last = 20}, ways("threads"), streams);
  run_segment(comm, path, {.after = 6, .last = 12, .looks = {7, 8}}, ways("blocking"), streams);
  run_segment(comm, path, {.after = 12, .last = 47, .looks = {20}}, ways("leaders"), streams);
}

MPI_CASE("a reader may open rows at any time, also while a rank is late with its own", ranks{2, 3}) {
  const fixture::SharedDir directory(comm);
  const auto path = directory.file("out.h5");
  const auto streams = streams_of_known_steps();
  const auto options = parse_options({.write = "threads",
                                      .sink = "hdf5",
                                      .pace = {},
                                      .fault = fmt::format("stall:rank={},every=1,s=0.05", comm.size() - 1)});
  const Box own = pattern::slabs(domain, comm.size())[static_cast<std::size_t>(comm.rank())];
  trace::Log log("main");
  Session session(comm, path, make_plan(streams, own, domain), fixture::head(), options, log);
  State state(comm);
  std::uint64_t ahead = 0;
  for (StepIndex step = 0; step <= 12; ++step) {
    state.set(step);
    state.sample(session, step);
    std::this_thread::sleep_for(std::chrono::milliseconds(10));  // rank 0 puts heads there meanwhile
    if (!comm.is_root()) continue;
    const StepIndex recorded = check_file(path, streams);
    const auto rows = h5::File::open(path + ".rows/pairs.h5").shape("/values")[0];
    std::uint64_t complete = 0;
    for (StepIndex past = 1; past <= recorded; ++past) complete += static_cast<std::uint64_t>(rows_at(past));
    ahead = std::max(ahead, rows - std::min(rows, complete));
  }
  if (comm.is_root()) CHECK(ahead > 0);  // else nobody was late
  session.finish(12, fixture::tail(12));
  if (comm.is_root()) CHECK(check_file(path, streams) == 12);
}

MPI_CASE("a rank that cannot write its rows is one error on all, and what is complete stays readable",
         ranks{1, 2, 3}) {
  const fixture::SharedDir directory(comm);
  const auto path = directory.file("out.h5");
  const auto streams = streams_of_known_steps();
  const auto fault = fmt::format("write:rank={},step=9", comm.size() - 1);
  const auto options = parse_options({.write = "threads", .sink = "hdf5", .pace = {}, .fault = fault});
  const auto error = fixture::error_of([&] { run_segment(comm, path, {.last = 23}, options, streams); });
  REQUIRE(error);
  CHECK(error->kind == ErrorKind::io);
  CHECK(error->rank == comm.size() - 1);
  if (comm.is_root()) CHECK(check_file(path, streams) == 8);
}
