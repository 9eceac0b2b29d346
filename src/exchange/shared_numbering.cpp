// SPDX-License-Identifier: BSD-3-Clause
#include "tailrace/exchange/shared_numbering.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <unordered_map>
#include <utility>

#include "base/key_numbers.hpp"
#include "exchange/ownership.hpp"
#include "mpi/packets.hpp"
#include "mpi/verdict.hpp"
#include "tailrace/error.hpp"

namespace tailrace::exchange {

namespace {

/// Numbering under way on one rank.
class Numbering {
 public:
  Numbering(mpi::CommView comm, std::span<const NumberedKey> keys, std::span<const Sharer> sharers)
      : comm_(comm), keys_(keys), sharers_(sharers) {}

  SharedNumbers run(OwnerRule rule) {
    mpi::collectively(comm_, [&] { index(); });
    const auto offers = mpi::deliver(comm_, keys_for_sharers());
    mpi::collectively(comm_, [&] { find_holders(offers); });
    find_owners(rule);
    auto numbers = number_own();
    exchange_numbers(offers, numbers.first);
    return numbers;
  }

 private:
  using Offers = std::vector<mpi::Packet<NumberedKey>>;

  void index();
  [[nodiscard]] Offers keys_for_sharers() const;
  void find_holders(const Offers& offers);
  [[nodiscard]] Shares shares() const;
  void find_owners(OwnerRule rule);
  SharedNumbers number_own();
  void exchange_numbers(const Offers& offers, std::vector<std::int64_t>& first) const;

  mpi::CommView comm_;
  std::span<const NumberedKey> keys_;
  std::span<const Sharer> sharers_;
  KeyNumbers<Key> positions_;
  std::unordered_map<std::int32_t, std::vector<int>> holders_;  ///< of keys that several ranks have
  std::vector<int> owners_;
};

void Numbering::index() {
  if (keys_.size() > std::numeric_limits<std::int32_t>::max())
    throw Error(ErrorKind::resource, "more than 2^31 - 1 keys on a rank", "more ranks");
  positions_.reserve(keys_.size());
  for (std::size_t i = 0; i < keys_.size(); ++i)
    if (!positions_.number(keys_[i].key).second)
      throw Error(ErrorKind::input,
                  fmt::format("rank {} numbers the key {:x}:{:x} twice", comm_.rank(), keys_[i].key.high,
                              keys_[i].key.low),
                  "each key once");
}

Numbering::Offers Numbering::keys_for_sharers() const {
  Offers offers;
  for (const Sharer& sharer : sharers_) {
    auto& values = offers.emplace_back(mpi::Packet<NumberedKey>{sharer.rank, {}}).values;
    values.reserve(sharer.keys.size());
    for (const std::int32_t position : sharer.keys)
      values.push_back(keys_[static_cast<std::size_t>(position)]);
  }
  return offers;
}

/// From what others offer, which ranks have each key. Offers come by rank, so that lists are ascending.
void Numbering::find_holders(const Offers& offers) {
  for (const auto& [rank, values] : offers)
    for (const auto& [key, count] : values)
      if (const std::int32_t found = positions_.find(key); found >= 0) {
        if (keys_[static_cast<std::size_t>(found)].count != count)
          throw Error(ErrorKind::input,
                      fmt::format("a key has {} numbers on rank {} and {} on rank {}", count, rank,
                                  keys_[static_cast<std::size_t>(found)].count, comm_.rank()),
                      "the same count on all ranks");
        holders_[found].push_back(rank);
      }
  for (auto& [position, list] : holders_)
    list.insert(std::lower_bound(list.begin(), list.end(), comm_.rank()), comm_.rank());
}

/// What this rank shares with others.
Shares Numbering::shares() const {
  Shares shares;
  for (const auto& [position, list] : holders_)
    shares[list] += keys_[static_cast<std::size_t>(position)].count;
  return shares;
}

void Numbering::find_owners(OwnerRule rule) {
  const auto standings = rule == OwnerRule::balanced ? find_standings(comm_, shares()) : Standings{};
  owners_.assign(keys_.size(), comm_.rank());
  for (const auto& [position, list] : holders_)
    owners_[static_cast<std::size_t>(position)] = owner_among(list, rule, standings);
}

SharedNumbers Numbering::number_own() {
  std::vector<std::int64_t> first(keys_.size(), -1);
  std::vector<std::int32_t> own;
  std::int64_t next = 0;
  for (std::size_t i = 0; i < keys_.size(); ++i)
    if (owners_[i] == comm_.rank()) {
      first[i] = std::exchange(next, next + keys_[i].count);
      own.push_back(static_cast<std::int32_t>(i));
    }
  std::vector<std::int64_t> counts(static_cast<std::size_t>(comm_.size()));
  counts[static_cast<std::size_t>(comm_.rank())] = next;
  counts = mpi::sum(comm_, counts);
  std::vector<std::int64_t> starts{0};
  for (const std::int64_t count : counts) starts.push_back(starts.back() + count);
  for (const std::int32_t position : own)
    first[static_cast<std::size_t>(position)] += starts[static_cast<std::size_t>(comm_.rank())];
  return {std::move(first), std::move(own), Starts(std::move(starts))};
}

/// Owners send numbers in the order in which they were offered keys; who offered them knows that order.
void Numbering::exchange_numbers(const Offers& offers, std::vector<std::int64_t>& first) const {
  std::vector<mpi::Packet<std::int64_t>> answers;
  for (const auto& [rank, values] : offers) {
    mpi::Packet<std::int64_t> answer{rank, {}};
    for (const auto& [key, count] : values)
      if (const std::int32_t found = positions_.find(key);
          found >= 0 && owners_[static_cast<std::size_t>(found)] == comm_.rank())
        answer.values.push_back(first[static_cast<std::size_t>(found)]);
    if (!answer.values.empty()) answers.push_back(std::move(answer));
  }
  std::unordered_map<int, std::size_t> taken;
  const auto arrived = mpi::deliver(comm_, answers);
  for (const auto& [rank, values] : arrived)
    for (const Sharer& sharer : sharers_)
      if (sharer.rank == rank)
        for (const std::int32_t position : sharer.keys)
          if (owners_[static_cast<std::size_t>(position)] == rank)
            first[static_cast<std::size_t>(position)] = values[taken[rank]++];
}

}  // namespace

SharedNumbers number_shared(mpi::CommView comm, std::span<const NumberedKey> keys,
                            std::span<const Sharer> sharers, OwnerRule rule) {
  return Numbering(comm, keys, sharers).run(rule);
}

}  // namespace tailrace::exchange
