// SPDX-License-Identifier: BSD-3-Clause
#include "exchange/lines.hpp"

#include <algorithm>
#include <exception>
#include <utility>

namespace tailrace::exchange {

Lines::~Lines() {
  if (std::uncaught_exceptions() == 0) finish_comparison();
}

void Lines::finish_comparison() {
  for (Group& group : groups_)
    if (group.choice) group.choice->finish_comparison();
}

Lines::Group& Lines::group_of(const LineKey& key) {
  const auto found =
      std::find_if(groups_.begin(), groups_.end(), [&](const Group& group) { return group.key == key; });
  if (found != groups_.end()) return *found;
  groups_.push_back({key, {}, {}});
  if (settings_.transport == nullptr) groups_.back().choice.emplace(settings_.comm, settings_.timings);
  return groups_.back();
}

void Lines::drop_losers(Group& group, const Transport& chosen) {
  group.entries.remove_if([&](const Entry& entry) { return entry.transport != &chosen && !entry.used; });
}

const Transport& Lines::next_of(Group& group) {
  if (!group.choice) return *settings_.transport;
  const Transport& transport = group.choice->next();
  if (group.choice->decided()) drop_losers(group, transport);
  return transport;
}

Lines::Entry* Lines::free_entry(Group& group, const Transport& transport) noexcept {
  for (Entry& entry : group.entries)
    if (!entry.used && entry.transport == &transport) return &entry;
  return nullptr;
}

Lines::Entry& Lines::open(Group& group, const Transport& transport, LineConfig config) {
  auto line = config.sums ? transport.open_sums(config) : transport.open(config);
  group.entries.push_back({&transport, std::move(config), std::move(line), false, {}});
  return group.entries.back();
}

bool Lines::has_free(const LineKey& key) const noexcept {
  return std::any_of(groups_.begin(), groups_.end(), [&](const Group& group) {
    const Transport* const transport = transport_of(group);
    return group.key == key && transport != nullptr &&
           std::any_of(group.entries.begin(), group.entries.end(),
                       [&](const Entry& entry) { return !entry.used && entry.transport == transport; });
  });
}

bool Lines::in_use() const noexcept {
  return std::any_of(groups_.begin(), groups_.end(), [](const Group& group) {
    return std::any_of(group.entries.begin(), group.entries.end(),
                       [](const Entry& entry) { return entry.used; });
  });
}

void Lines::clear(bool same_shape) {
  if (!same_shape) {
    finish_comparison();
    return groups_.clear();
  }
  for (Group& group : groups_) {
    group.entries.clear();
    if (group.choice) group.choice->reconsider();
  }
}

std::size_t Lines::memory_bytes() const noexcept {
  std::size_t bytes = 0;
  for (const Group& group : groups_)
    for (const Entry& entry : group.entries) bytes += entry.line->memory_bytes();
  return bytes;
}

}  // namespace tailrace::exchange
