// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "output/strategies/async_writer.hpp"
#include "output_pattern.hpp"
#include "tailrace/error.hpp"
#include "temp_dir.hpp"
#include "writer_ground.hpp"

/// Describes what the tests of asynchronous writers share.
namespace tailrace::output::async_bench {

constexpr std::int64_t data_at = 4096, commit_mark_at = 64;  // of the file of these tests

/// A sink whose one dataset and one slot of the commit mark lie in a plain file.
class PlainSink final : public Sink, private PlacedFiles {
 public:
  explicit PlainSink(const std::string& path, const WriteOptions& options = {})
      : file_(made(path), make_write_call(options, 0)) {}

  Written write(std::span<const Extent> extents, StepIndex step) override {
    Written written;
    for (const auto& extent : extents) {
      iovec share{const_cast<std::byte*>(extent.bytes.data()), extent.bytes.size()};
      file_.write(std::span(&share, 1), data_at + extent.offset_bytes, step);
      written.bytes += static_cast<std::int64_t>(extent.bytes.size());
      ++written.operations;
    }
    return written;
  }
  void mark_dropped(int) override { dropped_after.push_back(recorded_); }
  void commit_mark(int, StepIndex steps) override {
    const auto value = static_cast<std::uint64_t>(steps);
    file_.write_directly(std::as_bytes(std::span(&value, 1)), commit_mark_at);
  }
  void flush() override { file_.flush(); }
  void close(mpi::CommView, const FileTail&, const FileEnd&) override {}
  [[nodiscard]] PlacedFiles* placed() noexcept override { return this; }

  std::vector<StepIndex> dropped_after;  ///< steps recorded when samples were left out

  [[nodiscard]] const std::string& warning() const noexcept override { return none_; }

 private:
  static std::string made(const std::string& path) {
    std::ofstream(path).flush();
    return path;
  }
  std::vector<RawFile*> files() override { return {&file_}; }
  [[nodiscard]] Place place(std::size_t, std::int64_t offset_bytes) const override {
    return {.file = 0, .offset = data_at + offset_bytes, .bytes = std::int64_t{1} << 40};
  }
  [[nodiscard]] Slots commit_mark(int) const override {
    return {.first = {.file = 0, .offset = commit_mark_at}, .count = 1};
  }
  void mark_recorded(int, StepIndex steps) override { recorded_ = steps; }
  RawFile file_;
  StepIndex recorded_ = 0;
  std::string none_;
};

/// A queue whose operations end when and as the test says.
class HandQueue final : public AsyncQueue {
 public:
  struct Asked {
    std::uint64_t tag;
    std::span<const iovec> shares;  ///< empty: a flush
    std::int64_t offset;
    double not_before_s;
    [[nodiscard]] bool is_commit_mark() const { return !shares.empty() && offset < data_at; }
    [[nodiscard]] bool is_flush() const { return shares.empty() && not_before_s == 0; }
    [[nodiscard]] bool is_pause() const { return shares.empty() && not_before_s > 0; }
  };

  explicit HandQueue(const std::string& path) : fd_(open(path.c_str(), O_WRONLY | O_CLOEXEC)) {}
  HandQueue(const HandQueue&) = delete;
  HandQueue& operator=(const HandQueue&) = delete;
  ~HandQueue() override { ::close(fd_); }

  void write(std::uint64_t tag, std::size_t, std::span<const iovec> shares, std::int64_t offset,
             double not_before_s) override {
    asked.push_back({tag, shares, offset, not_before_s});
    max_asked = std::max(max_asked, asked.size());
  }
  void pause(std::uint64_t tag, double until_s) override { asked.push_back({tag, {}, 0, until_s}); }
  void flush(std::uint64_t tag, std::size_t) override { asked.push_back({tag, {}, 0, 0}); }
  void start_flush(std::size_t) override { ++started_flushes; }
  void submit() override {
    if (broken) throw Error(ErrorKind::io, "the queue is gone");
  }
  std::optional<Completion> next() override {
    if (done_.empty()) return {};
    const auto first = done_.front();
    done_.erase(done_.begin());
    return first;
  }
  void wait() override {
    submit();
    if (done_.empty() && !asked.empty()) complete(0);
  }
  double cpu_s() override { return 0; }

