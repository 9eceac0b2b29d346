// SPDX-License-Identifier: BSD-3-Clause
#include "fragments/store.hpp"

namespace tailrace::fragments {

Stored& Store::entry(const Name& name) {
  auto& entry = entries_[name.id];
  if (entry.name.id.creator() < 0) entry.name = name;
  return entry;
}

void Store::retire(Stored& entry, Stored::State state) {
  --live_count_;
  live_bytes_ -= static_cast<std::int64_t>(entry.value.bytes().size());
  entry.value = {};
  entry.state = state;
}

void Store::give(Stored& entry, const Reader& reader, std::vector<Delivery>& deliveries) {
  if (entry.uses > 0) --entry.uses;
  deliveries.push_back({reader, entry.value});
  if (entry.uses == 0) retire(entry, Stored::State::exhausted);
}

const Stored* Store::post(Post post, std::vector<Delivery>& deliveries) {
  auto& stored = entry(post.name);
  if (stored.state != Stored::State::expected) return &stored;
  stored.state = Stored::State::live;
  stored.value = std::move(post.value), stored.uses = post.uses;
  stored.writer = std::move(post.writer), stored.count_at = post.count_at;
  ++live_count_;
  live_bytes_ += static_cast<std::int64_t>(stored.value.bytes().size());
  if (stored.uses == 0) retire(stored, Stored::State::exhausted);
  std::size_t served = 0;
  while (served < stored.readers.size() && stored.state == Stored::State::live)
    give(stored, stored.readers[served++], deliveries);
  stored.readers.erase(stored.readers.begin(), stored.readers.begin() + static_cast<std::ptrdiff_t>(served));
  if (stored.deletes && stored.state == Stored::State::live) retire(stored, Stored::State::deleted);
  return nullptr;
}

std::optional<Value> Store::request(const Name& name, const Reader& reader) {
  auto& stored = entry(name);
  if (stored.state != Stored::State::live) return stored.readers.push_back(reader), std::nullopt;
  std::vector<Delivery> deliveries;
  give(stored, reader, deliveries);
  return std::move(deliveries.front().value);
}

void Store::remove(const Removal& removal) {
  auto& stored = entry(removal.name);
  if (stored.state == Stored::State::deleted) return;
  stored.deletes = true, stored.remover = removal.by;
  if (stored.state == Stored::State::live) retire(stored, Stored::State::deleted);
}

}  // namespace tailrace::fragments
