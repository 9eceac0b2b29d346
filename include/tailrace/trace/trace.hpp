#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "tailrace/base/box.hpp"

/// Where the time went: spans and counters per thread. Needs no MPI.
namespace tailrace::trace {

/// What a thread does during a span.
enum class Kind : std::uint8_t { setup, compute, exchange, pack, output_wait, write, close };
inline constexpr std::size_t kind_count = 7;
const char* to_string(Kind kind) noexcept;

/// One stretch of time of one thread; times in seconds of `monotonic_s`.
struct Span {
  Kind kind;
  StepIndex step;
  double start_s, end_s;
  std::int64_t bytes;
};

/// Totals of one kind of span.
struct Total {
  double seconds = 0;
  std::int64_t bytes = 0, count = 0;
};

/// The log of one thread. Only its thread adds to it; it is read after the thread has ended or is idle.
class Log {
 public:
  explicit Log(std::string thread) : thread_(std::move(thread)) {}

  /// Adds a span. The list of spans is bounded: beyond the bound only the totals go on.
  void add(const Span& span);
  [[nodiscard]] const Total& total(Kind kind) const noexcept {
    return totals_[static_cast<std::size_t>(kind)];
  }
  [[nodiscard]] const std::vector<Span>& spans() const noexcept { return spans_; }
  [[nodiscard]] const std::string& thread() const noexcept { return thread_; }

 private:
  static constexpr std::size_t most_spans = 200'000;  // 8 MB; ten thousand steps of twenty spans
  std::string thread_;
  std::vector<Span> spans_;
  std::vector<Total> totals_ = std::vector<Total>(kind_count);
};

/// Adds the time from its construction to its end, or to `stop`, to a log.
class Scope {
 public:
  Scope(Log& log, Kind kind, StepIndex step, std::int64_t bytes = 0);
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;
  ~Scope() { stop(); }
  /// Ends the span now; later calls do nothing. Returns its length in seconds, 0 on later calls.
  double stop() noexcept;

 private:
  Log* log_;
  Span span_;
};

/// Writes the spans of several logs as CSV (`thread,kind,step,start_s,end_s,bytes`), times relative to
/// `zero_s`. Errors (io): the file could not be written completely; none is left then.
void write_csv(const std::string& path, const std::vector<const Log*>& logs, double zero_s);

}  // namespace tailrace::trace
