// SPDX-License-Identifier: BSD-3-Clause
#include "exchange/inspection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

#include "base/key_numbers.hpp"
#include "tailrace/error.hpp"

namespace tailrace::exchange {

namespace {

/// A remote index: where it lives, and its number in the order of their first use.
struct Remote {
  int owner;
  std::int32_t number;
  std::int64_t local;
};

constexpr auto max_slots = static_cast<std::int64_t>(std::numeric_limits<std::int32_t>::max());

void check_slots(std::int64_t slots, int rank) {
  if (slots > max_slots)
    throw Error(ErrorKind::resource,
                fmt::format("rank {} owns and reads more than {} values", rank, max_slots),
                "distribute them over more ranks");
}

/// Locates the indices in batches that fit in a cache.
template <class Visit>
void for_each_place(const Distribution& distribution, std::span<const std::int64_t> indices, Visit visit) {
  constexpr std::size_t batch_size = 1024;
  std::array<int, batch_size> owners;
  std::array<std::int64_t, batch_size> locals;
  for (std::size_t first = 0; first < indices.size(); first += batch_size) {
    const std::size_t count = std::min(batch_size, indices.size() - first);
    distribution.locate(indices.subspan(first, count), std::span(owners).first(count),
                        std::span(locals).first(count));
    for (std::size_t i = 0; i < count; ++i) visit(first + i, owners[i], locals[i]);
  }
}

void check_range(const Distribution& distribution, std::span<const std::int64_t> indices) {
  const std::int64_t size = distribution.size();
  const auto bad = std::find_if(indices.begin(), indices.end(),
                                [size](std::int64_t index) { return index < 0 || index >= size; });
  if (bad == indices.end()) return;
  throw Error(ErrorKind::input,
              fmt::format("index {} at position {} of a space of {}", *bad, bad - indices.begin(), size),
              fmt::format("indices from 0 to {}", size - 1));
}

/// Orders the remote indices by owner, lists what is wanted of whom, and returns the landing slot of each
/// number.
std::vector<std::int32_t> place(std::vector<Remote>& remotes, Inspection& result) {
  std::sort(remotes.begin(), remotes.end(), [](const Remote& a, const Remote& b) {
    return a.owner != b.owner ? a.owner < b.owner : a.local < b.local;
  });
  std::vector<std::int32_t> slot_of(remotes.size());
  result.wanted.reserve(remotes.size());
  for (const Remote& remote : remotes) {
    const auto landing = static_cast<std::int32_t>(result.wanted.size());
    if (result.sources.empty() || result.sources.back().rank != remote.owner)
      result.sources.push_back({.rank = remote.owner, .first = landing});
    ++result.sources.back().count;
    slot_of[static_cast<std::size_t>(remote.number)] = landing;
    result.wanted.push_back(remote.local);
  }
  return slot_of;
}

}  // namespace

std::size_t Inspection::memory_bytes() const noexcept {
  return slots.capacity() * sizeof slots[0] + sources.capacity() * sizeof sources[0] +
         wanted.capacity() * sizeof wanted[0];
}

Inspection inspect(const Distribution& distribution, int rank, std::span<const std::int64_t> indices) {
  check_range(distribution, indices);
  const std::int64_t owned = distribution.count(rank);
  check_slots(std::max(owned, static_cast<std::int64_t>(indices.size())), rank);
  Inspection result;
  result.owned = static_cast<std::int32_t>(owned);
  result.slots.resize(indices.size());
  KeyNumbers<std::int64_t> numbering;
  std::vector<Remote> remotes;
  for_each_place(distribution, indices, [&](std::size_t position, int owner, std::int64_t local) {
    if (owner == rank) {
      result.slots[position] = static_cast<std::int32_t>(local);
      return;
    }
    const auto [number, is_new] = numbering.number(indices[position]);
    if (is_new) {
      check_slots(owned + static_cast<std::int64_t>(numbering.size()), rank);
      remotes.push_back({owner, number, local});
    }
    result.slots[position] = -1 - number;
    ++result.rim;
  });
  const auto landing_of = place(remotes, result);
  for (auto& slot : result.slots)
    if (slot < 0) slot = result.owned + landing_of[static_cast<std::size_t>(-1 - slot)];
  return result;
}

}  // namespace tailrace::exchange
