// SPDX-License-Identifier: BSD-3-Clause
#include "tailrace/fragments/value.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>
#include <mutex>
#include <new>
#include <unordered_map>
#include <vector>

#include "base/aligned.hpp"

namespace tailrace::fragments {

const char* to_string(Type type) noexcept {
  switch (type) {
    case Type::unset:
      return "unset";
    case Type::integer:
      return "int";
    case Type::real:
      return "real";
    case Type::string:
      return "string";
    case Type::block:
      return "value";
  }
  return "unset";
}

namespace {

/// Memory of large blocks that was released, for the next ones of the same size: the system neither maps nor
/// clears its pages again. Blocks are made by one thread and released by another.
class SpareMemory {
 public:
  /// Memory of so many bytes, of a block that was released or new.
  void* take(std::size_t size_bytes) {
    {
      const std::scoped_lock lock(mutex_);
      used_bytes_ += size_bytes;
      max_used_bytes_ = std::max(max_used_bytes_, used_bytes_);
      const auto found = by_size_.find(size_bytes);
      if (found != by_size_.end() && !found->second.empty()) {
        void* const memory = found->second.back();
        found->second.pop_back();
        kept_bytes_ -= size_bytes;
        return memory;
      }
      shrink();
    }
    try {
      return tailrace::detail::allocate_aligned(size_bytes);
    } catch (...) {
      const std::scoped_lock lock(mutex_);
      used_bytes_ -= size_bytes;
      throw;
    }
  }
  void release(void* memory, std::size_t size_bytes) {
    const std::scoped_lock lock(mutex_);
    by_size_[size_bytes].push_back(memory);
    used_bytes_ -= size_bytes, kept_bytes_ += size_bytes;
    shrink();
  }

 private:
  /// Memory of sizes that nobody asks for goes, with all else, before there would be more in all than blocks
  /// have had at one time, or than the least limit.
  void shrink() {
    constexpr std::size_t min_limit_bytes = 64 << 20;
    if (used_bytes_ + kept_bytes_ <= std::max(max_used_bytes_, min_limit_bytes)) return;
    for (const auto& [size_bytes, all] : by_size_)
      for (void* const memory : all) tailrace::detail::free_aligned(memory, size_bytes);
    by_size_.clear();
    kept_bytes_ = 0;
  }

  std::mutex mutex_;
  std::unordered_map<std::size_t, std::vector<void*>> by_size_;
  std::size_t kept_bytes_ = 0, used_bytes_ = 0, max_used_bytes_ = 0;
};

/// Values may be released when the program ends, after objects of static storage: it is never destroyed.
SpareMemory& spare_memory() {
  static auto* const memory = std::make_unique<SpareMemory>().release();
  return *memory;
}

constexpr std::size_t smallest_kept_bytes = 16 << 10, page_bytes = 4 << 10;

/// The bytes that are allocated for a block.
std::size_t allocated_bytes(std::size_t size_bytes, std::size_t head_bytes) {
  const std::size_t wanted = head_bytes + size_bytes + 1;  // a block of 0 bytes has an address too
  return wanted < smallest_kept_bytes ? wanted : (wanted + page_bytes - 1) / page_bytes * page_bytes;
}

}  // namespace

Buffer Buffer::for_overwrite(std::size_t size_bytes) {
  if (size_bytes > std::numeric_limits<std::size_t>::max() / 2) throw std::bad_alloc();
  const std::size_t all = allocated_bytes(size_bytes, sizeof(Memory));
  void* const memory =
      all < smallest_kept_bytes ? tailrace::detail::allocate_aligned(all) : spare_memory().take(all);
  Buffer buffer;
  buffer.memory_ = new (memory) Memory{1, size_bytes};
  return buffer;
}

Buffer::Buffer(std::size_t size_bytes) : Buffer(for_overwrite(size_bytes)) {
  std::memset(data(), 0, size_bytes);
}

void Buffer::release(Memory* memory) noexcept {
  const std::size_t all = allocated_bytes(memory->size, sizeof(Memory));
  if (all < smallest_kept_bytes)
    tailrace::detail::free_aligned(memory, all);
  else
    spare_memory().release(memory, all);
}

static Buffer with_end(std::string_view text) {
  Buffer buffer = Buffer::for_overwrite(text.size() + 1);
  if (!text.empty()) std::memcpy(buffer.data(), text.data(), text.size());
  buffer.data()[text.size()] = std::byte{0};
  return buffer;
}

Value::Value(std::string_view text) : type_(Type::string), buffer_(with_end(text)) {}

std::span<const std::byte> Value::bytes() const noexcept {
  if (type_ == Type::integer) return std::as_bytes(std::span(&integer_, 1));
  if (type_ == Type::real) return std::as_bytes(std::span(&real_, 1));
  if (type_ == Type::unset) return {};
  return {buffer_.data(), buffer_.size()};
}

Value Value::from_bytes(Type type, std::span<const std::byte> bytes) {
  const auto number = [&]<class Number>(Number of) {
    std::memcpy(&of, bytes.data(), sizeof of);
    return Value(of);
  };
  if (type == Type::unset) return {};
  if (type == Type::integer) return number(std::int32_t{0});
  if (type == Type::real) return number(0.0);
  Value value(Buffer::for_overwrite(bytes.size()));
  value.type_ = type;
  if (!bytes.empty()) std::memcpy(value.buffer_.data(), bytes.data(), bytes.size());
  return value;
}

bool operator==(const Value& a, const Value& b) noexcept {
  const auto x = a.bytes(), y = b.bytes();
  return a.type_ == b.type_ && x.size() == y.size() &&
         (x.empty() || std::memcmp(x.data(), y.data(), x.size()) == 0);
}

}  // namespace tailrace::fragments
