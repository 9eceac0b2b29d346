// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <concepts>
#include <cstdint>
#include <utility>

namespace tailrace::fragments {

/// The base of what several owners share: the count of owners is in the object, so that an owner has 8 bytes
/// and the object one allocation.
class Counted {
 protected:
  Counted() = default;
  Counted(const Counted& /*other*/) noexcept {}
  Counted& operator=(const Counted& /*other*/) noexcept { return *this; }
  ~Counted() = default;

 private:
  template <class>
  friend class Shared;
  mutable std::atomic<std::int32_t> owners_ = 0;
};

/// An owner of an object that was made with `new`; the last one deletes it. Any thread may let go of it.
template <class T>
class Shared {
 public:
  Shared() = default;
  explicit Shared(T* object) noexcept : object_(object) { hold(); }
  Shared(const Shared& other) noexcept : object_(other.object_) { hold(); }
  Shared(Shared&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  template <class Other>
  requires(!std::same_as<Other, T> && std::convertible_to<Other*, T*>) Shared(Shared<Other> other)
  noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Shared& operator=(Shared other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Shared() {
    if (object_ != nullptr && (count().load(std::memory_order_acquire) == 1 ||
                               count().fetch_sub(1, std::memory_order_acq_rel) == 1))
      delete object_;
  }

  template <class... Arguments>
  static Shared make(Arguments&&... arguments) {
    return Shared(new T(std::forward<Arguments>(arguments)...));
  }

  [[nodiscard]] T* get() const noexcept { return object_; }
  T& operator*() const noexcept { return *object_; }
  T* operator->() const noexcept { return object_; }
  explicit operator bool() const noexcept { return object_ != nullptr; }
  void reset() noexcept { *this = Shared(); }
  friend bool operator==(const Shared&, const Shared&) = default;

 private:
  template <class>
  friend class Shared;
  [[nodiscard]] std::atomic<std::int32_t>& count() const noexcept {
    return static_cast<const Counted*>(object_)->owners_;
  }
  void hold() const noexcept {
    if (object_ != nullptr) count().fetch_add(1, std::memory_order_relaxed);
  }

  T* object_ = nullptr;
};

}  // namespace tailrace::fragments
