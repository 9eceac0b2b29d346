#pragma once

#include <atomic>
#include <exception>
#include <functional>
#include <thread>

#include "tailrace/output/background_thread.hpp"

namespace tailrace::checkpoint {

/// One action behind the computation, on a thread of its own that makes no MPI call. What it throws, `finish`
/// throws.
class BackgroundTask {
 public:
  explicit BackgroundTask(const std::function<void()>& action)
      : thread_(output::start_background_thread({}, [this, action] {
          try {
            action();
          } catch (...) {
            failure_ = std::current_exception();
          }
          done_.store(true, std::memory_order_release);
        })) {}

  /// Whether `finish` will not wait. @local
  [[nodiscard]] bool done() const noexcept { return done_.load(std::memory_order_acquire); }
  /// Waits for the end. @local
  void finish() {
    if (thread_.joinable()) thread_.join();
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  std::atomic<bool> done_ = false;
  std::exception_ptr failure_;
  std::jthread thread_;  // the last member: it uses the others from the start
};

}  // namespace tailrace::checkpoint
