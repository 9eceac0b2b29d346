// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "base/system.hpp"
#include "fragments/fragment.hpp"
#include "tailrace/trace.hpp"

namespace tailrace::fragments {

/// What people call the fragments of a statement, what they are, and where it is.
trace::TypeName name_of(const Image& image, const Statement& statement);

/// What the fragments of a statement came to, on one rank or on all.
struct StatementUse {
  std::int64_t executed = 0;  ///< ran or unfolded to their end
  double busy_s = 0;          ///< in bodies; of structured fragments, in creating what they hold
};

/// Counts fragments and times by statement, in constant space and for two looks at the clock per fragment.
/// Thread 0 is the rank's own, others are workers; each calls for itself.
class StatementTimes {
 public:
  StatementTimes(const Image& image, int workers);

  void begins(int thread) { threads_[static_cast<std::size_t>(thread)].began_s = monotonic_s(); }
  /// What `begins` began has ended, on the same thread; it was of this fragment.
  void ends(const Fragment& fragment, int thread) {
    auto& at = threads_[static_cast<std::size_t>(thread)];
    at.uses[row_of(fragment)].busy_s += monotonic_s() - at.began_s;
  }
  /// The rank's own thread knows that it has ended.
  void executed(const Fragment& fragment) { ++threads_.front().uses[row_of(fragment)].executed; }

  /// Of all threads, by the number of the statement; the call of main is the last. No thread is at work.
  [[nodiscard]] std::vector<StatementUse> uses() const;

 private:
  struct alignas(64) Thread {
    double began_s = 0;
    std::vector<StatementUse> uses;
  };
  [[nodiscard]] std::size_t row_of(const Fragment& fragment) const noexcept {
    const std::size_t number = fragment.statement->number;
    return number < last_row_ ? number : last_row_;
  }

  std::size_t last_row_;
  std::vector<Thread> threads_;
};

}  // namespace tailrace::fragments
