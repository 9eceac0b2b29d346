// SPDX-License-Identifier: BSD-3-Clause
#include "tailrace/fragments/value.hpp"

#include <cstring>
#include <new>

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

Buffer::Buffer(std::size_t size_bytes) : size_(size_bytes) {
  auto* const memory =
      static_cast<std::byte*>(::operator new (size_bytes + 1, std::align_val_t{alignment_bytes}));
  std::memset(memory, 0, size_bytes + 1);
  memory_.reset(memory, [](std::byte* old) { ::operator delete (old, std::align_val_t{alignment_bytes}); });
}

bool Buffer::sole() const noexcept {
  // A count that is only read orders nothing. That a copy ends does: its decrement comes after those of
  // others.
  const auto copy = memory_;
  return copy.use_count() == 2;
}

static Buffer with_end(std::string_view text) {
  Buffer buffer(text.size() + 1);
  if (!text.empty()) std::memcpy(buffer.data(), text.data(), text.size());
  return buffer;
}

Value::Value(std::string_view text) : type_(Type::string), buffer_(with_end(text)) {}

std::span<const std::byte> Value::bytes() const noexcept {
  if (type_ == Type::integer) return std::as_bytes(std::span(&integer_, 1));
  if (type_ == Type::real) return std::as_bytes(std::span(&real_, 1));
  return {buffer_.data(), buffer_.size()};
}

Value Value::from_bytes(Type type, std::span<const std::byte> bytes) {
  Value value;
  value.type_ = type;
  if (type == Type::integer) {
    std::memcpy(&value.integer_, bytes.data(), sizeof value.integer_);
  } else if (type == Type::real) {
    std::memcpy(&value.real_, bytes.data(), sizeof value.real_);
  } else if (type != Type::unset) {
    value.buffer_ = Buffer(bytes.size());
    if (!bytes.empty()) std::memcpy(value.buffer_.data(), bytes.data(), bytes.size());
  }
  return value;
}

bool operator==(const Value& a, const Value& b) noexcept {
  const auto x = a.bytes(), y = b.bytes();
  return a.type_ == b.type_ && x.size() == y.size() &&
         (x.empty() || std::memcmp(x.data(), y.data(), x.size()) == 0);
}

}  // namespace tailrace::fragments
