// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <exception>
#include <thread>
#include <utility>

#include "output/core/background_thread.hpp"

namespace tailrace::checkpoint {

/// Something that is done once, asynchronously. Whoever forgets it waits for its end.
class BackgroundTask {
 public:
  template <class Work>
  explicit BackgroundTask(Work work)
      : thread_(output::start_background_thread({}, [this, work = std::move(work)] {
          try {
            work();
          } catch (...) {
            failure_ = std::current_exception();
          }
          done_ = true;
        })) {}
  BackgroundTask(const BackgroundTask&) = delete;
  BackgroundTask& operator=(const BackgroundTask&) = delete;
  ~BackgroundTask() = default;

  /// Returns whether `finish` will not wait.
  [[nodiscard]] bool is_done() const noexcept { return done_; }
  /// Waits for the end, and throws what the work threw.
  void finish() {
    thread_.join();
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  std::exception_ptr failure_;
  std::atomic<bool> done_ = false;
  std::jthread thread_;  // last: it ends before what it uses
};

}  // namespace tailrace::checkpoint
