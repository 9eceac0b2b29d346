// SPDX-License-Identifier: BSD-3-Clause
#include "fragments/state.hpp"

#include <algorithm>

#include "base/check.hpp"

namespace tailrace::fragments {

namespace {

void put(Writer& out, const Origin& origin) {
  out << (origin.statement != nullptr);
  if (origin.statement != nullptr) out << origin;
}
void get(MessageReader& in, Origin& origin) {
  bool known = false;
  in >> known;
  if (known) in >> origin;
}

void put(Writer& out, const Name& name, const Stored& entry) {
  out << name << entry.state << entry.deletes << entry.uses << entry.value << entry.count_rule;
  put(out, entry.writer), put(out, entry.remover());
}
void get(MessageReader& in, Name& name, Stored& entry) {
  in >> name >> entry.state >> entry.deletes >> entry.uses >> entry.value >> entry.count_rule;
  get(in, entry.writer);
  Origin remover;
  get(in, remover);
  if (remover.statement != nullptr) entry.set_remover(std::move(remover));
  entry.set_home(name.home), entry.declaration = name.declaration;
}

void put(Writer& out, const StoredData& data) {
  put(out, data.name, data.entry);
}
void get(MessageReader& in, StoredData& data) {
  get(in, data.name, data.entry);
}
void put(Writer& out, const EndedRange& range) {
  put(out, Name{range.first, range.how.declaration, range.how.home()}, range.how);
  out << range.count << range.step;
}
void get(MessageReader& in, EndedRange& range) {
  Name name;
  get(in, name, range.how);
  range.first = std::move(name.id);
  in >> range.count >> range.step;
}

/// Inputs that are not here are asked for again.
void put(Writer& out, Fragment fragment) {
  std::erase_if(fragment.inputs, [](const Input& input) { return !input.value.is_set(); });
  out << fragment << fragment.inner << fragment.next << fragment.last << fragment.started;
}
void get(MessageReader& in, Fragment& fragment) {
  in >> fragment >> fragment.inner >> fragment.next >> fragment.last >> fragment.started;
}

void put(Writer& out, const OpenGroup& open) {
  const auto& group = open.group;
  out << open.token << group.outstanding << group.origin << group.parent << group.after;
}
void get(MessageReader& in, OpenGroup& open) {
  auto& group = open.group;
  in >> open.token >> group.outstanding >> group.origin >> group.parent >> group.after;
}

void put(Writer& out, const Counters& counters) {
  out << counters.creator << counters.names << counters.groups;
}
void get(MessageReader& in, Counters& counters) {
  in >> counters.creator >> counters.names >> counters.groups;
}
void put(Writer& out, const Executed& executed) {
  out << executed.fragments;
}
void get(MessageReader& in, Executed& executed) {
  in >> executed.fragments;
}
void put(Writer& out, const BegunLine& line) {
  out << line.text;
}
void get(MessageReader& in, BegunLine& line) {
  in >> line.text;
}
void put(Writer& out, const Message& message) {
  out << message;
}
void get(MessageReader& in, Message& message) {
  in >> message;
}
void put(Writer& out, const Stuck& stuck) {
  out << stuck;
}
void get(MessageReader& in, Stuck& stuck) {
  in >> stuck;
}

/// The item whose type has this number.
template <std::size_t number = 0>
StateItem read_numbered(std::size_t index, MessageReader& in) {
  if constexpr (number < std::variant_size_v<StateItem>) {
    if (index != number) return read_numbered<number + 1>(index, in);
    StateItem item(std::in_place_index<number>);
    get(in, std::get<number>(item));
    return item;
  }
  TAILRACE_CHECK(false, "the state of a program has items of known types");
  return {};
}

}  // namespace

Writer& operator<<(Writer& out, const StateItem& item) {
  out << item.index();
  std::visit([&](const auto& what) { put(out, what); }, item);
  return out;
}

StateItem read_item(MessageReader& in) {
  std::size_t index = 0;
  in >> index;
  return read_numbered(index, in);
}

std::vector<std::byte> StateItems::bytes_of(std::size_t item) const {
  Writer out(*image_);
  out << makers_[item]();
  return out.take();
}

std::vector<checkpoint::ItemSet::Item> StateItems::items() const {
  std::vector<Item> list;
  for (std::size_t i = 0; i < makers_.size(); ++i)
    list.push_back({keys * i / makers_.size(), static_cast<std::int64_t>(bytes_of(i).size())});
  return list;
}

void StateItems::read(std::size_t item, std::span<std::byte> bytes) const {
  const auto made = bytes_of(item);
  TAILRACE_CHECK(made.size() == bytes.size(), "an item stays as it is while it is saved");
  std::ranges::copy(made, bytes.begin());
}

std::vector<checkpoint::KeyRange> StateItems::begin_restore() {
  restored_.clear();
  return {{first_key_of(rank_), first_key_of(rank_ + 1)}};
}

bool StateItems::owns(std::uint64_t key, std::span<const std::byte> /*bytes*/) const {
  return first_key_of(rank_) <= key && key < first_key_of(rank_ + 1);
}

void StateItems::add(std::uint64_t /*key*/, std::span<const std::byte> bytes) {
  restored_.emplace_back(bytes.begin(), bytes.end());
}

}  // namespace tailrace::fragments
