// SPDX-License-Identifier: BSD-3-Clause
#include "exchange/lines.hpp"

#include <algorithm>

namespace tailrace::exchange {

Lines::Group& Lines::group_of(std::size_t entry_bytes) {
  const auto found = std::find_if(groups_.begin(), groups_.end(),
                                  [&](const Group& group) { return group.entry_bytes == entry_bytes; });
  if (found != groups_.end()) return *found;
  groups_.push_back({entry_bytes, {}, {}});
  if (settings_.transport == nullptr) groups_.back().choice.emplace(settings_.comm, settings_.timings);
  return groups_.back();
}

void Lines::drop_losers(Group& group, const Transport& chosen) {
  group.entries.remove_if([&](const Entry& entry) { return entry.transport != &chosen && !entry.used; });
}

Lines::Lease Lines::take(std::size_t entry_bytes, const Configure& configure) {
  Group& group = group_of(entry_bytes);
  const Transport& transport = group.choice ? group.choice->next() : *settings_.transport;
  if (group.choice && group.choice->decided()) drop_losers(group, transport);
  for (Entry& entry : group.entries)
    if (!entry.used && entry.transport == &transport) return {group, entry};
  const LineConfig config = configure();
  group.entries.push_back({&transport, config, transport.open(config), false});
  return {group, group.entries.back()};
}

bool Lines::has_free(std::size_t entry_bytes) const noexcept {
  return std::any_of(groups_.begin(), groups_.end(), [&](const Group& group) {
    const Transport* const transport = transport_of(group);
    return group.entry_bytes == entry_bytes && transport != nullptr &&
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
  if (!same_shape) return groups_.clear();
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
