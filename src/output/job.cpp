#include <algorithm>
#include <array>
#include <tuple>

#include "tailrace/base/system.hpp"
#include "tailrace/output/writer.hpp"

namespace tailrace::output {

namespace {

/// Extents that are handed to the sink together: bounds the memory of lists of many single points.
constexpr std::size_t extents_at_once = 1024;

/// Turns slices into extents and hands them to the sink in portions.
class ExtentStream {
 public:
  ExtentStream(const Staging& job, Sink& sink) : job_(job), sink_(sink) {}

  void add(const Slice& slice) {
    const auto size = static_cast<std::int64_t>(h5::size_bytes(slice.piece->type));
    const std::int64_t sample_start = slice.sample * slice.piece->part_values;
    std::size_t position = slice.position;
    std::int64_t skip = slice.first, left = slice.count;
    for (const auto& run : slice.piece->runs) {
      if (left == 0) break;
      if (skip >= run.length) {
        skip -= run.length;
        continue;
      }
      const std::int64_t length = std::min(run.length - skip, left);
      const auto bytes = static_cast<std::size_t>(length * size);
      push({.dataset = slice.piece->dataset,
            .offset_bytes = (sample_start + run.offset + skip) * size,
            .bytes = std::span(job_.bytes).subspan(position, bytes)});
      position += bytes;
      left -= length;
      skip = 0;
    }
  }

  void hand_over() {
    const Written now = sink_.write(std::span(extents_).first(count_), job_.step);
    written_.bytes += now.bytes;
    written_.operations += now.operations;
    count_ = 0;
  }

  [[nodiscard]] const Written& written() const noexcept { return written_; }

 private:
  void push(const Extent& extent) {
    if (count_ == extents_.size()) hand_over();
    extents_[count_++] = extent;
  }

  const Staging& job_;
  Sink& sink_;
  std::array<Extent, extents_at_once> extents_;
  std::size_t count_ = 0;
  Written written_;
};

/// Charges what happens during its life to an account and a log, also when it ends by an exception.
class Charge {
 public:
  Charge(StepIndex step, const Written& written, Account& account, trace::Log& log)
      : step_(step), written_(written), account_(account), log_(log) {}
  Charge(const Charge&) = delete;
  Charge& operator=(const Charge&) = delete;
  ~Charge() {
    const double end_s = monotonic_s();
    account_.write_s += end_s - start_s_;
    account_.write_cpu_s += thread_cpu_s() - start_cpu_s_;
    account_.bytes += written_.bytes;
    account_.writes += written_.operations;
    log_.add({.kind = trace::Kind::write,
              .step = step_,
              .start_s = start_s_,
              .end_s = end_s,
              .bytes = written_.bytes});
  }

 private:
  StepIndex step_;
  const Written& written_;
  Account& account_;
  trace::Log& log_;
  double start_s_ = monotonic_s(), start_cpu_s_ = thread_cpu_s();
};

}  // namespace

void run_job(Staging& job, Sink& sink, Account& account, trace::Log& log) {
  // Samples of several steps that touch in the file stand side by side now, and the sink writes them at once.
  std::sort(job.slices.begin(), job.slices.end(), [](const Slice& a, const Slice& b) {
    return std::tuple(a.piece->dataset, a.sample, a.first) < std::tuple(b.piece->dataset, b.sample, b.first);
  });
  ExtentStream extents(job, sink);
  const Charge charge(job.step, extents.written(), account, log);
  for (const auto& slice : job.slices) extents.add(slice);
  extents.hand_over();
  if (job.record) sink.record(*job.record);
  if (job.flush) sink.flush();
}

}  // namespace tailrace::output
