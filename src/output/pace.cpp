#include <algorithm>
#include <cerrno>
#include <random>

#include "tailrace/base/system.hpp"
#include "tailrace/output/write_call.hpp"

namespace tailrace::output {

namespace {

/// A device that serves one write after the other: each occupies it for its latency and its bytes, and the
/// call returns when the device is done.
class PacedCall final : public WriteCall {
 public:
  PacedCall(std::unique_ptr<WriteCall> next, const Pace& pace, int rank)
      : next_(std::move(next)), pace_(pace), random_(pace.seed + static_cast<std::uint64_t>(rank)) {}

  ssize_t write(int fd, std::span<const iovec> pieces, off_t offset, StepIndex step) override {
    // Sleeps overshoot by some tens of microseconds; a write that follows at once starts when the device was
    // free, so that the rate holds over many writes.
    constexpr double overshoot_s = 1e-3;
    const double now = monotonic_s(), start = free_at_s_ < now - overshoot_s ? now : free_at_s_;
    const ssize_t taken = next_->write(fd, pieces, offset, step);
    const int error = errno;
    double duration_s = pace_.latency_s;
    if (pace_.bandwidth_bytes_s > 0)
      duration_s += static_cast<double>(std::max<ssize_t>(taken, 0)) / pace_.bandwidth_bytes_s;
    duration_s *= 1 + pace_.jitter * std::uniform_real_distribution<>(-1, 1)(random_);
    free_at_s_ = start + duration_s;
    sleep_s(free_at_s_ - monotonic_s());
    errno = error;
    return taken;
  }

 private:
  std::unique_ptr<WriteCall> next_;
  Pace pace_;
  std::mt19937_64 random_;
  double free_at_s_ = 0;
};

}  // namespace

std::unique_ptr<WriteCall> make_paced_call(std::unique_ptr<WriteCall> next, const Pace& pace, int rank) {
  return std::make_unique<PacedCall>(std::move(next), pace, rank);
}

}  // namespace tailrace::output
