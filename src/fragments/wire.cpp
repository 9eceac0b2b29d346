// SPDX-License-Identifier: BSD-3-Clause
#include "fragments/wire.hpp"

#include "base/check.hpp"

namespace tailrace::fragments {

namespace {
/// Calls that travel with a fragment: those that messages show, and one more.
constexpr std::uint32_t calls_sent = 9;
}  // namespace

Writer& Writer::operator<<(const std::string& text) {
  append_value(bytes_, text.size());
  append_bytes(bytes_, std::as_bytes(std::span(text)));
  return *this;
}
MessageReader& MessageReader::operator>>(std::string& text) {
  unpacker_.get(text);
  return *this;
}

Writer& Writer::operator<<(const Id& id) {
  *this << id.creator() << id.counter() << id.indices().size();
  for (const auto index : id.indices()) *this << index;
  return *this;
}
MessageReader& MessageReader::operator>>(Id& id) {
  const auto creator = unpacker_.get<std::int32_t>();
  id = Id(creator, unpacker_.get<std::uint64_t>());
  for (auto count = unpacker_.get<std::size_t>(); count > 0; --count) id.take(unpacker_.get<std::int32_t>());
  return *this;
}

Writer& Writer::operator<<(const Value& value) {
  *this << value.type();
  if (value.type() == Type::integer) return *this << value.integer();
  if (value.type() == Type::real) return *this << value.real();
  append_value(bytes_, value.bytes().size());
  append_bytes(bytes_, value.bytes());
  return *this;
}
MessageReader& MessageReader::operator>>(Value& value) {
  const auto type = unpacker_.get<Type>();
  if (type == Type::integer)
    value = Value(unpacker_.get<std::int32_t>());
  else if (type == Type::real)
    value = Value(unpacker_.get<double>());
  else
    value = Value::from_bytes(type, unpacker_.get<std::vector<std::byte>>());
  return *this;
}

Writer& Writer::operator<<(const Name& name) {
  *this << name.id << name.declaration << static_cast<bool>(name.home);
  if (name.home) *this << name.home->rule << name.home->captured;
  return *this;
}
MessageReader& MessageReader::operator>>(Name& name) {
  *this >> name.id >> name.declaration;
  if (!unpacker_.get<bool>()) return *this;
  auto home = Shared<Home>::make();
  *this >> home->rule >> home->captured;
  name.home = std::move(home);
  return *this;
}

Writer& Writer::operator<<(const Slot& slot) {
  *this << slot.index();
  if (const auto* const value = std::get_if<Value>(&slot)) *this << *value;
  if (const auto* const name = std::get_if<Name>(&slot)) *this << *name;
  return *this;
}
MessageReader& MessageReader::operator>>(Slot& slot) {
  const auto index = unpacker_.get<std::size_t>();
  if (index == 1) *this >> slot.emplace<Value>();
  if (index == 2) *this >> slot.emplace<Name>();
  return *this;
}

Writer& Writer::operator<<(const Shared<const CallRecord>& call) {
  std::uint32_t count = 0;
  for (const auto* current = call.get(); current != nullptr && count < calls_sent;
       current = current->caller.get())
    ++count;
  *this << count;
  const auto* current = call.get();
  for (; count > 0; --count, current = current->caller.get())
    *this << current->statement << current->depth << current->arguments;
  return *this;
}
MessageReader& MessageReader::operator>>(Shared<const CallRecord>& call) {
  std::vector<Shared<CallRecord>> calls(unpacker_.get<std::uint32_t>());
  for (auto& entry : calls) {
    entry = Shared<CallRecord>::make();
    *this >> entry->statement >> entry->depth >> entry->arguments;
  }
  for (std::size_t i = 1; i < calls.size(); ++i) calls[i - 1]->caller = calls[i];
  if (!calls.empty()) call = calls.front();
  return *this;
}

const Statement* MessageReader::statement() {
  const auto number = unpacker_.get<std::uint32_t>();
  if (number == main_call_number) return &image_->main_call;
  TAILRACE_CHECK(number < image_->statements.size(), "a message names a statement of this program");
  return &image_->statements[number];
}

Writer& Writer::operator<<(const Origin& origin) {
  return *this << origin.statement->number << origin.call;
}
MessageReader& MessageReader::operator>>(Origin& origin) {
  origin.statement = statement();
  return *this >> origin.call;
}

Writer& Writer::operator<<(const Post& post) {
  return *this << post.name << post.value << post.uses << post.count_rule << post.writer;
}
MessageReader& MessageReader::operator>>(Post& post) {
  return *this >> post.name >> post.value >> post.uses >> post.count_rule >> post.writer;
}
Writer& Writer::operator<<(const Removal& removal) {
  return *this << removal.name << removal.by;
}
MessageReader& MessageReader::operator>>(Removal& removal) {
  return *this >> removal.name >> removal.by;
}
Writer& Writer::operator<<(const AfterActions& after) {
  *this << after.sets << after.deletes << after.ended << after.pushes.size();
  for (const auto& [name, to] : after.pushes) *this << name << to;
  return *this;
}
MessageReader& MessageReader::operator>>(AfterActions& after) {
  *this >> after.sets >> after.deletes >> after.ended;
  after.pushes.resize(unpacker_.get<std::size_t>());
  for (auto& [name, to] : after.pushes) *this >> name >> to;
  return *this;
}
Writer& Writer::operator<<(const Input& input) {
  return *this << input.name << input.value;
}
MessageReader& MessageReader::operator>>(Input& input) {
  return *this >> input.name >> input.value;
}

Writer& Writer::operator<<(const Fragment& fragment) {
  *this << fragment.statement->number;
  for (const auto slot : fragment.statement->captured) *this << (*fragment.frame)[slot];
  return *this << fragment.frame->call << fragment.inputs << fragment.group << fragment.moves;
}
MessageReader& MessageReader::operator>>(Fragment& fragment) {
  fragment.statement = statement();
  auto frame = Frame::make(0, fragment.statement->caller->slots, {}, {});
  for (const auto slot : fragment.statement->captured) *this >> frame->own(slot);
  *this >> frame->call >> fragment.inputs >> fragment.group >> fragment.moves;
  fragment.frame = std::move(frame);
  return *this;
}

Writer& Writer::operator<<(const NamedData& data) {
  return *this << data.id << data.text << data.here;
}
MessageReader& MessageReader::operator>>(NamedData& data) {
  return *this >> data.id >> data.text >> data.here;
}

Writer& Writer::operator<<(const Pattern& pattern) {
  *this << pattern.base << pattern.open << pattern.indices.size();
  for (const auto& index : pattern.indices) *this << index.has_value() << index.value_or(0);
  return *this;
}
MessageReader& MessageReader::operator>>(Pattern& pattern) {
  *this >> pattern.base >> pattern.open;
  pattern.indices.resize(unpacker_.get<std::size_t>());
  for (auto& index : pattern.indices) {
    const bool known = unpacker_.get<bool>();
    const auto value = unpacker_.get<std::int32_t>();
    if (known) index = value;
  }
  return *this;
}

Writer& Writer::operator<<(const Stuck& stuck) {
  return *this << stuck.statement << stuck.at << stuck.calls << stuck.missing << stuck.writes << stuck.when
               << stuck.failed << stuck.group << stuck.own << stuck.block;
}
MessageReader& MessageReader::operator>>(Stuck& stuck) {
  return *this >> stuck.statement >> stuck.at >> stuck.calls >> stuck.missing >> stuck.writes >> stuck.when >>
         stuck.failed >> stuck.group >> stuck.own >> stuck.block;
}
Writer& Writer::operator<<(const Missing& missing) {
  return *this << missing.id << missing.state << missing.count_at << missing.deleted_at
               << missing.deleted_calls;
}
MessageReader& MessageReader::operator>>(Missing& missing) {
  return *this >> missing.id >> missing.state >> missing.count_at >> missing.deleted_at >>
         missing.deleted_calls;
}
Writer& Writer::operator<<(const Written& written) {
  return *this << written.id << written.at << written.calls;
}
MessageReader& MessageReader::operator>>(Written& written) {
  return *this >> written.id >> written.at >> written.calls;
}
Writer& Writer::operator<<(const UnusedCount& count) {
  return *this << count.at << count.values << count.uses << count.first;
}
MessageReader& MessageReader::operator>>(UnusedCount& count) {
  return *this >> count.at >> count.values >> count.uses >> count.first;
}
Writer& Writer::operator<<(const Message& message) {
  return *this << message.at << message.text << message.code << message.note << message.lines << message.fix
               << message.about;
}
MessageReader& MessageReader::operator>>(Message& message) {
  return *this >> message.at >> message.text >> message.code >> message.note >> message.lines >>
         message.fix >> message.about;
}

}  // namespace tailrace::fragments
