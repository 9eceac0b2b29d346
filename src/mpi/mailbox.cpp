// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/mailbox.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "mpi/message.hpp"

namespace tailrace::mpi {

namespace {
constexpr std::size_t head_bytes = sizeof(std::uint64_t);  // the size of the whole message
constexpr std::size_t first_expectation_bytes = 4096;
}  // namespace

Mailbox::~Mailbox() {
  abandon(receiving_, sending_);
}

void Mailbox::reset(std::span<const int> to, std::span<const int> from) {
  const auto partners = [](std::span<const int> ranks) {
    std::vector<Partner> all;
    for (const int rank : ranks)
      all.push_back({.rank = rank, .expected_bytes = first_expectation_bytes, .bytes = {}});
    return all;
  };
  to_ = partners(to);
  from_ = partners(from);
}

/// Both sides learn alike from every message: a fourth is left for the next ones to grow.
void Mailbox::Partner::expect(std::size_t size_bytes) {
  if (size_bytes > expected_bytes) expected_bytes = size_bytes + size_bytes / 4;
}

std::size_t Mailbox::size_of(const Partner& partner) noexcept {
  std::uint64_t size = 0;
  std::memcpy(&size, partner.bytes.data(), head_bytes);
  return size;
}

void Mailbox::start() {
  for (Partner& partner : from_) {
    partner.bytes.resize(partner.expected_bytes);
    receiving_.push_back(start_receive(comm_, partner.bytes, partner.rank, tag_));
  }
  for (Partner& partner : to_) partner.bytes.resize(head_bytes);
}

void Mailbox::send(std::size_t i) {
  Partner& partner = to_[i];
  const std::uint64_t size = partner.bytes.size();
  std::memcpy(partner.bytes.data(), &size, head_bytes);
  const auto bytes = std::span<const std::byte>(partner.bytes);
  const std::size_t first = std::min(bytes.size(), partner.expected_bytes);
  sending_.push_back(start_send(comm_, bytes.first(first), partner.rank, tag_));
  if (first < bytes.size()) sending_.push_back(start_send(comm_, bytes.subspan(first), partner.rank, tag_));
  partner.expect(bytes.size());
}

void Mailbox::finish() {
  wait_all(receiving_);
  receiving_.clear();
  for (Partner& partner : from_) {
    const std::size_t first = partner.expected_bytes, size = size_of(partner);
    partner.expect(size);
    if (size <= first) continue;
    partner.bytes.resize(size);
    receiving_.push_back(start_receive(comm_, std::span(partner.bytes).subspan(first), partner.rank, tag_));
  }
  wait_all(receiving_);
  wait_all(sending_);
  receiving_.clear();
  sending_.clear();
}

std::span<const std::byte> Mailbox::incoming(std::size_t i) const noexcept {
  const Partner& partner = from_[i];
  return std::span(partner.bytes).first(size_of(partner)).subspan(head_bytes);
}

std::int64_t Mailbox::memory_bytes() const noexcept {
  std::size_t sum = 0;
  for (const Partner& partner : to_) sum += partner.bytes.capacity();
  for (const Partner& partner : from_) sum += partner.bytes.capacity();
  return static_cast<std::int64_t>(sum);
}

}  // namespace tailrace::mpi
