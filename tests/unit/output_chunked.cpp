// SPDX-License-Identifier: BSD-3-Clause
#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <numeric>
#include <random>
#include <thread>

#include "base/system.hpp"
#include "h5/file.hpp"
#include "output/registry/options.hpp"
#include "output/sinks/hdf5_chunked/file.hpp"
#include "output_pattern.hpp"
#include "tailrace/error.hpp"
#include "tailrace/file_content.hpp"
#include "temp_dir.hpp"

using namespace tailrace;
using namespace tailrace::output;
using h5::Shape;

namespace {

constexpr std::int64_t kib = 1024;

Shape chosen(const Shape& shape, std::int64_t sample_bytes) {
  return ChunkGrid::choose(shape, 4, sample_bytes, false);
}

/// A plan of one rank with a dataset /p of samples in (samples, z, y, x).
Plan plan_of(Index3 domain, StepIndex steps) {
  auto stream = pattern::make_stream("p", Whole{}, Reduction::none, {.first = 1, .every = 1, .last = steps},
                                     h5::ElementType::float32, domain);
  const auto extent = [](std::int64_t value) { return static_cast<std::uint64_t>(value); };
  stream.datasets[0].shape = {extent(steps), extent(domain.z), extent(domain.y), extent(domain.x)};
  return make_plan({stream}, Box::whole(domain), domain);
}

/// A file for the plan in chunks of one step, and what this rank knows of it.
struct Chunked {
  Chunked(const std::string& file_path, Index3 domain, StepIndex steps)
      : path(file_path), plan(plan_of(domain, steps)) {
    const auto& spec = plan.streams[0].datasets[0];
    const h5::ChunkLayout layout{
        .chunk = {1, spec.shape[1], spec.shape[2], spec.shape[3]}, .shuffle = true, .deflate = 1};
    auto file = h5::File::create(path);
    file.create_chunked_dataset(spec, layout);
    file.create_dataset(
        {.path = commit_mark_path, .shape = {1, 1, 1}, .type = h5::ElementType::uint64, .attributes = {}});
    file.write<std::uint64_t>(commit_mark_path, std::vector<std::uint64_t>{0});
    file.close();
    datasets = map_datasets(plan, {layout}, 0);
  }

  [[nodiscard]] ChunkFileSetup setup(const std::string& fault = {}) const {
    const auto options = parse_options({.write = {}, .sink = {}, .pace = {}, .fault = fault});
    return {.path = path,
            .plan = plan,
            .datasets = datasets,
            .ranks = 1,
            .level = 1,
            .queue_bytes = 1 << 20,
            .cpus = {},
            .call = make_write_call(options, 0)};
  }
  /// The chunk of a step: its values are those of the pattern.
  [[nodiscard]] Packet chunk(StepIndex step) const {
    std::vector<float> values(static_cast<std::size_t>(plan.domain.volume()));
    std::iota(values.begin(), values.end(), static_cast<float>(1000 * step));
    const auto filtered =
        filter_chunk(std::as_bytes(std::span(values)), sizeof(float), datasets[0].layout, 1);
    return make_packet({.kind = PacketKind::chunk,
                        .skipped = filtered.skipped,
                        .dataset = 0,
                        .number = step - 1,
                        .step = step},
                       filtered.bytes);
  }
  /// Number of steps that the commit mark names, all of whose values must be right.
  [[nodiscard]] StepIndex check_commit_mark() const {
    const auto file = h5::File::open(path);
    std::vector<std::uint64_t> commit_mark(1);
    file.read<std::uint64_t>(commit_mark_path, commit_mark);
    const Shape shape = file.shape("/p");
    std::vector<float> values(static_cast<std::size_t>(plan.domain.volume()));
    std::size_t wrong = 0;
    for (std::uint64_t step = 1; step <= commit_mark[0]; ++step) {
      file.read_hyperslab("/p", {step - 1, 0, 0, 0}, {1, shape[1], shape[2], shape[3]}, std::span(values));
      for (std::size_t i = 0; i < values.size(); ++i)
        wrong += values[i] != static_cast<float>(1000 * step + i);
    }
    CHECK(wrong == 0);
    return static_cast<StepIndex>(commit_mark[0]);
  }

