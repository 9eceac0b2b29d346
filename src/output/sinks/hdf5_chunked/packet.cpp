// SPDX-License-Identifier: BSD-3-Clause
#include "output/sinks/hdf5_chunked/packet.hpp"

#include <chrono>
#include <utility>

#include "base/bytes.hpp"

namespace tailrace::output {

PacketHead Packet::head() const noexcept {
  return value_at<PacketHead>(message);
}

std::span<const std::byte> Packet::content() const noexcept {
  return std::span(message).subspan(sizeof(PacketHead));
}

Packet make_packet(const PacketHead& head, std::span<const std::byte> content) {
  Packet packet;
  packet.message.reserve(sizeof head + content.size());
  append_value(packet.message, head);
  append_bytes(packet.message, content);
  return packet;
}

void add_extent(Packet& packet, const ExtentHead& head, std::span<const std::byte> bytes) {
  append_value(packet.message, head);
  append_bytes(packet.message, bytes);
}

std::pair<ExtentHead, std::span<const std::byte>> next_extent(std::span<const std::byte>& content) noexcept {
  const auto head = value_at<ExtentHead>(content);
  const auto bytes = content.subspan(sizeof head, static_cast<std::size_t>(head.bytes));
  content = content.subspan(sizeof head + bytes.size());
  return {head, bytes};
}

bool PacketQueue::reserve(std::int64_t bytes) {
  const std::scoped_lock lock(mutex_);
  if (!has_room(bytes)) return false;
  used_bytes_ += bytes;
  return true;
}

void PacketQueue::put(Packet packet) {
  {
    const std::scoped_lock lock(mutex_);
    if (discards_)
      used_bytes_ -= packet.bytes();
    else
      packets_.push_back(std::move(packet));
  }
  changed_.notify_all();
}

std::optional<Packet> PacketQueue::try_take() {
  const std::scoped_lock lock(mutex_);
  if (packets_.empty()) return {};
  std::optional<Packet> packet(std::move(packets_.front()));
  packets_.pop_front();
  return packet;
}

std::optional<Packet> PacketQueue::take_within(double limit_s) {
  {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::chrono::duration<double>(limit_s),
                      [this] { return closed_ || !packets_.empty(); });
  }
  return try_take();
}

void PacketQueue::release(std::int64_t bytes) {
  {
    const std::scoped_lock lock(mutex_);
    used_bytes_ -= bytes;
  }
  changed_.notify_all();
}

void PacketQueue::wait_for_room(std::int64_t bytes) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return has_room(bytes); });
}

void PacketQueue::close() {
  {
    const std::scoped_lock lock(mutex_);
    closed_ = true;
  }
  changed_.notify_all();
}

void PacketQueue::discard() {
  {
    const std::scoped_lock lock(mutex_);
    discards_ = true;
    for (const auto& packet : packets_) used_bytes_ -= packet.bytes();
    packets_.clear();
  }
  changed_.notify_all();
}

bool PacketQueue::idle() const {
  const std::scoped_lock lock(mutex_);
  return used_bytes_ == 0;
}

bool PacketQueue::closed() const {
  const std::scoped_lock lock(mutex_);
  return closed_;
}

}  // namespace tailrace::output
