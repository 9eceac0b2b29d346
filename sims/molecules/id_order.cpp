// SPDX-License-Identifier: BSD-3-Clause
#include "id_order.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "mpi/packets.hpp"
#include "mpi/verdict.hpp"
#include "tailrace/error.hpp"

namespace tailrace::molecules {

IdOrder::IdOrder(mpi::CommView comm, std::vector<std::uint64_t> ids)
    : rank_(comm.rank()), ranks_(comm.size()), size_(mpi::sum(comm, static_cast<std::int64_t>(ids.size()))) {
  std::sort(ids.begin(), ids.end());
  find_borders(comm, ids);
  gather_own(comm, ids);
  refuse_doubled(comm);
}

/// Halves, for all borders at once, the range in which the smallest number lies below which there are enough
/// ids.
void IdOrder::find_borders(mpi::CommView comm, const std::vector<std::uint64_t>& sorted) {
  const auto count = static_cast<std::size_t>(ranks_ - 1);
  std::vector<std::uint64_t> low(count, 0), high(count, std::numeric_limits<std::uint64_t>::max());
  for (int bit = 0; count > 0 && bit < std::numeric_limits<std::uint64_t>::digits; ++bit) {
    std::vector<std::int64_t> below(count);
    for (std::size_t b = 0; b < count; ++b) {
      const auto middle = low[b] + (high[b] - low[b]) / 2;
      below[b] = std::lower_bound(sorted.begin(), sorted.end(), middle) - sorted.begin();
    }
    below = mpi::sum(comm, below);
    for (std::size_t b = 0; b < count; ++b) {
      const auto middle = low[b] + (high[b] - low[b]) / 2;
      if (below[b] >= begin(static_cast<int>(b) + 1))
        high[b] = middle;
      else
        low[b] = middle + 1;
    }
  }
  borders_ = std::move(high);
}

void IdOrder::gather_own(mpi::CommView comm, const std::vector<std::uint64_t>& sorted) {
  std::vector<mpi::Packet<std::uint64_t>> packets;
  for (auto first = sorted.begin(); first != sorted.end();) {
    const int rank = owner(*first);
    const auto end =
        std::partition_point(first, sorted.end(), [&](std::uint64_t id) { return owner(id) <= rank; });
    packets.push_back({rank, {first, end}});
    first = end;
  }
  for (const auto& packet : mpi::deliver(comm, packets))
    own_.insert(own_.end(), packet.values.begin(), packet.values.end());
  std::sort(own_.begin(), own_.end());
}

void IdOrder::refuse_doubled(mpi::CommView comm) const {
  std::optional<ErrorInfo> mine;
  const auto twice = std::adjacent_find(own_.begin(), own_.end());
  if (twice != own_.end())
    mine = ErrorInfo{.kind = ErrorKind::input,
                     .message = fmt::format("two molecules have the id {}", *twice),
                     .path = {},
                     .hint = "give every molecule an id of its own"};
  mpi::agree(comm, mine);
}

int IdOrder::owner(std::uint64_t id) const noexcept {
  return static_cast<int>(std::upper_bound(borders_.begin(), borders_.end(), id) - borders_.begin());
}

std::int64_t IdOrder::place(std::uint64_t id) const noexcept {
  const auto found = std::lower_bound(own_.begin(), own_.end(), id);
  return found != own_.end() && *found == id ? found - own_.begin() : -1;
}

std::int64_t IdOrder::memory_bytes() const noexcept {
  return static_cast<std::int64_t>((own_.capacity() + borders_.capacity()) * sizeof(std::uint64_t));
}

}  // namespace tailrace::molecules
