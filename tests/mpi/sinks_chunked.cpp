// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <cstring>
#include <filesystem>
#include <optional>
#include <random>
#include <span>

#include "../unit/output_pattern.hpp"
#include "base/system.hpp"
#include "h5/chunked.hpp"
#include "mpi/verdict.hpp"
#include "mpi_case.hpp"
#include "output/core/pack.hpp"
#include "output/core/sink.hpp"
#include "output/core/writer.hpp"
#include "output/registry/create.hpp"
#include "output/session/session.hpp"
#include "tailrace/error.hpp"
#include "temp_dir.hpp"

using namespace tailrace;
using namespace tailrace::output;

namespace {

/// A directory of the root that all ranks know.
class SharedDir {
 public:
  explicit SharedDir(mpi::CommView comm) {
    if (comm.is_root()) directory_.emplace();
    path_ = mpi::broadcast(comm, directory_ ? directory_->path() : "", 0);
  }
  [[nodiscard]] std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::optional<test::TempDir> directory_;
  std::string path_;
};

WriteOptions options_of(const std::string& strategy, const std::string& sink, const std::string& pace = {}) {
  return parse_options({.write = strategy, .sink = sink, .pace = pace, .fault = {}});
}

/// Values that do not shrink, of this rank's part of the domain.
class Noise {
 public:
  explicit Noise(const Box& own) : own_(own), values_(static_cast<std::size_t>(own.volume())) {
    std::mt19937 random(7);
    std::uniform_real_distribution<float> any(-1e6F, 1e6F);
    for (auto& value : values_) value = any(random);
  }
  [[nodiscard]] FieldView view() const {
    const Index3 n = own_.extents();
    return {.data = values_.data(),
            .type = h5::ElementType::float32,
            .box = own_,
            .stride_y = n.x,
            .stride_z = n.x * n.y};
  }

 private:
  Box own_;
  std::vector<float> values_;
};

Box own_of(Index3 domain, mpi::CommView comm) {
  return pattern::slabs(domain, comm.size())[static_cast<std::size_t>(comm.rank())];
}

/// Writes the pattern of `steps` steps.
void write_pattern(mpi::CommView comm, const std::string& path, Index3 domain,
                   const std::vector<Stream>& streams, StepIndex steps, const WriteOptions& options) {
  const Box own = own_of(domain, comm);
  pattern::Field<float> field(own);
  trace::Log log("main");
  Session session(comm, path, make_plan(streams, own, domain), {}, options, log);
  for (StepIndex step = 1; step <= steps; ++step) {
    field.set(step);
    session.sample(step, [&](const std::string&) { return field.view(); });
  }
  session.sample_final(steps, [&](const std::string&) { return field.view(); });
  session.finish(steps, {});
}

std::vector<std::byte> values_of(const h5::File& file, const std::string& dataset) {
  const h5::Shape shape = file.shape(dataset);
  std::vector<std::byte> bytes(h5::element_count(shape) * h5::size_bytes(file.type(dataset)));
  file.read_hyperslab_bytes(dataset, file.type(dataset), h5::Shape(shape.size(), 0), shape, bytes);
  return bytes;
}

void check_equal(const std::string& a, const std::string& b, const std::vector<Stream>& streams) {
  const auto first = h5::File::open(a), second = h5::File::open(b);
  for (const auto& stream : streams)
    for (const auto& spec : stream.datasets)
      CHECK_MESSAGE(values_of(first, spec.path) == values_of(second, spec.path), spec.path);
}

constexpr Cadence ten_steps{.first = 1, .every = 1, .last = 10};

Stream stream(const std::string& name, const Selection& selection, Reduction reduction, Index3 domain,
              Cadence cadence = ten_steps, h5::ElementType type = h5::ElementType::float32) {
  return pattern::make_stream(name, selection, reduction, cadence, type, domain);
}

/// Points all over the domain in no order, some named twice.
Points scattered_points(Index3 n) {
  std::mt19937 random(3);
  const auto below = [&](std::int64_t end) { return static_cast<std::int64_t>(random() % end); };
  Points points;
  for (int i = 0; i < 3000; ++i) points.points.push_back({below(n.x), below(n.y), below(n.z)});
  for (int i = 0; i < 500; ++i) points.points.push_back(points.points[static_cast<std::size_t>(i) * 3]);
  return points;
}

/// Streams whose chunks hold several samples, one, and parts of one, on one rank and on several.
std::vector<Stream> streams_of_all_sizes(Index3 n) {
  const Boxes boxes{{{{0, 0, 0}, {n.x, n.y, 5}},
                     {{3, 2, 1}, {n.x - 1, n.y - 3, n.z - 2}},
                     {{5, 5, 3}, {6, 6, 4}},
                     {{0, 4, 2}, {n.x, 9, n.z}}}};
  std::vector<Stream> streams{
      stream("whole", Whole{}, Reduction::none, n, {.first = 3, .every = 4, .last = 10}),
      stream("points", scattered_points(n), Reduction::none, n),
      stream("point", Points{{{n.x - 1, 0, n.z - 1}}}, Reduction::none, n),
      stream("boxes", boxes, Reduction::none, n),
      stream("doubles", boxes, Reduction::none, n, ten_steps, h5::ElementType::float64),
      stream("last", Whole{}, Reduction::final, n),
      stream("points_last", scattered_points(n), Reduction::final, n, {.first = 1, .every = 1, .last = 8})};
  for (const auto reduction : {Reduction::min, Reduction::max, Reduction::rms, Reduction::mean})
    for (const Selection& selection : {Selection(Whole{}), Selection(scattered_points(n)), Selection(boxes)})
      streams.push_back(
          stream(fmt::format("{}_{}", to_string(reduction), streams.size()), selection, reduction, n));
  return streams;
}

/// The first dataset as readers of time series want it: (samples, z, y, x).
Stream stepwise(Index3 n, Cadence cadence) {
  auto whole = stream("p", Whole{}, Reduction::none, n, cadence);
  const auto extent = [](std::int64_t value) { return static_cast<std::uint64_t>(value); };
  whole.datasets[0].shape = {extent(cadence.samples()), extent(n.z), extent(n.y), extent(n.x)};
  return whole;
}

}  // namespace