  /// Ends the operation after it has taken at most so many bytes.
  void complete(std::size_t number, std::size_t most = SIZE_MAX) {
    const Asked operation = asked.at(number);
    std::int64_t taken = 0;
    for (const auto& share : operation.shares) {
      const auto bytes = std::min(share.iov_len, most - static_cast<std::size_t>(taken));
      CHECK(pwrite(fd_, share.iov_base, bytes, operation.offset + taken) == static_cast<ssize_t>(bytes));
      taken += static_cast<std::int64_t>(bytes);
    }
    answer(number, taken);
  }
  /// Ends it with this result, without having done anything.
  void answer(std::size_t number, std::int64_t result) {
    done_.push_back({.tag = asked.at(number).tag, .result = result});
    asked.erase(asked.begin() + static_cast<std::ptrdiff_t>(number));
  }

  std::vector<Asked> asked;
  std::size_t max_asked = 0;
  int started_flushes = 0;
  bool broken = false;

 private:
  int fd_;
  std::vector<Completion> done_;
};

constexpr Index3 domain{4, 3, 2};
constexpr StepIndex last_step = 20;

inline Plan whole_plan(OnFailure policy) {
  auto p = pattern::make_stream("p", Whole{}, Reduction::none, {.first = 1, .every = 1, .last = last_step},
                                h5::ElementType::float64, domain);
  p.on_failure = policy;
  return make_plan({p}, Box::whole(domain), domain);
}

inline Lease fill(Lease job, const Plan& plan, StepIndex step) {
  for (const auto& share : plan.streams[0].shares) {
    auto* const values = reinterpret_cast<double*>(job->add(share, step - 1, 0, share.values).data());
    std::fill_n(values, share.values, static_cast<double>(step));
  }
  job->step = step;
  job->commit_mark = step;
  return job;
}

/// A writer over a queue; by default one that the test works by hand.
struct Bench : test::WriterGround {
  explicit Bench(int buffers, const std::string& fault = {}, const std::string& pace = {},
                 OnFailure policy = OnFailure::stop)
      : WriterGround(
            whole_plan(policy),
            parse_options(
                {.write = "uring:" + std::to_string(buffers), .sink = {}, .pace = pace, .fault = fault})),
        sink(directory.file("file"), options) {
    AsyncWriterParts parts;
    parts.memory.resize(static_cast<std::size_t>(buffers) * StagingPool::distance(plan.staging_bytes()));
    auto made = std::make_unique<HandQueue>(directory.file("file"));
    queue = made.get();
    parts.queue = std::move(made);
    writer = make_async_writer(context(), std::move(parts));
  }
  WriterContext context() { return WriterGround::context(sink); }
  void submit(StepIndex step, bool flush = false) {
    auto job = fill(writer->acquire(), plan, step);
    job->flush = flush;
    writer->submit(std::move(job));
  }
  [[nodiscard]] std::uint64_t recorded() const {
    std::uint64_t value = 0;
    std::ifstream file(directory.file("file"), std::ios::binary);
    file.seekg(commit_mark_at);
    file.read(reinterpret_cast<char*>(&value), sizeof value);
    return file ? value : 0;
  }
  /// Values of the samples up to `last` that are not their step's number.
  [[nodiscard]] std::size_t wrong_values(StepIndex last) const {
    std::vector<double> values(static_cast<std::size_t>(last * domain.volume()));
    std::ifstream file(directory.file("file"), std::ios::binary);
    file.seekg(data_at);
    file.read(reinterpret_cast<char*>(values.data()),
              static_cast<std::streamsize>(values.size() * sizeof(double)));
    if (!file) return values.size();
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < values.size(); ++i)
      wrong += values[i] != static_cast<double>(static_cast<std::int64_t>(i) / domain.volume() + 1);
    return wrong;
  }

  test::TempDir directory;
  PlainSink sink;
  HandQueue* queue = nullptr;
  std::unique_ptr<Writer> writer;
};

inline const std::int64_t sample_bytes = domain.volume() * static_cast<std::int64_t>(sizeof(double));

}  // namespace tailrace::output::async_bench
