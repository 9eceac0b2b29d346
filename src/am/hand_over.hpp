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

/// A queue without a lock: any thread adds, one takes. What one thread adds keeps its order. Elements have a
/// member `next`.
template <class T>
class HandOver {
 public:
  HandOver() = default;
  HandOver(const HandOver&) = delete;
  HandOver& operator=(const HandOver&) = delete;
  ~HandOver() {
    take_all([](T&) {});
  }

  void push(std::unique_ptr<T> element) noexcept {
    T* const added = element.release();
    added->next = newest_.load(std::memory_order_relaxed);
    while (!newest_.compare_exchange_weak(added->next, added, std::memory_order_release,
                                          std::memory_order_relaxed)) {
    }
  }

  [[nodiscard]] bool empty() const noexcept { return newest_.load(std::memory_order_acquire) == nullptr; }

  /// Calls visit(element) for all that are there, oldest first, and ends their lives.
  template <class Visit>
  void take_all(Visit visit) {
    T* oldest = nullptr;
    for (T* at = newest_.exchange(nullptr, std::memory_order_acquire); at != nullptr;)
      oldest = std::exchange(at, std::exchange(at->next, oldest));
    while (oldest != nullptr) {
      const std::unique_ptr<T> element(oldest);
      oldest = element->next;
      visit(*element);
    }
  }

 private:
  std::atomic<T*> newest_{nullptr};
};

}  // namespace tailrace::am