MPI_CASE("what readers see is the same as with the sink hdf5, byte for byte", ranks{1, 2, 3, 4, 7}) {
  const Index3 domain{24, 20, 22};
  const SharedDir directory(comm);
  const auto streams = streams_of_all_sizes(domain);
  const auto plain = directory.file("plain.h5"), chunked = directory.file("chunked.h5");
  write_pattern(comm, plain, domain, streams, 10, options_of("threads", "hdf5"));
  for (const char* strategy : {"blocking", "threads:1", "threads:3"})
    for (const char* sink : {"hdf5-chunked", "hdf5-chunked:1"}) {
      write_pattern(comm, chunked, domain, streams, 10, options_of(strategy, sink));
      if (comm.is_root()) check_equal(plain, chunked, streams);
    }
}

MPI_CASE("samples of several chunks, cut between ranks where the domain is not", ranks{1, 2, 3, 7}) {
  const Index3 domain{96, 128, 70};  // 3.3 MiB
  const SharedDir directory(comm);
  const Cadence three{.first = 1, .every = 1, .last = 3};
  const std::vector<Stream> streams{stream("p", Whole{}, Reduction::none, domain, three),
                                    stream("max", Whole{}, Reduction::max, domain, three)};
  const auto plain = directory.file("plain.h5"), chunked = directory.file("chunked.h5");
  write_pattern(comm, plain, domain, streams, 3, options_of("threads", "hdf5"));
  write_pattern(comm, chunked, domain, streams, 3, options_of("threads", "hdf5-chunked"));
  if (!comm.is_root()) return;
  check_equal(plain, chunked, streams);
  const auto layout = h5::File::open(chunked).chunk_layout("/p");
  REQUIRE(layout);
  CHECK(layout->chunk == h5::Shape{1, 215'040});  // a quarter of a sample, whatever the number of ranks
}

MPI_CASE("the level is that of the option, and the file is smaller", ranks{1, 3}) {
  const Index3 domain{32, 32, 32};
  const SharedDir directory(comm);
  const std::vector<Stream> streams{stepwise(domain, ten_steps)};
  std::vector<std::uintmax_t> sizes;
  for (const int level : {1, 6, 9}) {
    const auto path = directory.file(fmt::format("{}.h5", level));
    write_pattern(comm, path, domain, streams, 10,
                  options_of("threads", fmt::format("hdf5-chunked:{}", level)));
    if (!comm.is_root()) continue;
    sizes.push_back(std::filesystem::file_size(path));
    const auto layout = h5::File::open(path).chunk_layout("/p");
    REQUIRE(layout);
    CHECK(layout->deflate == level);
    CHECK(layout->shuffle);
    CHECK(layout->chunk == h5::Shape{1, 32, 32, 32});
  }
  if (!comm.is_root()) return;
  CHECK(sizes[0] < static_cast<std::uintmax_t>(10 * domain.volume() * 4 / 4));
  CHECK(sizes[2] < sizes[0]);
}

MPI_CASE("a slow device holds the computation up, and memory stays within what was said", ranks{3}) {
  const Index3 domain{80, 80, 80};  // 2 MiB
  const SharedDir directory(comm);
  const Box own = own_of(domain, comm);
  constexpr StepIndex steps = 25;
  const Cadence cadence{.first = 1, .every = 1, .last = steps};
  for (const char* strategy : {"blocking", "threads:1"}) {
    const Noise noise(own);
    trace::Log log("main");
    Session session(comm, directory.file("out.h5"), make_plan({stepwise(domain, cadence)}, own, domain), {},
                    options_of(strategy, "hdf5-chunked:1", "bandwidth=200MB/s"), log);
    const auto before = resident_memory_bytes();
    std::int64_t most = before;
    for (StepIndex step = 1; step <= steps; ++step) {
      session.sample(step, [&](const std::string&) { return noise.view(); });
      most = std::max(most, resident_memory_bytes());
      // As the exchanges of a simulation that knows nothing of ours: this rank does nothing else meanwhile.
      static_cast<void>(mpi::Comm::split(comm, 0));  // MPI's own wait, which never gives the core away
    }
    session.finish(steps, {});
    constexpr std::int64_t slack = 16 << 20;  // MPI's own, and memory that the allocator keeps
    CHECK(most - before < session.memory_bytes() + slack);
    CHECK(session.memory_bytes() < std::int64_t{24} << 20);  // of 49 MiB written
    if (!comm.is_root()) continue;
    CHECK(session.account().wait_s > 0);
    const auto bytes = values_of(h5::File::open(directory.file("out.h5")), "/p");
    const FieldView mine = noise.view();  // the first planes of each sample
    const auto sample = bytes.size() / steps, count = static_cast<std::size_t>(own.volume()) * sizeof(float);
    for (std::size_t i = 0; i < steps; ++i)
      CHECK(std::memcmp(bytes.data() + i * sample, mine.data, count) == 0);
  }
}

MPI_CASE("ranks that compute at their own speed", ranks{2, 3, 4}) {
  const Index3 domain{16, 16, 28};
  const SharedDir directory(comm);
  const Cadence cadence{.first = 1, .every = 2, .last = 40};
  const std::vector<Stream> streams{
      stream("points", scattered_points(domain), Reduction::none, domain, cadence)};
  const Box own = own_of(domain, comm);
  const auto plain = directory.file("plain.h5"), chunked = directory.file("chunked.h5");
  write_pattern(comm, plain, domain, streams, 40, options_of("threads", "hdf5"));
  for (int slow = 0; slow < comm.size(); ++slow) {
    pattern::Field<float> field(own);
    trace::Log log("main");
    Session session(comm, chunked, make_plan(streams, own, domain), {}, options_of("threads", "hdf5-chunked"),
                    log);
    for (StepIndex step = 1; step <= 40; ++step) {
      if (comm.rank() == slow) sleep_s(2e-3);
      field.set(step);
      session.sample(step, [&](const std::string&) { return field.view(); });
    }
    session.finish(40, {});
    if (comm.is_root()) check_equal(plain, chunked, streams);
    mpi::barrier(comm);
  }
}

namespace {

/// Resumes in a file from step `after` on, as a resumed session does.
void resume(mpi::CommView comm, const std::string& path, Index3 domain, const std::vector<Stream>& streams,
            StepIndex after, StepIndex steps) {
  const Box own = own_of(domain, comm);
  const Plan plan = make_plan(streams, own, domain);
  const WriteOptions options = options_of("threads", "hdf5-chunked");
  const FileHead head;
  const auto sink = create_sink({.comm = comm,
                                 .path = path,
                                 .plan = plan,
                                 .head = head,
                                 .options = options,
                                 .resume_after = after,
                                 .sources = comm.size()});
  pattern::Field<float> field(own);
  StagingPool pool(1, plan.staging_bytes());
  Account account;
  trace::Log log("writer");
  for (StepIndex step = after + 1; step <= steps; ++step) {
    field.set(step);
    auto job = pool.acquire();
    for (const auto& planned : plan.streams)
      for (const auto& share : planned.shares)
        pack(field.view(), share, own, 0, share.values,
             job->add(share, planned.cadence.samples_until(step) - 1, 0, share.values));
    job->step = step;
    job->commit_mark = step;
    run_job(*job, shares_of(plan), *sink, account, log);
    for (Backoff backoff; !sink->exchange()->keeps_up(step);) backoff.pause();
  }
  mpi::collectively(comm, [&] { sink->exchange()->complete(); });
  sink->close(comm, {}, {.steps = steps});
}

/// A file of another program: chunks of one step, filter deflate at level 0, no record.
void write_foreign(const std::string& path, const std::string& source, const Stream& stream,
                   const h5::ChunkLayout& layout) {
  const auto whole = values_of(h5::File::open(source), stream.datasets[0].path);
  auto file = h5::File::create(path);
  file.create_chunked_dataset(stream.datasets[0], layout);
  file.write_bytes(stream.datasets[0].path, stream.datasets[0].type, whole);
  file.close();
}

std::uint64_t recorded(const std::string& path) {
  const auto file = h5::File::open(path);
  std::vector<std::uint64_t> slots(file.shape(commit_mark_path).back());
  file.read(commit_mark_path, std::span(slots));
  return *std::min_element(slots.begin(), slots.end());
}

template <class Action>
std::string message_of(const Action& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace

MPI_CASE("a run resumes in the file that it left, in the middle of chunks", ranks{1, 2, 3, 7}) {
  const Index3 domain{12, 10, 14};
  const SharedDir directory(comm);
  const std::vector<Stream> streams{stepwise(domain, ten_steps),
                                    stream("points", scattered_points(domain), Reduction::none, domain)};
  const auto plain = directory.file("plain.h5"), chunked = directory.file("chunked.h5");
  write_pattern(comm, plain, domain, streams, 10, options_of("threads", "hdf5"));
  for (const StepIndex after : {1, 3, 9}) {
    write_pattern(comm, chunked, domain, streams, after, options_of("threads", "hdf5-chunked"));
    resume(comm, chunked, domain, streams, after, after + 1);
    if (after < 9) resume(comm, chunked, domain, streams, after + 1, 10);
    if (!comm.is_root()) continue;
    check_equal(plain, chunked, streams);
    CHECK(recorded(chunked) == 10);
  }
}

MPI_CASE("what was flushed is in the file of a run that is killed, in the middle of chunks too",
         ranks{1, 2, 3, 7}) {
  const Index3 domain{12, 10, 14};
  const SharedDir directory(comm);
  const Boxes boxes{{{{0, 0, 0}, {12, 10, 5}}, {{5, 5, 3}, {6, 6, 4}}}};
  const std::vector<Stream> streams{stepwise(domain, ten_steps),
                                    stream("points", scattered_points(domain), Reduction::none, domain),
                                    stream("point", Points{{{11, 0, 13}}}, Reduction::none, domain),
                                    stream("boxes", boxes, Reduction::none, domain)};
  const auto plain = directory.file("plain.h5"), chunked = directory.file("chunked.h5");
  write_pattern(comm, plain, domain, streams, 10, options_of("threads", "hdf5"));
  for (const char* strategy : {"blocking", "threads"}) {
    const Box own = own_of(domain, comm);
    pattern::Field<float> field(own);
    trace::Log log("main");
    Session session(comm, chunked, make_plan(streams, own, domain), {}, options_of(strategy, "hdf5-chunked"),
                    log);
    const auto left = [&](StepIndex step) { return directory.file(fmt::format("left-{}.h5", step)); };
    for (StepIndex step = 1; step <= 10; ++step) {
      field.set(step);
      session.sample(step, [&](const std::string&) { return field.view(); });
      if (step != 3 && step != 4 && step != 8) continue;
      CHECK(session.flush_all(60) == step);
      if (comm.is_root()) std::filesystem::copy_file(chunked, left(step));
    }
    session.finish(10, {});
    mpi::barrier(comm);
    for (const StepIndex step : {3, 4, 8}) {
      if (comm.is_root()) CHECK(recorded(left(step)) == static_cast<std::uint64_t>(step));
      resume(comm, left(step), domain, streams, step, 10);
      if (comm.is_root()) {
        check_equal(plain, left(step), streams);
        std::filesystem::remove(left(step));
      }
    }
    if (comm.is_root()) check_equal(plain, chunked, streams);
    mpi::barrier(comm);
  }
}

MPI_CASE("a run resumes in a file of another program with chunks of its own", ranks{1, 3}) {
  const Index3 domain{12, 10, 14};
  const SharedDir directory(comm);
  const std::vector<Stream> streams{stepwise(domain, ten_steps)};
  const auto early = directory.file("early.h5"), plain = directory.file("plain.h5"),
             chunked = directory.file("chunked.h5");
  write_pattern(comm, early, domain, streams, 4, options_of("threads", "hdf5"));
  write_pattern(comm, plain, domain, streams, 10, options_of("threads", "hdf5"));
  for (const h5::ChunkLayout& layout :
       {h5::ChunkLayout{.chunk = {1, 14, 10, 12}, .deflate = 0}, h5::ChunkLayout{.chunk = {1, 3, 10, 12}},
        h5::ChunkLayout{.chunk = {4, 14, 10, 12}, .shuffle = true, .deflate = 9}}) {
    mpi::barrier(comm);
    if (comm.is_root()) write_foreign(chunked, early, streams[0], layout);
    mpi::barrier(comm);
    resume(comm, chunked, domain, streams, 4, 10);
    if (!comm.is_root()) continue;
    check_equal(plain, chunked, streams);
    CHECK(h5::File::open(chunked).chunk_layout("/p")->deflate == layout.deflate);
  }
}

MPI_CASE("a file in which a run cannot continue is refused on all ranks with the reason", ranks{1, 3}) {
  const Index3 domain{12, 10, 14};
  const SharedDir directory(comm);
  const std::vector<Stream> streams{stepwise(domain, ten_steps)};
  const auto path = directory.file("out.h5");
  const auto refusal = [&](const std::vector<Stream>& wanted) {
    mpi::barrier(comm);
    return message_of([&] { resume(comm, path, domain, wanted, 4, 10); });
  };
  write_pattern(comm, path, domain, streams, 4, options_of("threads", "hdf5"));
  CHECK(refusal(streams).find("dataset /p is not in chunks. Fix: resume with the sink hdf5") !=
        std::string::npos);
  write_pattern(comm, path, domain, streams, 4, options_of("threads", "hdf5-chunked"));
  CHECK(refusal({stepwise(domain, {.first = 2, .every = 1, .last = 10})}).find("has the shape (10,") !=
        std::string::npos);
  auto doubles = stepwise(domain, ten_steps);
  doubles.datasets[0].type = h5::ElementType::float64;
  CHECK(refusal({doubles}).find("has elements of 32-bit float") != std::string::npos);
  auto other = stepwise(domain, ten_steps);
  other.datasets[0].path = "/q";
  CHECK(refusal({other}).find("dataset /q is missing") != std::string::npos);
  if (comm.is_root()) write_foreign(path, path, streams[0], {.chunk = {10, 1, 10, 12}, .deflate = 1});
  CHECK(refusal(streams).find("has chunks of (10, 1, 10, 12)") != std::string::npos);
}
