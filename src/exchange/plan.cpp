// SPDX-License-Identifier: BSD-3-Clause
#include "exchange/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "mpi/collective.hpp"
#include "mpi/packets.hpp"
#include "mpi/verdict.hpp"
#include "tailrace/error.hpp"

namespace tailrace::exchange {

namespace {

#ifdef TAILRACE_DEBUG_CHECKS
constexpr std::int64_t sampled_indices = std::int64_t{1} << 62;
#else
constexpr std::int64_t sampled_indices = 64;
#endif

void check_ranks(const Distribution& distribution, mpi::CommView comm) {
  if (distribution.ranks() == comm.size()) return;
  throw Error(
      ErrorKind::input,
      fmt::format("a distribution over {} ranks on a communicator of {}", distribution.ranks(), comm.size()),
      "a distribution over the ranks of the communicator");
}

/// Ranks whose distributions are not the same would ask each other for the wrong values. Compared are their
/// sizes, and where some of the indices are. @collective{comm}
void check_same(const Distribution& distribution, mpi::CommView comm) {
  constexpr std::int64_t samples = 64, prime = 1'000'003;
  const std::int64_t size = distribution.size();
  std::uint64_t digest = 0;
  for (std::int64_t i = 0; i < std::min(samples, size); ++i) {
    const std::int64_t index = size <= samples ? i : size / samples * i;
    digest = digest * prime + static_cast<std::uint64_t>(distribution.owner(index));
    digest = digest * prime + static_cast<std::uint64_t>(distribution.local(index));
  }
  const auto number = static_cast<std::int64_t>(digest >> 2U);
  std::array most{size, -size, number, -number};
  mpi::Request request = mpi::start_combining(comm, std::span(most), mpi::Combination::max);
  mpi::wait_all({&request, 1});
  if (most[0] == -most[1] && most[2] == -most[3]) return;
  const auto what = most[0] == -most[1]
                        ? fmt::format("ranks have different distributions of {} indices", size)
                        : fmt::format("ranks have distributions of {} to {} indices", -most[1], most[0]);
  throw Error(ErrorKind::input, what, "the same distribution on all ranks");
}

/// Packets of owned entries, as the shares of other ranks.
std::vector<Share> shares_of(const std::vector<mpi::Packet<std::int64_t>>& packets) {
  std::vector<Share> shares;
  for (const auto& [rank, places] : packets) shares.push_back({rank, Entries(places)});
  return shares;
}

/// The number of the source that owns a landing slot, from a slot to its source.
std::vector<std::int32_t> source_of_landing(const Inspection& inspection) {
  std::vector<std::int32_t> source(inspection.wanted.size());
  for (std::size_t i = 0; i < inspection.sources.size(); ++i)
    for (std::int32_t k = 0; k < inspection.sources[i].count; ++k)
      source[static_cast<std::size_t>(inspection.sources[i].first + k)] = static_cast<std::int32_t>(i);
  return source;
}

/// Own slots that other ranks read.
std::vector<bool> shared_slots(const Plan& plan) {
  std::vector<bool> shared(static_cast<std::size_t>(plan.inspection.owned));
  for (const Share& reader : plan.readers)
    reader.entries.for_each([&](std::int32_t slot) { shared[static_cast<std::size_t>(slot)] = true; });
  return shared;
}

void split_own(const Plan& plan, ContributionPlan& result) {
  const auto shared = shared_slots(plan);
  const auto& slots = plan.inspection.slots;
  for (std::size_t position = 0; position < slots.size(); ++position) {
    if (plan.inspection.is_remote(position)) continue;
    auto& pairs = shared[static_cast<std::size_t>(slots[position])] ? result.in_turn : result.alone;
    pairs.add(static_cast<std::int32_t>(position), slots[position]);
  }
}

}  // namespace

std::size_t ContributionPlan::memory_bytes() const noexcept {
  std::size_t bytes = alone.memory_bytes() + in_turn.memory_bytes();
  for (const auto* side : {&out, &in})
    for (const Share& share : *side) bytes += share.entries.memory_bytes();
  return bytes;
}

std::size_t SharedSlots::memory_bytes() const noexcept {
  std::size_t bytes = slots.memory_bytes();
  for (const auto& list : numbers) bytes += list.capacity() * sizeof list[0];
  return bytes;
}

Plan make_plan(mpi::CommView comm, const Distribution& distribution, std::span<const std::int64_t> indices) {
  Plan plan;
  mpi::collectively(comm, [&] {
    check_ranks(distribution, comm);
    distribution.check(comm.rank(), sampled_indices);
    plan.inspection = inspect(distribution, comm.rank(), indices);
  });
  check_same(distribution, comm);
  std::vector<mpi::Packet<std::int64_t>> wanted;
  for (const Source& source : plan.inspection.sources) {
    const auto first = plan.inspection.wanted.begin() + source.first;
    wanted.push_back({source.rank, {first, first + source.count}});
  }
  plan.readers = shares_of(mpi::deliver(comm, wanted));
  return plan;
}

ContributionPlan make_contribution_plan(mpi::CommView comm, const Plan& plan) {
  const Inspection& inspection = plan.inspection;
  const auto source_of = source_of_landing(inspection);
  std::vector<std::vector<std::int64_t>> positions(inspection.sources.size());
  std::vector<mpi::Packet<std::int64_t>> targets;
  for (const Source& source : inspection.sources) targets.push_back({source.rank, {}});
  for (std::size_t position = 0; position < inspection.slots.size(); ++position) {
    if (!inspection.is_remote(position)) continue;
    const auto landing = static_cast<std::size_t>(inspection.slots[position] - inspection.owned);
    const auto source = static_cast<std::size_t>(source_of[landing]);
    positions[source].push_back(static_cast<std::int64_t>(position));
    targets[source].values.push_back(inspection.wanted[landing]);
  }
  ContributionPlan result;
  for (std::size_t i = 0; i < positions.size(); ++i)
    result.out.push_back({inspection.sources[i].rank, Entries(positions[i])});
  result.in = shares_of(mpi::deliver(comm, targets));
  split_own(plan, result);
  return result;
}

SharedSlots shared_slots_of(const Plan& plan) {
  const auto shared = shared_slots(plan);
  std::vector<std::int64_t> number(shared.size()), slots;
  for (std::size_t slot = 0; slot < shared.size(); ++slot) {
    number[slot] = static_cast<std::int64_t>(slots.size());
    if (shared[slot]) slots.push_back(static_cast<std::int64_t>(slot));
  }
  SharedSlots result{Entries(slots), static_cast<std::int64_t>(slots.size()), {}};
  for (const Share& reader : plan.readers) {
    auto& of_reader = result.numbers.emplace_back();
    reader.entries.for_each(
        [&](std::int32_t slot) { of_reader.push_back(number[static_cast<std::size_t>(slot)]); });
  }
  return result;
}

std::vector<Peer> peers_of(const std::vector<Share>& shares, std::size_t entry_bytes) {
  std::vector<Peer> peers;
  for (const Share& share : shares)
    peers.push_back({share.rank, static_cast<std::size_t>(share.entries.size()) * entry_bytes});
  return peers;
}

std::vector<Peer> peers_of(const std::vector<Source>& sources, std::size_t entry_bytes) {
  std::vector<Peer> peers;
  for (const Source& source : sources)
    peers.push_back({source.rank, static_cast<std::size_t>(source.count) * entry_bytes});
  return peers;
}

}  // namespace tailrace::exchange
