// SPDX-License-Identifier: BSD-3-Clause
#include "exchange/inspection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>

#include "exchange/remotes.hpp"
#include "tailrace/error.hpp"

namespace tailrace::exchange {

namespace {

constexpr auto max_slots = static_cast<std::int64_t>(std::numeric_limits<std::int32_t>::max());

constexpr auto more_ranks = "distribute them over more ranks";

void check_slots(std::int64_t owned, std::int64_t landing, int rank) {
  if (landing > max_slots - owned)
    throw Error(
        ErrorKind::resource,
        fmt::format("rank {} owns {} values and reads at least {} of others, beyond the {} slots that "
                    "numbers of 32 bits count",
                    rank, owned, landing, max_slots),
        more_ranks);
}

void check_positions(std::size_t positions, int rank) {
  if (positions > static_cast<std::size_t>(max_slots))
    throw Error(ErrorKind::resource,
                fmt::format("{} indices on rank {}, beyond the {} that numbers of 32 bits count", positions,
                            rank, max_slots),
                more_ranks);
}

constexpr std::size_t batch_size = 1024;  // fits in a cache

[[noreturn]] void throw_out_of_range(std::int64_t index, std::size_t position, std::int64_t size) {
  throw Error(ErrorKind::input,
              fmt::format("index {} at position {} of a space of {}", index, position, size),
              fmt::format("indices from 0 to {}", size - 1));
}

/// Finds out what is this rank's own, which becomes a slot at once, and who owns the rest.
class Search {
 public:
  Search(const Distribution& distribution, int rank, Inspection& result)
      : distribution_(distribution),
        contiguous_from_(distribution.contiguous_from(rank)),
        rank_(rank),
        result_(result) {}

  void look_at(std::span<const std::int64_t> batch, std::size_t first) {
    const std::size_t others =
        contiguous_from_ ? set_aside(batch, first, *contiguous_from_) : all_of(batch, first);
    check_range(others);
    distribution_.locate(std::span(indices_).first(others), std::span(owners_).first(others),
                         std::span(locals_).first(others));
    for (std::size_t i = 0; i < others; ++i) {
      if (owners_[i] == rank_)
        result_.slots[positions_[i]] = static_cast<std::int32_t>(locals_[i]);
      else
        remotes_.push_back({owners_[i], static_cast<std::int32_t>(positions_[i]), locals_[i]});
    }
  }
  [[nodiscard]] std::vector<RemotePosition>& remotes() noexcept { return remotes_; }

 private:
  /// Lists what is not in the rank's own extent, and returns how many these are. Most groups of neighbours
  /// have nothing of others, and take few instructions of several numbers each.
  std::size_t set_aside(std::span<const std::int64_t> batch, std::size_t first, std::int64_t from) {
    constexpr std::size_t group = 32;
    const auto start = static_cast<std::uint64_t>(from);
    const auto owned = static_cast<std::uint64_t>(result_.owned);
    std::size_t others = 0;
    for (std::size_t at = 0; at < batch.size(); at += group) {
      const auto part = batch.subspan(at, std::min(group, batch.size() - at));
      std::int32_t* const slots = result_.slots.data() + first + at;
      if (make_local(part.data(), part.size(), start, owned, slots)) continue;
      for (std::size_t i = 0; i < part.size(); ++i) {
        positions_[others] = first + at + i;
        indices_[others] = part[i];
        others += static_cast<std::uint64_t>(part[i]) - start < owned ? 0 : 1;  // hard to guess: no branch
      }
    }
    return others;
  }
  /// Subtracts the rank's first index, and returns whether all that is left is below `owned`.
  static bool make_local(const std::int64_t* __restrict indices, std::size_t count, std::uint64_t start,
                         std::uint64_t owned, std::int32_t* __restrict slots) {
    std::uint64_t outside = 0;  // negative as soon as one is: vectors have no comparison of such numbers
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint64_t local = static_cast<std::uint64_t>(indices[i]) - start;
      slots[i] = static_cast<std::int32_t>(local);
      outside |= local | (owned - 1 - local);
    }
    return static_cast<std::int64_t>(outside) >= 0;
  }
  std::size_t all_of(std::span<const std::int64_t> batch, std::size_t first) {
    for (std::size_t i = 0; i < batch.size(); ++i) {
      positions_[i] = first + i;
      indices_[i] = batch[i];
    }
    return batch.size();
  }
  /// Of what was listed; what is in the rank's own extent is in range.
  void check_range(std::size_t listed) const {
    const std::int64_t size = distribution_.size();
    for (std::size_t i = 0; i < listed; ++i)
      if (indices_[i] < 0 || indices_[i] >= size) throw_out_of_range(indices_[i], positions_[i], size);
  }

  const Distribution& distribution_;
  std::optional<std::int64_t> contiguous_from_;
  int rank_;
  Inspection& result_;
  std::vector<RemotePosition> remotes_;
  std::array<std::size_t, batch_size> positions_;
  std::array<std::int64_t, batch_size> indices_, locals_;
  std::array<int, batch_size> owners_;
};

/// Gives each distinct remote value a landing slot, by owner and by the owner's number, and every position
/// that needs it this slot.
void place(std::vector<RemotePosition>& remotes, Inspection& result, int rank) {
  sort_by_place(remotes);
  const RemotePosition* last = nullptr;
  for (const RemotePosition& remote : remotes) {
    if (last == nullptr || last->owner != remote.owner || last->local != remote.local) {
      const auto landing = static_cast<std::int32_t>(result.wanted.size());
      check_slots(result.owned, landing + std::int64_t{1}, rank);
      if (result.sources.empty() || result.sources.back().rank != remote.owner)
        result.sources.push_back({.rank = remote.owner, .first = landing});
      ++result.sources.back().count;
      result.wanted.push_back(remote.local);
    }
    result.slots[static_cast<std::size_t>(remote.position)] = result.array_size() - 1;
    last = &remote;
  }
}

}  // namespace

std::size_t Inspection::memory_bytes() const noexcept {
  return slots.capacity() * sizeof slots[0] + sources.capacity() * sizeof sources[0] +
         wanted.capacity() * sizeof wanted[0];
}

Inspection inspect(const Distribution& distribution, int rank, std::span<const std::int64_t> indices) {
  const std::int64_t owned = distribution.count(rank);
  check_slots(owned, 0, rank);
  check_positions(indices.size(), rank);
  Inspection result;
  result.owned = static_cast<std::int32_t>(owned);
  result.slots.resize(indices.size());
  Search search(distribution, rank, result);
  for (std::size_t first = 0; first < indices.size(); first += batch_size) {
    const auto batch = indices.subspan(first, std::min(batch_size, indices.size() - first));
    search.look_at(batch, first);
  }
  result.rim = static_cast<std::int64_t>(search.remotes().size());
  place(search.remotes(), result, rank);
  result.wanted.shrink_to_fit();
  result.sources.shrink_to_fit();
  return result;
}

}  // namespace tailrace::exchange
