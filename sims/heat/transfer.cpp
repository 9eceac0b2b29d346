// SPDX-License-Identifier: BSD-3-Clause
#include "transfer.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "mpi/packets.hpp"

namespace tailrace::heat {

namespace {

/// Multiplies the lines along an axis by a matrix.
template <int order>
ElementValues<order> along(std::size_t stride, const Matrix<order>& matrix,
                           const ElementValues<order>& from) noexcept {
  ElementValues<order> into{};
  for (std::size_t p = 0; p < element_points<order>; ++p) {
    const std::size_t i = p / stride % points<order>, first = p - i * stride;
    for (std::size_t m = 0; m < points<order>; ++m) into[p] += matrix[i][m] * from[first + m * stride];
  }
  return into;
}

/// The levels at which a cube may begin where a leaf does, from the coarsest one on.
std::int32_t coarsest_level_at(const Place& low) noexcept {
  std::int32_t level = 0;
  const auto aligned = [&](std::int32_t at) { return at % (unit_length >> level) == 0; };
  while (!std::all_of(low.begin(), low.end(), aligned)) ++level;
  return level;
}

}  // namespace

template <int order>
ElementValues<order> refined(const ElementValues<order>& parent, int child) noexcept {
  const auto half = [&](int axis) -> const Matrix<order>& {
    return halves<order>[static_cast<std::size_t>(child >> axis & 1)];
  };
  constexpr std::size_t y = points<order>;
  return along<order>(y * y, half(2), along<order>(y, half(1), along<order>(1, half(0), parent)));
}

template <int order>
ElementValues<order> coarsened(const std::array<ElementValues<order>, 8>& children) noexcept {
  ElementValues<order> parent{};
  for (std::size_t p = 0; p < element_points<order>; ++p) {
    const std::size_t i = p % points<order>, j = p / points<order> % points<order>,
                      k = p / (points<order> * points<order>);
    const auto& child = children[half_of<order>(k) * 4 + half_of<order>(j) * 2 + half_of<order>(i)];
    for (std::size_t c = 0; c < points<order>; ++c)
      for (std::size_t b = 0; b < points<order>; ++b)
        for (std::size_t a = 0; a < points<order>; ++a)
          parent[p] += joining<order>[i][a] * joining<order>[j][b] * joining<order>[k][c] *
                       child[(c * points<order> + b) * points<order> + a];
  }
  return parent;
}

template <int order>
Transfer<order>::Transfer(mpi::CommView comm, const Forest& from, const Forest& to,
                          const std::function<ElementValues<order>(std::size_t)>& values) {
  const auto for_each_target = [&](const auto& call) {
    for (std::size_t i = 0; i < from.leaves.size(); ++i)
      to.for_each_owner(from.leaves[i].key(), from.leaves[i].end_key(), [&](int rank) { call(i, rank); });
  };
  std::map<int, std::size_t> counts;
  for_each_target([&](std::size_t, int rank) { ++counts[rank]; });
  std::map<int, std::vector<Moved>> leaving;
  for (const auto& [rank, count] : counts) {
    leaving[rank].reserve(count);
    if (rank != comm.rank()) left_ += static_cast<std::int64_t>(count);
  }
  for_each_target([&](std::size_t i, int rank) { leaving[rank].push_back({from.leaves[i], values(i)}); });
  auto staying = std::exchange(leaving[comm.rank()], {});
  leaving.erase(comm.rank());
  const auto arrived = mpi::deliver(comm, mpi::packets_of(std::move(leaving)));
  if (arrived.empty()) {
    moved_ = std::move(staying);
    return;
  }
  // Ranks have ascending extents of the curve.
  const auto take = [this](const std::vector<Moved>& leaves) {
    moved_.insert(moved_.end(), leaves.begin(), leaves.end());
  };
  const auto behind = std::find_if(arrived.begin(), arrived.end(),
                                   [&](const auto& packet) { return packet.rank > comm.rank(); });
  std::for_each(arrived.begin(), behind, [&](const auto& packet) { take(packet.values); });
  take(staying);
  std::for_each(behind, arrived.end(), [&](const auto& packet) { take(packet.values); });
}

/// The old leaf that holds a key.
template <int order>
auto Transfer<order>::first_of(std::uint64_t key) const noexcept -> const Moved& {
  const auto behind =
      std::upper_bound(moved_.begin(), moved_.end(), key,
                       [](std::uint64_t k, const Moved& moved) { return k < moved.leaf.key(); });
  return *(behind - 1);
}

template <int order>
ElementValues<order> Transfer<order>::at(const Leaf& leaf) const {
  const Moved& old = first_of(leaf.key());
  if (old.leaf.level <= leaf.level) {
    ElementValues<order> values = old.values;
    for (std::int32_t level = old.leaf.level; level < leaf.level; ++level) {
      const std::int32_t half = unit_length >> (level + 1);
      int child = 0;
      for (std::size_t d = 0; d < 3; ++d) child |= (leaf.low[d] / half & 1) << d;
      values = refined<order>(values, child);
    }
    return values;
  }
  std::array<ElementValues<order>, 8> children;
  for (int i = 0; i < 8; ++i) children[static_cast<std::size_t>(i)] = at(leaf.child(i));
  return coarsened<order>(children);
}

/// A cube belongs to the leaf that begins where it does.
template <int order>
std::int64_t Transfer<order>::splits(const std::vector<Leaf>& leaves) const noexcept {
  std::int64_t count = 0;
  for (const Leaf& leaf : leaves)
    count += std::max(0, leaf.level - std::max(coarsest_level_at(leaf.low), first_of(leaf.key()).leaf.level));
  return count;
}

#define TAILRACE_COMPILE(order)                                                            \
  template class Transfer<order>;                                                          \
  template ElementValues<order> refined<order>(const ElementValues<order>&, int) noexcept; \
  template ElementValues<order> coarsened<order>(const std::array<ElementValues<order>, 8>&) noexcept;
TAILRACE_FOR_EACH_ORDER(TAILRACE_COMPILE)
#undef TAILRACE_COMPILE

}  // namespace tailrace::heat
