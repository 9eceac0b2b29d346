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
std::vector<iovec> first_half(std::span<const iovec> pieces) {
  std::size_t total = 0;
  for (const auto& piece : pieces) total += piece.iov_len;
  std::size_t left = total > 1 ? total / 2 : total;
  std::vector<iovec> half;
  for (const auto& piece : pieces) {
    if (left == 0) break;
    half.push_back({piece.iov_base, std::min(left, piece.iov_len)});
    left -= half.back().iov_len;
  }
  return half;
}

class FaultyCall final : public WriteCall {
 public:
  FaultyCall(std::unique_ptr<WriteCall> next, const Fault& fault, int rank)
      : next_(std::move(next)), fault_(fault), random_(fault.seed + static_cast<std::uint64_t>(rank)) {}

  ssize_t write(int fd, std::span<const iovec> pieces, off_t offset, StepIndex step) override {
    const ssize_t taken =
        strikes(step) ? disturbed(fd, pieces, offset, step) : next_->write(fd, pieces, offset, step);
    if (taken > 0) bytes_ += taken;
    return taken;
  }

  Course plan(std::size_t bytes, StepIndex step) override {
    const Course course = strikes(step) ? disturbed(bytes, step) : next_->plan(bytes, step);
    if (course.error == 0) bytes_ += static_cast<std::int64_t>(course.bytes);
    return course;
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

  ssize_t disturbed(int fd, std::span<const iovec> pieces, off_t offset, StepIndex step) {
    switch (fault_.action) {
      case Fault::Action::write:
        errno = fault_.error;
        return -1;
      case Fault::Action::shorten:
        return next_->write(fd, first_half(pieces), offset, step);
      case Fault::Action::stall:
        sleep_s(fault_.stall_s);
        return next_->write(fd, pieces, offset, step);
      case Fault::Action::kill:
        break;
    }
    next_->write(fd, first_half(pieces), offset, step);
    kill(getpid(), SIGKILL);
    return -1;
  }

  Course disturbed(std::size_t bytes, StepIndex step) {
    if (fault_.action == Fault::Action::write) return {.bytes = bytes, .error = fault_.error};
    const bool halves = fault_.action != Fault::Action::stall;
    Course course = next_->plan(halves && bytes > 1 ? bytes / 2 : bytes, step);
    if (fault_.action == Fault::Action::stall)
      course.not_before_s = std::max(course.not_before_s, monotonic_s() + fault_.stall_s);
    course.kill = course.kill || fault_.action == Fault::Action::kill;
    return course;
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
