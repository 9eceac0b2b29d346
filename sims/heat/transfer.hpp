// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "basis.hpp"
#include "forest.hpp"
#include "tailrace/comm.hpp"

namespace tailrace::heat {

/// The field at the points of an element.
template <int order>
using ElementValues = std::array<double, element_points<order>>;

/// Values of elements of another mesh: moved to the ranks that need them, then interpolated or injected level
/// by level.
template <int order>
class Transfer {
 public:
  /// Values of a leaf.
  struct Moved {
    Leaf leaf;
    ElementValues<order> values;
  };

  /// Sends what `values` returns for this rank's leaves of `from`, by their place there, to the ranks whose
  /// leaves of `to` meet them; it talks to no others. Memory: that of the values (order 4: 1 kB) per leaf
  /// that stays, three times that while leaves are on their way. @collective{comm}, synchronises
  Transfer(mpi::CommView comm, const Forest& from, const Forest& to,
           const std::function<ElementValues<order>(std::size_t)>& values);

  /// The values of a leaf of `to` that is this rank's. @local
  [[nodiscard]] ElementValues<order> at(const Leaf& leaf) const;
  /// How many of the cubes that were split to make this rank's new leaves were whole before. @local
  [[nodiscard]] std::int64_t splits(const std::vector<Leaf>& leaves) const noexcept;
  /// How many leaves left this rank, each as often as it has new owners. @local
  [[nodiscard]] std::int64_t left() const noexcept { return left_; }

 private:
  [[nodiscard]] const Moved& first_of(std::uint64_t key) const noexcept;

  std::vector<Moved> moved_;  ///< in Morton order
  std::int64_t left_ = 0;
};

/// Values at the points of a child from those of its parent. @local
template <int order>
ElementValues<order> refined(const ElementValues<order>& parent, int child) noexcept;
/// Values at the points of the parent from its children. @local
template <int order>
ElementValues<order> coarsened(const std::array<ElementValues<order>, 8>& children) noexcept;

}  // namespace tailrace::heat
