// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <exception>
#include <mutex>

namespace tailrace {

/// Keeps the first of the exceptions of several threads, for the one that waits for them.
class FirstError {
 public:
  /// Calls `work` and keeps what it throws. Returns whether it threw nothing. Any thread. @local
  template <class Work>
  bool guard(const Work& work) noexcept {
    try {
      work();
      return true;
    } catch (...) {
      const std::scoped_lock lock(mutex_);
      if (!error_) error_ = std::current_exception();
      return false;
    }
  }
  /// Throws it, if there was one. When the threads have ended. @local
  void rethrow() const {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  std::mutex mutex_;
  std::exception_ptr error_;
};

}  // namespace tailrace
