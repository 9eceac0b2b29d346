// SPDX-License-Identifier: BSD-3-Clause
#include "fragments/store.hpp"

namespace tailrace::fragments {

void Store::retire(const Id& id, Stored& entry, Stored::State state) {
  if (on_release_) on_release_(id, entry.value);
  --live_count_;
  live_bytes_ -= static_cast<std::int64_t>(entry.value.bytes().size());
  entry.value = {};
  entry.state = state;
}

/// The value, for one reader.
Value Store::use(const Id& id, Stored& entry) {
  if (entry.uses > 0) --entry.uses;
  auto value = entry.value;
  if (entry.uses == 0) retire(id, entry, Stored::State::exhausted);
  return value;
}

const Stored* Store::post(Post& post, std::vector<Delivery>& deliveries) {
  auto& stored = entries_[post.name.id];
  if (stored.state != Stored::State::expected) return &stored;
  stored.state = Stored::State::live;
  stored.value = std::move(post.value), stored.uses = post.uses;
  stored.writer = std::move(post.writer), stored.count_at = post.count_at;
  stored.home = post.name.home;
  ++live_count_;
  live_bytes_ += static_cast<std::int64_t>(stored.value.bytes().size());
  if (stored.uses == 0) retire(post.name.id, stored, Stored::State::exhausted);
  std::size_t served = 0;
  while (served < stored.readers.size() && stored.state == Stored::State::live)
    deliveries.push_back({stored.readers[served++], use(post.name.id, stored)});
  if (served == stored.readers.size())
    stored.readers = {};
  else
    stored.readers.erase(stored.readers.begin(),
                         stored.readers.begin() + static_cast<std::ptrdiff_t>(served));
  if (stored.deletes && stored.state == Stored::State::live)
    retire(post.name.id, stored, Stored::State::deleted);
  return nullptr;
}

std::optional<Value> Store::request(const Name& name, const Reader& reader) {
  auto& stored = entries_[name.id];
  if (stored.state == Stored::State::live) return use(name.id, stored);
  stored.readers.push_back(reader);
  return {};
}

void Store::remove(const Removal& removal) {
  auto& stored = entries_[removal.name.id];
  if (stored.state == Stored::State::deleted) return;
  stored.deletes = true, stored.remover = removal.by, stored.home = removal.name.home;
  if (stored.state == Stored::State::live) retire(removal.name.id, stored, Stored::State::deleted);
}

void Store::restore(const Id& id, Stored entry) {
  if (entry.state == Stored::State::live) {
    ++live_count_;
    live_bytes_ += static_cast<std::int64_t>(entry.value.bytes().size());
  }
  entries_[id] = std::move(entry);
}

}  // namespace tailrace::fragments
