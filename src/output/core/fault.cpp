// SPDX-License-Identifier: BSD-3-Clause
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <random>
#include <vector>

#include "base/system.hpp"
#include "output/core/write_call.hpp"

namespace tailrace::output {

namespace {

/// The first half of the bytes, at least one.
std::vector<iovec> first_half(std::span<const iovec> buffers) {
  std::size_t total = 0;
  for (const auto& buffer : buffers) total += buffer.iov_len;
  std::size_t left = total > 1 ? total / 2 : total;
  std::vector<iovec> half;
  for (const auto& buffer : buffers) {
    if (left == 0) break;
    half.push_back({buffer.iov_base, std::min(left, buffer.iov_len)});
    left -= half.back().iov_len;
  }
  return half;
}

class FaultyCall final : public WriteCall {
 public:
  FaultyCall(std::unique_ptr<WriteCall> next, const Fault& fault, int rank)
      : next_(std::move(next)), fault_(fault), random_(fault.seed + static_cast<std::uint64_t>(rank)) {}

  ssize_t write(int fd, std::span<const iovec> buffers, off_t offset, StepIndex step) override {
    const ssize_t taken =
        strikes(step) ? disturbed(fd, buffers, offset, step) : next_->write(fd, buffers, offset, step);
    if (taken > 0) bytes_ += taken;
    return taken;
  }

  WriteDecision plan(std::size_t bytes, StepIndex step) override {
    const WriteDecision write_decision = strikes(step) ? disturbed(bytes, step) : next_->plan(bytes, step);
    if (write_decision.error == 0) bytes_ += static_cast<std::int64_t>(write_decision.bytes);
    return write_decision;
  }

 private:
  bool strikes(StepIndex step) {
    if (step < fault_.from_step || bytes_ < fault_.after_bytes) return false;
    ++candidates_;
    if (fault_.nth) return candidates_ == *fault_.nth;
    if (fault_.every) return (candidates_ + static_cast<std::int64_t>(fault_.seed)) % *fault_.every == 0;
    if (fault_.probability) return std::uniform_real_distribution<>(0, 1)(random_) < *fault_.probability;
    return true;
  }

  ssize_t disturbed(int fd, std::span<const iovec> buffers, off_t offset, StepIndex step) {
    switch (fault_.action) {
      case Fault::Action::write:
        errno = fault_.error;
        return -1;
      case Fault::Action::shorten:
        return next_->write(fd, first_half(buffers), offset, step);
      case Fault::Action::stall:
        sleep_s(fault_.stall_s);
        return next_->write(fd, buffers, offset, step);
      case Fault::Action::kill:
        break;
    }
    next_->write(fd, first_half(buffers), offset, step);
    kill(getpid(), SIGKILL);
    return -1;
  }

  WriteDecision disturbed(std::size_t bytes, StepIndex step) {
    if (fault_.action == Fault::Action::write) return {.bytes = bytes, .error = fault_.error};
    const bool halves = fault_.action != Fault::Action::stall;
    WriteDecision write_decision = next_->plan(halves && bytes > 1 ? bytes / 2 : bytes, step);
    if (fault_.action == Fault::Action::stall)
      write_decision.not_before_s = std::max(write_decision.not_before_s, monotonic_s() + fault_.stall_s);
    write_decision.kill = write_decision.kill || fault_.action == Fault::Action::kill;
    return write_decision;
  }

  std::unique_ptr<WriteCall> next_;
  Fault fault_;
  std::mt19937_64 random_;
  std::int64_t candidates_ = 0, bytes_ = 0;
};

}  // namespace

std::unique_ptr<WriteCall> make_faulty_call(std::unique_ptr<WriteCall> next, const Fault& fault, int rank) {
  return std::make_unique<FaultyCall>(std::move(next), fault, rank);
}

}  // namespace tailrace::output
