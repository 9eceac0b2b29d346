// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <memory>
#include <utility>
#include <vector>

#include "am/message.hpp"
#include "am/transport.hpp"

namespace tailrace::am {

/// A message on its way from a worker thread to the thread that communicates.
struct Handed {
  int to = 0, module = 0;
  std::vector<std::byte> head;
  std::span<const std::byte> body;
  Completion on_complete;
  Handed* next = nullptr;
};

/// A queue without a lock: any thread adds, one takes. The messages of each thread keep their order.
class HandOver {
 public:
  HandOver() = default;
  HandOver(const HandOver&) = delete;
  HandOver& operator=(const HandOver&) = delete;
  ~HandOver() {
    take_all([](Handed&) {});
  }

  void push(std::unique_ptr<Handed> handed) noexcept {
    Handed* const added = handed.release();
    added->next = newest_.load(std::memory_order_relaxed);
    while (!newest_.compare_exchange_weak(added->next, added, std::memory_order_release,
                                          std::memory_order_relaxed)) {
    }
  }

  [[nodiscard]] bool empty() const noexcept { return newest_.load(std::memory_order_acquire) == nullptr; }

  /// Calls visit(handed) for all that are there, oldest first.
  template <class Visit>
  void take_all(Visit visit) {
    Handed* oldest = nullptr;
    for (Handed* at = newest_.exchange(nullptr, std::memory_order_acquire); at != nullptr;)
      oldest = std::exchange(at, std::exchange(at->next, oldest));
    while (oldest != nullptr) {
      const std::unique_ptr<Handed> handed(oldest);
      oldest = handed->next;
      visit(*handed);
    }
  }

 private:
  std::atomic<Handed*> newest_{nullptr};
};

}  // namespace tailrace::am
