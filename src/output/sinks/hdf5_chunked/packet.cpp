#include "output/sinks/hdf5_chunked/packet.hpp"

#include <chrono>
#include <utility>

#include "base/bytes.hpp"

namespace tailrace::output {

ParcelHead Parcel::head() const noexcept {
  return value_at<ParcelHead>(message);
}

std::span<const std::byte> Parcel::content() const noexcept {
  return std::span(message).subspan(sizeof(ParcelHead));
}

Parcel make_parcel(const ParcelHead& head, std::span<const std::byte> content) {
  Parcel parcel;
  parcel.message.reserve(sizeof head + content.size());
  append_value(parcel.message, head);
  append_bytes(parcel.message, content);
  return parcel;
}

void add_stretch(Parcel& parcel, const StretchHead& head, std::span<const std::byte> bytes) {
  append_value(parcel.message, head);
  append_bytes(parcel.message, bytes);
}

std::pair<StretchHead, std::span<const std::byte>> next_stretch(
    std::span<const std::byte>& content) noexcept {
  const auto head = value_at<StretchHead>(content);
  const auto bytes = content.subspan(sizeof head, static_cast<std::size_t>(head.bytes));
  content = content.subspan(sizeof head + bytes.size());
  return {head, bytes};
}

bool ParcelQueue::reserve(std::int64_t bytes) {
  const std::scoped_lock lock(mutex_);
  if (!has_room(bytes)) return false;
  used_bytes_ += bytes;
  return true;
}

void ParcelQueue::put(Parcel parcel) {
  {
    const std::scoped_lock lock(mutex_);
    if (discards_)
      used_bytes_ -= parcel.bytes();
    else
      parcels_.push_back(std::move(parcel));
  }
  changed_.notify_all();
}

std::optional<Parcel> ParcelQueue::try_take() {
  const std::scoped_lock lock(mutex_);
  if (parcels_.empty()) return {};
  std::optional<Parcel> parcel(std::move(parcels_.front()));
  parcels_.pop_front();
  return parcel;
}

std::optional<Parcel> ParcelQueue::take_within(double limit_s) {
  {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::chrono::duration<double>(limit_s),
                      [this] { return closed_ || !parcels_.empty(); });
  }
  return try_take();
}

void ParcelQueue::release(std::int64_t bytes) {
  {
    const std::scoped_lock lock(mutex_);
    used_bytes_ -= bytes;
  }
  changed_.notify_all();
}

void ParcelQueue::wait_for_room(std::int64_t bytes) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return has_room(bytes); });
}

void ParcelQueue::close() {
  {
    const std::scoped_lock lock(mutex_);
    closed_ = true;
  }
  changed_.notify_all();
}

void ParcelQueue::discard() {
  {
    const std::scoped_lock lock(mutex_);
    discards_ = true;
    for (const auto& parcel : parcels_) used_bytes_ -= parcel.bytes();
    parcels_.clear();
  }
  changed_.notify_all();
}

bool ParcelQueue::idle() const {
  const std::scoped_lock lock(mutex_);
  return used_bytes_ == 0;
}

bool ParcelQueue::closed() const {
  const std::scoped_lock lock(mutex_);
  return closed_;
}

}  // namespace tailrace::output
