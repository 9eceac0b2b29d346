// SPDX-License-Identifier: BSD-3-Clause
#include "fragments/store.hpp"

#include <utility>

namespace tailrace::fragments {

/// The entry of a name, with the fragment that waits for it.
Store::Entries::iterator Store::enter(const Id& id) {
  const auto [entry, fresh] = entries_.try_emplace(id);
  if (fresh && awaited_)
    if (const auto token = awaited_->take(id)) entry->second.add_reader({rank_, *token});
  return entry;
}

/// The value of an entry is gone, and the entry with it, unless its name has no indices.
void Store::retire(Entries::iterator entry, Stored::State state) {
  auto& [id, stored] = *entry;
  for (const auto& inform : on_release_) inform(id, stored);
  --live_count_;
  live_bytes_ -= static_cast<std::int64_t>(stored.value.bytes().size());
  stored.value = {};
  stored.state = state;
  if (id.indices().empty()) return;
  ended_.add(id, stored);
  entries_.erase(entry);
}

/// The value, for one reader.
Value Store::use(Entries::iterator entry) {
  auto& stored = entry->second;
  if (stored.uses > 0) --stored.uses;
  auto value = stored.value;
  if (stored.uses == 0) retire(entry, Stored::State::exhausted);
  return value;
}

const Stored* Store::post(Post& post, std::vector<Delivery>& deliveries) {
  if (const auto* const ended = ended_.find(post.name.id)) return ended;
  const auto entry = enter(post.name.id);
  auto& stored = entry->second;
  if (stored.state != Stored::State::expected) return &stored;
  auto readers = stored.take_readers();
  const bool deletes = stored.deletes;
  stored.state = Stored::State::live;
  stored.declaration = post.name.declaration;
  stored.value = std::move(post.value), stored.uses = post.uses;
  stored.writer = std::move(post.writer), stored.count_rule = post.count_rule;
  stored.set_home(post.name.home);
  ++live_count_;
  live_bytes_ += static_cast<std::int64_t>(stored.value.bytes().size());
  auto uses = stored.uses;
  if (uses == 0) return retire(entry, Stored::State::exhausted), nullptr;
  for (const auto& reader : readers) {
    deliveries.push_back({reader, use(entry)});
    if (--uses == 0) return nullptr;  // others wait for ever
  }
  if (deletes || goes_with_block(entry->first, entry->second)) retire(entry, Stored::State::deleted);
  return nullptr;
}

/// Whether the block of a live value is over. Remembers it for then, if not.
bool Store::goes_with_block(const Id& id, Stored& entry) {
  if (entry.uses >= 0) return false;
  if (!image_->declarations[entry.declaration].indexed) return entry.over;
  const auto over = over_.find(id.creator());
  if (over != over_.end() && over->second.contains(static_cast<std::int64_t>(id.counter()))) return true;
  with_block_[id.base()].push_back(id);
  return false;
}

void Store::end_block(const Name& name) {
  const auto end = [this](Entries::iterator entry) {
    if (entry->second.state == Stored::State::live && entry->second.uses < 0)
      retire(entry, Stored::State::deleted);
  };
  if (!image_->declarations[name.declaration].indexed) {
    const auto entry = enter(name.id);
    entry->second.over = true;
    return end(entry);
  }
  over_[name.id.creator()].add(static_cast<std::int64_t>(name.id.counter()));
  const auto live = with_block_.extract(name.id);
  if (live.empty()) return;
  for (const auto& id : live.mapped())
    if (const auto found = entries_.find(id); found != entries_.end()) end(found);
}

std::optional<Value> Store::request(const Name& name, const Reader& reader) {
  const auto entry = entries_.find(name.id);
  if (entry != entries_.end() && entry->second.state == Stored::State::live) return use(entry);
  if (entry == entries_.end() && ended_.find(name.id) != nullptr) return {};
  const bool nothing_known = entry == entries_.end() && awaited_ && reader.rank == rank_;
  if (!(nothing_known && awaited_->add(name.id, reader.token))) enter(name.id)->second.add_reader(reader);
  return {};
}

bool Store::count_use(const Id& id) {
  const auto entry = entries_.find(id);
  if (entry != entries_.end() && entry->second.state == Stored::State::live) return use(entry), true;
  const auto* const stored = find(id);
  return stored == nullptr || stored->state != Stored::State::exhausted;
}

void Store::remove(const Removal& removal) {
  if (ended_.find(removal.name.id) != nullptr) return;
  const auto entry = enter(removal.name.id);
  auto& stored = entry->second;
  if (stored.state == Stored::State::deleted) return;
  stored.deletes = true, stored.set_remover(removal.by), stored.set_home(removal.name.home);
  if (stored.state == Stored::State::live) retire(entry, Stored::State::deleted);
}

void Store::restore(const Id& id, Stored entry) {
  if (entry.state == Stored::State::live) {
    ++live_count_;
    live_bytes_ += static_cast<std::int64_t>(entry.value.bytes().size());
    goes_with_block(id, entry);
  }
  entries_[id] = std::move(entry);
}

const Stored* Store::find(const Id& id) const {
  const auto entry = entries_.find(id);
  return entry != entries_.end() ? &entry->second : ended_.find(id);
}

}  // namespace tailrace::fragments
