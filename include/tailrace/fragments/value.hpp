// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

/// What data fragments hold.
namespace tailrace::fragments {

/// Names the type that a value has, as the language calls it.
enum class Type : std::uint8_t { unset, integer, real, string, block };
/// `int`, `real`, `string`, `value`.
const char* to_string(Type type) noexcept;

/// Memory that several values share, aligned to a cache line; it starts as zeros.
class Buffer {
 public:
  Buffer() = default;
  /// @local. Errors: std::bad_alloc
  explicit Buffer(std::size_t size_bytes);

  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] std::byte* data() const noexcept { return memory_.get(); }
  /// Whether no other value has this memory; what other threads did with it before they let it go has
  /// happened then.
  [[nodiscard]] bool sole() const noexcept;

 private:
  std::shared_ptr<std::byte[]> memory_;
  std::size_t size_ = 0;
};

/// An immutable value: an int, a real, a string or a block of bytes. Copies share memory.
class Value {
 public:
  Value() = default;
  explicit Value(std::int32_t number) noexcept : type_(Type::integer), integer_(number) {}
  explicit Value(double number) noexcept : type_(Type::real), real_(number) {}
  explicit Value(std::string_view text);
  explicit Value(Buffer block) noexcept : type_(Type::block), buffer_(std::move(block)) {}

  [[nodiscard]] Type type() const noexcept { return type_; }
  [[nodiscard]] bool is_set() const noexcept { return type_ != Type::unset; }
  [[nodiscard]] std::int32_t integer() const noexcept { return integer_; }
  [[nodiscard]] double real() const noexcept { return real_; }
  /// The text of a string, with a 0 behind it.
  [[nodiscard]] std::string_view text() const noexcept {
    return {reinterpret_cast<const char*>(buffer_.data()), buffer_.size() - 1};
  }
  [[nodiscard]] const Buffer& buffer() const noexcept { return buffer_; }
  /// The bytes of the value: 4 of an int, 8 of a real, a string's with its 0, those of a block.
  [[nodiscard]] std::span<const std::byte> bytes() const noexcept;
  /// The value of these bytes.
  static Value from_bytes(Type type, std::span<const std::byte> bytes);

  /// Same type and same bytes: reals are compared bit for bit.
  friend bool operator==(const Value& a, const Value& b) noexcept;

 private:
  Type type_ = Type::unset;
  union {
    std::int32_t integer_;
    double real_ = 0;
  };
  Buffer buffer_;
};

/// A block of values of one type, as bodies take and return it. Copies share memory: a block is filled
/// by the body that makes it, and not changed afterwards.
template <class T>
class Block {
  static_assert(std::is_trivially_copyable_v<T>, "the elements of a block are their bytes");

 public:
  Block() : Block(0) {}
  /// A block of zeros. @local. Errors: std::bad_alloc
  explicit Block(std::size_t count) : buffer_(count * sizeof(T)) {}
  explicit Block(Buffer buffer) : buffer_(std::move(buffer)) {}

  [[nodiscard]] std::size_t size() const noexcept { return buffer_.size() / sizeof(T); }
  [[nodiscard]] std::span<const T> values() const noexcept { return {data(), size()}; }
  [[nodiscard]] std::span<T> values() noexcept { return {data(), size()}; }
  const T& operator[](std::size_t i) const noexcept { return data()[i]; }
  T& operator[](std::size_t i) noexcept { return data()[i]; }
  [[nodiscard]] const T* begin() const noexcept { return data(); }
  [[nodiscard]] const T* end() const noexcept { return data() + size(); }
  [[nodiscard]] const Buffer& buffer() const noexcept { return buffer_; }

 private:
  [[nodiscard]] T* data() const noexcept { return reinterpret_cast<T*>(buffer_.data()); }
  Buffer buffer_;
};

}  // namespace tailrace::fragments
