// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/check.hpp"

/// Values as bytes: messages between processes that represent numbers alike, and formats of files.
namespace tailrace {

/// Types whose bytes are their value.
template <class T>
concept Bytewise = std::is_trivially_copyable_v<T>;

inline void append_bytes(std::vector<std::byte>& out, std::span<const std::byte> bytes) {
  const std::size_t first = out.size();
  out.resize(first + bytes.size());  // GCC 12 warns falsely about `insert`
  if (!bytes.empty()) std::memcpy(out.data() + first, bytes.data(), bytes.size());
}
template <Bytewise T>
void append_value(std::vector<std::byte>& out, const T& value) {
  append_bytes(out, std::as_bytes(std::span(&value, 1)));
}

/// The value whose bytes are at an offset.
template <Bytewise T>
T value_at(std::span<const std::byte> bytes, std::size_t offset = 0) noexcept {
  T value{};
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}
template <Bytewise T>
void put_at(std::span<std::byte> bytes, std::size_t offset, const T& value) noexcept {
  std::memcpy(bytes.data() + offset, &value, sizeof value);
}

/// Appends the values that some bytes are.
template <Bytewise T>
void append_values(std::vector<T>& out, std::span<const std::byte> bytes) {
  const std::size_t first = out.size(), count = bytes.size() / sizeof(T);
  out.resize(first + count);
  if (count > 0) std::memcpy(out.data() + first, bytes.data(), count * sizeof(T));
}

/// A number of 2, 4 or 8 bytes with its bytes in the opposite order.
template <Bytewise T>
T swapped_bytes(T value) noexcept {
  static_assert(sizeof(T) == 2 || sizeof(T) == 4 || sizeof(T) == 8);
  if constexpr (sizeof(T) == 2)
    return std::bit_cast<T>(__builtin_bswap16(std::bit_cast<std::uint16_t>(value)));
  else if constexpr (sizeof(T) == 4)
    return std::bit_cast<T>(__builtin_bswap32(std::bit_cast<std::uint32_t>(value)));
  else
    return std::bit_cast<T>(__builtin_bswap64(std::bit_cast<std::uint64_t>(value)));
}
/// A number as big-endian files have it, or back from there.
template <Bytewise T>
T big_endian(T value) noexcept {
  return std::endian::native == std::endian::big ? value : swapped_bytes(value);
}

/// A message that is being put together.
class Packer {
 public:
  template <Bytewise T>
  void put(const T& value) {
    append_value(bytes_, value);
  }
  template <Bytewise T>
  void put(const std::vector<T>& values) {
    put(values.size());
    append_bytes(bytes_, std::as_bytes(std::span(values)));
  }
  void put(const std::string& text) {
    put(text.size());
    append_bytes(bytes_, std::as_bytes(std::span(text)));
  }
  template <class... Values>
  void operator()(const Values&... values) {
    (put(values), ...);
  }
  [[nodiscard]] std::vector<std::byte> take() noexcept { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
};

/// A message that is being taken apart, in the order in which it was put together.
class Unpacker {
 public:
  explicit Unpacker(std::span<const std::byte> bytes) : bytes_(bytes) {}

  template <Bytewise T>
  void get(T& value) {
    copy(&value, sizeof(T));
  }
  template <Bytewise T>
  void get(std::vector<T>& values) {
    values.resize(length(sizeof(T)));
    copy(values.data(), values.size() * sizeof(T));
  }
  void get(std::string& text) {
    text.resize(length(1));
    copy(text.data(), text.size());
  }
  template <class T>
  T get() {
    T value{};
    get(value);
    return value;
  }
  template <class... Values>
  void operator()(Values&... values) {
    (get(values), ...);
  }
  [[nodiscard]] bool empty() const noexcept { return bytes_.empty(); }

 private:
  std::size_t length(std::size_t element_bytes) {
    const auto count = get<std::size_t>();
    TAILRACE_CHECK(count <= bytes_.size() / element_bytes, "a packed message is whole");
    return count;
  }
  void copy(void* to, std::size_t bytes) {
    TAILRACE_CHECK(bytes <= bytes_.size(), "a packed message is whole");
    if (bytes > 0) std::memcpy(to, bytes_.data(), bytes);
    bytes_ = bytes_.subspan(bytes);
  }
  std::span<const std::byte> bytes_;
};

/// A value of type T as an archive takes it: a packer does not change it.
template <class Archive, class T>
using ArchivedBy = std::conditional_t<std::is_same_v<Archive, Packer>, const T, T>;

}  // namespace tailrace
