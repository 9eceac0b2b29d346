// SPDX-License-Identifier: BSD-3-Clause
#include "fragments/ended_names.hpp"

#include <algorithm>

namespace tailrace::fragments {

namespace {

bool same(const Slot& a, const Slot& b) {
  if (a.index() != b.index()) return false;
  if (const auto* const value = std::get_if<Value>(&a)) return *value == std::get<Value>(b);
  if (const auto* const name = std::get_if<Name>(&a)) return name->id == std::get<Name>(b).id;
  return true;
}

/// Calls that came with messages are copies.
bool same(const CallRecord* a, const CallRecord* b) {
  for (; a != b; a = a->caller.get(), b = b->caller.get())
    if (a == nullptr || b == nullptr || a->statement != b->statement || a->depth != b->depth ||
        !std::ranges::equal(a->arguments, b->arguments,
                            [](const Slot& x, const Slot& y) { return same(x, y); }))
      return false;
  return true;
}
bool same(const Origin& a, const Origin& b) {
  return a.statement == b.statement && same(a.call.get(), b.call.get());
}
bool same(const Shared<const Home>& a, const Shared<const Home>& b) {
  return a == b || (a && b && a->rule == b->rule && a->captured == b->captured);
}
bool same(const Stored& a, const Stored& b) {
  return a.state == b.state && a.count_rule == b.count_rule && same(a.writer, b.writer) &&
         same(a.remover(), b.remover()) && same(a.home(), b.home());
}

}  // namespace

struct EndedNames::Split {
  Id rest;  ///< its last index is the remainder
  std::int64_t at;
};

EndedNames::Split EndedNames::split(const Id& id) const {
  const auto indices = id.indices();
  const auto remainder = (indices[0] % step_ + step_) % step_;
  Split found{id.base(), (std::int64_t{indices[0]} - remainder) / step_};
  found.rest.take(indices.subspan(1));
  found.rest.take(remainder);
  return found;
}

void EndedNames::add(const Id& id, const Stored& how) {
  const auto found = split(id);
  auto& groups = all_[found.rest];
  const auto alike = std::ranges::find_if(groups, [&](const Alike& other) { return same(other.how, how); });
  if (alike != groups.end()) return alike->places.add(found.at);
  auto& group = groups.emplace_back(Alike{how, {}});
  group.how.value = {}, group.how.uses = -1, group.how.deletes = false;
  group.places.add(found.at);
}

void EndedNames::add(const EndedRange& range) {
  range.each([&](const Id& id) { add(id, range.how); });
}

const Stored* EndedNames::find(const Id& id) const {
  if (all_.empty() || id.indices().empty()) return nullptr;
  const auto wanted = split(id);
  const auto groups = all_.find(wanted.rest);
  if (groups == all_.end()) return nullptr;
  for (const auto& [how, places] : groups->second)
    if (places.contains(wanted.at)) return &how;
  return nullptr;
}

std::vector<EndedRange> EndedNames::ranges() const {
  std::vector<EndedRange> list;
  for (const auto& [rest, groups] : all_) {
    const auto indices = rest.indices();
    const auto remainder = indices.back();
    for (const auto& [how, places] : groups)
      for (const auto& [first, last] : places.all()) {
        Id id = rest.base();
        id.take(static_cast<std::int32_t>(first * step_ + remainder));
        id.take(indices.first(indices.size() - 1));
        list.push_back({std::move(id), static_cast<std::int32_t>(last - first + 1), step_, how});
      }
  }
  return list;
}

}  // namespace tailrace::fragments
