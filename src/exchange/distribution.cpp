// SPDX-License-Identifier: BSD-3-Clause
#include "tailrace/exchange/distribution.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tailrace/error.hpp"

namespace tailrace::exchange {

namespace {

[[noreturn]] void refuse(std::string message, std::string hint) {
  throw Error(ErrorKind::input, std::move(message), std::move(hint));
}

void check_sizes(std::int64_t size, int ranks) {
  if (size < 0 || ranks < 1)
    refuse(fmt::format("a distribution of {} indices over {} ranks", size, ranks),
           "no fewer than 0 indices and 1 rank");
}

constexpr auto functions_hint =
    "owner, local, global and count of a distribution describe the same bijection";

/// Index number `i` of `samples` that are spread over 0 to n - 1, the ends included.
std::int64_t sample(std::int64_t i, std::int64_t samples, std::int64_t n) {
  if (samples >= n) return i;
  return static_cast<std::int64_t>(static_cast<double>(n - 1) /
                                   static_cast<double>(std::max<std::int64_t>(samples - 1, 1)) *
                                   static_cast<double>(i));
}

}  // namespace

Block::Block(std::int64_t size, int ranks)
    : size_(size), each_(size / std::max(ranks, 1)), longer_(size % std::max(ranks, 1)), ranks_(ranks) {
  check_sizes(size, ranks);
}

BlockCyclic::BlockCyclic(std::int64_t size, int ranks, std::int64_t block)
    : size_(size), block_(block), ranks_(ranks) {
  check_sizes(size, ranks);
  if (block < 1) refuse(fmt::format("blocks of {} indices", block), "blocks of at least 1 index");
}

std::int64_t BlockCyclic::count(int rank) const noexcept {
  const std::int64_t whole_rounds = size_ / (block_ * ranks_), rest = size_ % (block_ * ranks_);
  return whole_rounds * block_ + std::clamp<std::int64_t>(rest - rank * block_, 0, block_);
}

Starts::Starts(std::vector<std::int64_t> starts) {
  if (starts.size() < 2 || starts.front() != 0 || !std::is_sorted(starts.begin(), starts.end()))
    refuse("a table of starts that does not ascend from 0, or has no end",
           "the first index of each rank, from 0 on, and behind them the number of indices");
  starts_ = std::make_shared<const std::vector<std::int64_t>>(std::move(starts));
}

int Starts::owner(std::int64_t index) const noexcept {
  const auto after = std::upper_bound(starts_->begin(), starts_->end(), index);
  return static_cast<int>(after - starts_->begin()) - 1;
}

void Starts::locate(std::span<const std::int64_t> indices, std::span<int> owners,
                    std::span<std::int64_t> locals) const noexcept {
  int rank = 0;
  for (std::size_t i = 0; i < indices.size(); ++i) {
    if (indices[i] < first(rank) || indices[i] >= first(rank + 1)) rank = owner(indices[i]);
    owners[i] = rank;
    locals[i] = indices[i] - first(rank);
  }
}

void Distribution::check_index(std::int64_t index) const {
  if (index < 0 || index >= size())
    refuse(fmt::format("index {} of a space of {}", index, size()),
           fmt::format("indices from 0 to {}", size() - 1));
}

void Distribution::check_local(int rank, std::int64_t local) const {
  if (rank < 0 || rank >= ranks() || local < 0 || local >= count(rank))
    refuse(fmt::format("index {} of rank {}, which has {} of them, among {} ranks", local, rank,
                       rank >= 0 && rank < ranks() ? count(rank) : 0, ranks()),
           "a rank of the distribution, and one of its indices");
}

int Distribution::owner(std::int64_t index) const {
  check_index(index);
  int owner = 0;
  std::int64_t local = 0;
  locate({&index, 1}, {&owner, 1}, {&local, 1});
  return owner;
}

std::int64_t Distribution::local(std::int64_t index) const {
  check_index(index);
  int owner = 0;
  std::int64_t local = 0;
  locate({&index, 1}, {&owner, 1}, {&local, 1});
  return local;
}

std::int64_t Distribution::global(int rank, std::int64_t local) const {
  check_local(rank, local);
  std::int64_t index = 0;
  globals(rank, {&local, 1}, {&index, 1});
  return index;
}

void Distribution::check(int rank, std::int64_t samples) const {
  const std::int64_t own = count(rank);
  if (own < 0 || own > size())
    refuse(fmt::format("count({}) = {} in a space of {} indices", rank, own, size()), functions_hint);
  const auto contiguous = contiguous_from(rank);
  for (std::int64_t i = 0; i < std::min(samples, own); ++i) {
    const std::int64_t local_index = sample(i, samples, own), index = global(rank, local_index);
    if (contiguous && index != *contiguous + local_index)
      refuse(fmt::format("global({}, {}) = {}, but contiguous_from({}) = {}", rank, local_index, index, rank,
                         *contiguous),
             functions_hint);
    const auto that = [&] { return fmt::format("global({}, {}) = {}", rank, local_index, index); };
    if (index < 0 || index >= size())
      refuse(fmt::format("{} in a space of {} indices", that(), size()), functions_hint);
    if (owner(index) != rank || local(index) != local_index)
      refuse(fmt::format("{}, but owner({}) = {} and local({}) = {}", that(), index, owner(index), index,
                         local(index)),
             functions_hint);
  }
  for (std::int64_t i = 0; i < std::min(samples, size()); ++i) {
    const std::int64_t index = sample(i, samples, size()), local_index = local(index);
    const int who = owner(index);
    const auto that = [&] {
      return fmt::format("owner({0}) = {1} and local({0}) = {2}", index, who, local_index);
    };
    if (who < 0 || who >= ranks()) refuse(fmt::format("{}, among {} ranks", that(), ranks()), functions_hint);
    if (local_index < 0 || local_index >= count(who))
      refuse(fmt::format("{}, but count({}) = {}", that(), who, count(who)), functions_hint);
    if (global(who, local_index) != index)
      refuse(fmt::format("{}, but global({}, {}) = {}", that(), who, local_index, global(who, local_index)),
             functions_hint);
  }
}

}  // namespace tailrace::exchange
