// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

/// What data fragments hold.
namespace tailrace::fragments {

/// Names the type that a value has, as the language calls it.
enum class Type : std::uint8_t { unset, integer, real, string, block };
/// `int`, `real`, `string`, `value`.
const char* to_string(Type type) noexcept;

/// Memory that several values share, aligned to a cache line. Released memory of large blocks serves the next
/// ones.
class Buffer {
 public:
  Buffer() = default;
  /// Zeros. @local. Errors: std::bad_alloc
  explicit Buffer(std::size_t size_bytes);
  /// Memory that holds anything, for who writes to all of it. @local. Errors: std::bad_alloc
  static Buffer for_overwrite(std::size_t size_bytes);
  Buffer(const Buffer& other) noexcept : memory_(other.memory_) {
    if (memory_ != nullptr) memory_->owners.fetch_add(1, std::memory_order_relaxed);
  }
  Buffer(Buffer&& other) noexcept : memory_(std::exchange(other.memory_, nullptr)) {}
  Buffer& operator=(Buffer other) noexcept {
    std::swap(memory_, other.memory_);
    return *this;
  }
  ~Buffer() {
    if (memory_ != nullptr && (sole() || memory_->owners.fetch_sub(1, std::memory_order_acq_rel) == 1))
      release(memory_);
  }

  [[nodiscard]] std::size_t size() const noexcept { return memory_ == nullptr ? 0 : memory_->size; }
  [[nodiscard]] std::byte* data() const noexcept {
    return memory_ == nullptr ? nullptr : reinterpret_cast<std::byte*>(memory_ + 1);
  }
  /// Whether no other value has this memory; what other threads did with it before they let it go has
  /// happened then.
  [[nodiscard]] bool sole() const noexcept {
    return memory_ != nullptr && memory_->owners.load(std::memory_order_acquire) == 1;
  }

 private:
  /// What lies before the bytes.
  struct alignas(64) Memory {
    std::atomic<std::int64_t> owners;
    std::size_t size;
  };
  static void release(Memory* memory) noexcept;
  Memory* memory_ = nullptr;
};

/// An immutable value: an int, a real, a string or a block of bytes. Copies share memory.
class Value {
 public:
  Value() noexcept {}
  explicit Value(std::int32_t number) noexcept : type_(Type::integer) { integer_ = number; }
  explicit Value(double number) noexcept : type_(Type::real), real_(number) {}
  explicit Value(std::string_view text);
  explicit Value(Buffer block) noexcept : type_(Type::block), buffer_(std::move(block)) {}
  Value(const Value& other) noexcept : type_(other.type_) { copy(other); }
  Value(Value&& other) noexcept : type_(other.type_) { move(std::move(other)); }
  Value& operator=(const Value& other) noexcept { return *this = Value(other); }
  Value& operator=(Value&& other) noexcept {
    if (this == &other) return *this;
    clear();
    type_ = other.type_, move(std::move(other));
    return *this;
  }
  ~Value() { clear(); }

  [[nodiscard]] Type type() const noexcept { return type_; }
  [[nodiscard]] bool is_set() const noexcept { return type_ != Type::unset; }
  [[nodiscard]] std::int32_t integer() const noexcept { return integer_; }
  [[nodiscard]] double real() const noexcept { return real_; }
  /// The text of a string, with a 0 behind it.
  [[nodiscard]] std::string_view text() const noexcept {
    return {reinterpret_cast<const char*>(buffer_.data()), buffer_.size() - 1};
  }
  /// The memory of a string or a block; others have none.
  [[nodiscard]] const Buffer& buffer() const noexcept {
    static const Buffer none;
    return has_buffer() ? buffer_ : none;
  }
  /// The bytes of the value: 4 of an int, 8 of a real, a string's with its 0, those of a block.
  [[nodiscard]] std::span<const std::byte> bytes() const noexcept;
  /// The value of these bytes.
  static Value from_bytes(Type type, std::span<const std::byte> bytes);

  /// Same type and same bytes: reals are compared bit for bit.
  friend bool operator==(const Value& a, const Value& b) noexcept;

 private:
  [[nodiscard]] bool has_buffer() const noexcept { return type_ == Type::string || type_ == Type::block; }
  // The type is that of the other value already, and the memory holds nothing.
  void copy(const Value& other) noexcept {
    if (has_buffer())
      new (&buffer_) Buffer(other.buffer_);
    else
      std::memcpy(&real_, &other.real_, sizeof real_);
  }
  void move(Value&& other) noexcept {
    if (has_buffer())
      new (&buffer_) Buffer(std::move(other.buffer_));
    else
      std::memcpy(&real_, &other.real_, sizeof real_);
  }
  void clear() noexcept {
    if (has_buffer()) buffer_.~Buffer();
  }

  Type type_ = Type::unset;
  union {
    std::int32_t integer_;
    double real_ = 0;
    Buffer buffer_;
  };
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
  /// A block that holds anything, for who writes to all of it. @local. Errors: std::bad_alloc
  static Block for_overwrite(std::size_t count) { return Block(Buffer::for_overwrite(count * sizeof(T))); }

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
