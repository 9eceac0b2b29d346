// SPDX-License-Identifier: BSD-3-Clause
#include "exchange/heap/memory.hpp"

#include <atomic>
#include <cstring>
#include <type_traits>

#include "base/check.hpp"

namespace tailrace::exchange {

namespace {

template <class T>
std::atomic_ref<T> number_at(std::byte* at) {
  static_assert(std::atomic_ref<T>::is_always_lock_free, "a lock would not reach other processes");
  return std::atomic_ref(*reinterpret_cast<T*>(at));
}

template <class T>
bool is_number(const std::byte* to, const std::byte* from, std::size_t bytes) {
  const auto places = reinterpret_cast<std::uintptr_t>(to) | reinterpret_cast<std::uintptr_t>(from);
  return bytes == sizeof(T) && places % sizeof(T) == 0;
}

template <class T>
void copy_number(std::byte* to, const std::byte* from) {
  const T value = number_at<T>(const_cast<std::byte*>(from)).load(std::memory_order_relaxed);
  number_at<T>(to).store(value, std::memory_order_relaxed);
}

template <class T>
T combine_bits(std::atomic_ref<T> number, AtomicOp op, T operand) {
  switch (op) {
    case AtomicOp::bit_and:
      return number.fetch_and(operand);
    case AtomicOp::bit_or:
      return number.fetch_or(operand);
    default:
      return number.fetch_xor(operand);
  }
}

template <class T>
T change_number(std::atomic_ref<T> number, AtomicOp op, T operand, T expected) {
  switch (op) {
    case AtomicOp::load:
      return number.load();
    case AtomicOp::store:
    case AtomicOp::swap:
      return number.exchange(operand);
    case AtomicOp::add:
      return number.fetch_add(operand);
    case AtomicOp::compare_swap:
      number.compare_exchange_strong(expected, operand);
      return expected;
    default:
      if constexpr (std::is_integral_v<T>) return combine_bits(number, op, operand);
  }
  TAILRACE_CHECK(false, "bits of integers only");
  return {};
}

template <class T>
std::uint64_t apply_to(std::byte* at, const Change& change) {
  return detail::bits_of(change_number(number_at<T>(at), change.op, detail::of_bits<T>(change.operand),
                                       detail::of_bits<T>(change.expected)));
}

}  // namespace

void copy_number_or_bytes(std::byte* to, const std::byte* from, std::size_t bytes) {
  if (is_number<std::uint64_t>(to, from, bytes)) return copy_number<std::uint64_t>(to, from);
  if (is_number<std::uint32_t>(to, from, bytes)) return copy_number<std::uint32_t>(to, from);
  if (bytes > 0) std::memcpy(to, from, bytes);
}

std::uint64_t apply_change(std::byte* at, const Change& change) {
  switch (change.number) {
    case Number::float32:
      return apply_to<float>(at, change);
    case Number::float64:
      return apply_to<double>(at, change);
    case Number::int32:
      return apply_to<std::int32_t>(at, change);
    default:
      return apply_to<std::int64_t>(at, change);
  }
}

}  // namespace tailrace::exchange
