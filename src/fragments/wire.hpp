// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/bytes.hpp"
#include "fragments/diagnosis.hpp"
#include "fragments/fragment.hpp"
#include "fragments/groups.hpp"
#include "fragments/use_counts.hpp"

/// Fragments, data fragments and reports as messages between ranks that have the same image.
namespace tailrace::fragments {

class Writer {
 public:
  /// Writes to this memory, from its beginning.
  explicit Writer(const Image& image, std::vector<std::byte> memory = {})
      : image_(&image), bytes_(std::move(memory)) {
    bytes_.clear();
  }
  template <Bytewise T>
  Writer& operator<<(const T& value) {
    append_value(bytes_, value);
    return *this;
  }
  Writer& operator<<(const std::string& text);
  Writer& operator<<(const Id& id);
  Writer& operator<<(const Value& value);
  Writer& operator<<(const Name& name);
  Writer& operator<<(const Slot& slot);
  Writer& operator<<(const Shared<const CallRecord>& call);
  Writer& operator<<(const Origin& origin);
  Writer& operator<<(const Post& post);
  Writer& operator<<(const Removal& removal);
  Writer& operator<<(const Input& input);
  Writer& operator<<(const Fragment& fragment);
  Writer& operator<<(const NamedData& data);
  Writer& operator<<(const Pattern& pattern);
  Writer& operator<<(const Stuck& stuck);
  Writer& operator<<(const Missing& missing);
  Writer& operator<<(const Written& written);
  Writer& operator<<(const UnusedCount& count);
  Writer& operator<<(const Message& message);
  Writer& operator<<(const AfterActions& after);
  template <class T>
  Writer& operator<<(const std::vector<T>& values) {
    *this << values.size();
    for (const auto& value : values) *this << value;
    return *this;
  }
  [[nodiscard]] std::vector<std::byte> take() noexcept { return std::move(bytes_); }

 private:
  const Image* image_;
  std::vector<std::byte> bytes_;
};

class MessageReader {
 public:
  MessageReader(const Image& image, std::span<const std::byte> bytes) : image_(&image), unpacker_(bytes) {}
  template <Bytewise T>
  MessageReader& operator>>(T& value) {
    unpacker_.get(value);
    return *this;
  }
  MessageReader& operator>>(std::string& text);
  MessageReader& operator>>(Id& id);
  MessageReader& operator>>(Value& value);
  MessageReader& operator>>(Name& name);
  MessageReader& operator>>(Slot& slot);
  MessageReader& operator>>(Shared<const CallRecord>& call);
  MessageReader& operator>>(Origin& origin);
  MessageReader& operator>>(Post& post);
  MessageReader& operator>>(Removal& removal);
  MessageReader& operator>>(Input& input);
  MessageReader& operator>>(Fragment& fragment);
  MessageReader& operator>>(NamedData& data);
  MessageReader& operator>>(Pattern& pattern);
  MessageReader& operator>>(Stuck& stuck);
  MessageReader& operator>>(Missing& missing);
  MessageReader& operator>>(Written& written);
  MessageReader& operator>>(UnusedCount& count);
  MessageReader& operator>>(Message& message);
  MessageReader& operator>>(AfterActions& after);
  template <class T>
  MessageReader& operator>>(std::vector<T>& values) {
    values.resize(unpacker_.get<std::size_t>());
    for (auto& value : values) *this >> value;
    return *this;
  }

 private:
  const Statement* statement();
  const Image* image_;
  Unpacker unpacker_;
};

}  // namespace tailrace::fragments