  std::string path;
  Plan plan;
  std::vector<ChunkedStream> datasets;
};

void push(PacketQueue& queue, Packet packet) {
  while (!queue.reserve(packet.bytes())) queue.wait_for_room(packet.bytes());
  queue.put(std::move(packet));
}

Packet commit_mark_of(StepIndex step) {
  return make_packet({.kind = PacketKind::commit_mark, .number = step, .step = step});
}

}  // namespace

TEST_CASE("chunks are samples, parts of large ones, or several small ones") {
  CHECK(chosen({1, 200, 10'000}, 40'000) == Shape{1, 1, 10'000});  // 40 KB
  CHECK(chosen({1, 200, 100}, 400) == Shape{1, 67, 100});          // 200 in three nearly equal ones
  CHECK(chosen({50, 64, 64, 64}, 4 * 64 * 64 * 64) == Shape{1, 64, 64, 64});  // 1 MiB
  CHECK(chosen({50, 64, 64, 128}, 4 * 64 * 64 * 128) == Shape{1, 32, 64, 128});
  CHECK(chosen({256, 256, 256}, 4 << 24) == Shape{1, 256, 256});  // planes
  CHECK(chosen({1, 1, 3'000'000}, 12'000'000) == Shape{1, 1, 250'000});
  CHECK(chosen({1, 1, 1}, 4) == Shape{1, 1, 1});
  CHECK(ChunkGrid::choose({1, 200, 100}, 4, 400, true) == Shape{1, 1, 100});
  CHECK(ChunkGrid::choose({256, 256, 256}, 4, 4 << 24, true) == Shape{1, 256, 256});
}

TEST_CASE("every byte of a dataset lies in the chunk that its place says") {
  struct Case {
    Shape shape, chunk;
  };
  for (const auto& [shape, chunk] :
       {Case{{3, 4, 5}, {1, 4, 5}}, Case{{3, 4, 5}, {1, 3, 5}}, Case{{7, 2, 5}, {3, 2, 5}},
        Case{{2, 3, 10}, {1, 1, 4}}, Case{{5}, {5}}, Case{{5}, {1}}, Case{{1, 6, 1}, {1, 4, 1}}}) {
    const ChunkGrid grid(shape, chunk, 8);
    std::int64_t next = 0;
    for (std::int64_t number = 0; next < grid.total_bytes(); ++number) {
      const ChunkPlace place = grid.chunk(number);
      REQUIRE(place.begin == next);
      REQUIRE(place.bytes > 0);
      for (std::int64_t offset = place.begin; offset < place.end(); ++offset)
        REQUIRE(grid.at(offset).number == number);
      const Shape start = grid.start(place);
      std::int64_t element = 0;
      for (std::size_t axis = 0; axis < shape.size(); ++axis) {
        CHECK(start[axis] % chunk[axis] == 0);
        element = element * static_cast<std::int64_t>(shape[axis]) + static_cast<std::int64_t>(start[axis]);
      }
      CHECK(element * 8 == place.begin);
      next = place.end();
    }
    CHECK(next == grid.total_bytes());
  }
}

TEST_CASE("chunks whose values lie apart in the dataset are known") {
  CHECK(ChunkGrid::is_regular({10, 8, 6}, {1, 8, 6}));
  CHECK(ChunkGrid::is_regular({10, 8, 6}, {1, 1, 1}));
  CHECK(!ChunkGrid::is_regular({10, 8, 6}, {2, 4, 6}));
  CHECK(!ChunkGrid::is_regular({10, 8, 6}, {10, 8, 3}));
  CHECK(!ChunkGrid::is_regular({10, 8, 6}, {10, 48}));
  CHECK(!ChunkGrid::is_regular({}, {}));
}

TEST_CASE("a chunk that does not shrink is left as it is") {
  std::mt19937_64 random(1);
  std::vector<std::byte> noise(4 * kib), calm(4 * kib);
  for (auto& byte : noise) byte = static_cast<std::byte>(random());
  const h5::ChunkLayout both{.chunk = {1024}, .shuffle = true, .deflate = 4}, none{.chunk = {1024}};
  CHECK(filter_chunk(noise, 4, both, 4).bytes == noise);
  CHECK(filter_chunk(noise, 4, both, 4).skipped == 3);
  CHECK(filter_chunk(calm, 4, both, 4).bytes.size() < 100);
  CHECK(filter_chunk(calm, 4, both, 4).skipped == 0);
  CHECK(filter_chunk(calm, 4, none, 4).bytes == calm);
  CHECK(filter_chunk(calm, 4, none, 4).skipped == 0);
}

TEST_CASE("a queue of packets holds no more than its bytes, and one packet of any size") {
  const auto packet = [](std::size_t bytes) {
    const std::vector<std::byte> content(bytes);
    return make_packet({.kind = PacketKind::values}, content);
  };
  PacketQueue queue(1000);
  auto large = packet(5000);
  REQUIRE(queue.reserve(large.bytes()));
  queue.put(packet(5000));
  CHECK(!queue.reserve(1));
  auto taken = queue.try_take();
  REQUIRE(taken);
  CHECK(!queue.reserve(1));  // it is still in somebody's hands
  std::jthread releaser([&] {
    sleep_s(0.02);
    queue.release(taken->bytes());
  });
  queue.wait_for_room(600);
  REQUIRE(queue.reserve(600));
  CHECK(!queue.reserve(600));
  queue.discard();
  CHECK(queue.reserve(600));
  CHECK(!queue.try_take());
  queue.close();
  CHECK(!queue.take_within(1000));
}

TEST_CASE("after a failed write the file is as its last commit left it, and closing it does not fail") {
  const test::TempDir directory;
  const Chunked chunked(directory.file("a.h5"), {8, 8, 8}, 200);
  ChunkFile file(chunked.setup("write:step=100,error=ENOSPC"));
  for (StepIndex step = 1; step <= 200; ++step) {
    push(file.queue(), chunked.chunk(step));
    push(file.queue(), commit_mark_of(step));
    if (step % 10 == 0) push(file.queue(), make_packet({.kind = PacketKind::flush}));
  }
  file.finish();
  REQUIRE(file.failure());
  CHECK(file.failure()->path == chunked.path);
  CHECK(file.failure()->offset > 0);
  CHECK(file.failure()->message.find("No space left on device") != std::string::npos);
  CHECK(chunked.check_commit_mark() == 90);
  // What no commit has claimed is gone.
  CHECK(std::filesystem::file_size(chunked.path) < 200 * kib);
}

TEST_CASE("a process that is killed at any moment leaves a valid file with all that its commit mark names") {
  const test::TempDir directory;
  constexpr StepIndex steps = 4000;  // an index of several levels
  StepIndex most = 0;
  for (int round = 0; round < 12; ++round) {
    const Chunked chunked(directory.file(std::to_string(round) + ".h5"), {6, 5, 4}, steps);
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      ChunkFile file(chunked.setup());
      for (StepIndex step = 1; step <= steps; ++step) {
        push(file.queue(), chunked.chunk(step));
        push(file.queue(), commit_mark_of(step));
        if (step % 3 == 0) push(file.queue(), make_packet({.kind = PacketKind::flush}));
      }
      file.finish();
      _exit(0);
    }
    sleep_s(0.05 + 0.11 * round);
    kill(child, SIGKILL);
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    most = std::max(most, chunked.check_commit_mark());
  }
  CHECK(most > 100);
}
