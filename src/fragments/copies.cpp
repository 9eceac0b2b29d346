// SPDX-License-Identifier: BSD-3-Clause
#include "fragments/copies.hpp"

#include <algorithm>
#include <utility>

namespace tailrace::fragments {

Copies::Copies(Mail& mail, const Machine& machine, Store& store, HomeOf home_of, Deliver deliver)
    : mail_(&mail),
      machine_(&machine),
      store_(&store),
      home_of_(std::move(home_of)),
      deliver_(std::move(deliver)) {
  mail.handle(copy_message, [this](MessageReader& in) { take(in); });
  store.on_release([this](const Id& id, const Stored& stored) {
    if (auto home = stored.home()) removed({id, stored.declaration, std::move(home)});
  });
}

int Copies::step_of(const Name& name) const {
  if (!name.home || mail_->size() == 1) return 0;
  return std::max(machine_->wanted_copies(name).value_or(0), 0);
}

int Copies::source_of(const Name& name) const {
  const int home = home_of_(name), step = step_of(name), rank = mail_->rank();
  return step == 0 || home == rank ? home : rank - rank % step;
}

void Copies::send(const Name& name, State state, const Value& value) const {
  const std::int64_t step = step_of(name);
  if (step == 0) return;
  for (std::int64_t rank = 0; rank < mail_->size(); rank += step)
    if (rank != mail_->rank()) mail_->send(static_cast<int>(rank), copy_message, name, state, value);
}

void Copies::written(const Name& name, const Value& value, std::int32_t uses) const {
  if (uses < 0)
    send(name, State::live, value);
  else
    send(name, State::counted, Value(0));
  const auto* const stored = store_->find(name.id);
  if (stored != nullptr && stored->state != Stored::State::live) removed(name);
}

void Copies::removed(const Name& name) const {
  send(name, State::expected, Value(0));
}

std::optional<Value> Copies::request(const Name& name, const Reader& reader) {
  auto& copy = copies_[name.id];
  if (copy.state == State::live) return copy.value;
  if (copy.state == State::counted)
    mail_->send(home_of_(name), request_message, name, reader);
  else
    copy.readers.push_back(reader);
  return {};
}

/// Whoever reads a value that is gone waits for ever, as at its home.
void Copies::take(MessageReader& in) {
  const auto name = Mail::read<Name>(in);
  const auto state = Mail::read<State>(in);
  auto value = Mail::read<Value>(in);
  const auto entry = copies_.try_emplace(name.id).first;
  auto& copy = entry->second;
  live_bytes_ -= static_cast<std::int64_t>(copy.value.bytes().size());
  copy.state = state;
  copy.value = state == State::live ? std::move(value) : Value();
  live_bytes_ += static_cast<std::int64_t>(copy.value.bytes().size());
  if (state == State::expected) {
    if (copy.readers.empty()) copies_.erase(entry);
    return;
  }
  const auto kept = copy.value;
  for (const auto& reader : std::exchange(copy.readers, {}))
    if (state == State::live)
      deliver_(name.id, {reader, kept});
    else
      mail_->send(home_of_(name), request_message, name, reader);
}

}  // namespace tailrace::fragments
