// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "mpi/packets.hpp"
#include "tailrace/comm.hpp"

namespace tailrace::heat {

/// What ranks send to each other while the mesh changes, in the order in which it happens: old elements with
/// their values; elements at which ranks may touch; keys of the points that they may share, and their
/// numbers; and what the map of the exchanges asks of owners. Messages of p4est, which makes the tree, and
/// reductions are not among it.
struct MeshTraffic {
  enum Part : std::uint8_t { transfer, surroundings, numbering, map };
  static constexpr std::size_t parts = 4;
  struct Sent {
    std::int64_t items = 0;  ///< elements, elements, keys, numbers of points
    std::int64_t messages = 0, bytes = 0;
  };
  std::array<Sent, parts> all{};   ///< of all ranks together
  std::array<Sent, parts> most{};  ///< of the rank with the most, number by number
};

/// Counts this rank's part of it, from its construction on.
class MeshTrafficCounter {
 public:
  /// Everything that was sent since the last call belongs to this part. @local
  void add(MeshTraffic::Part part, std::int64_t items) noexcept {
    const auto now = mpi::delivered();
    sent_[part].items += items;
    sent_[part].messages += now.messages - seen_.messages;
    sent_[part].bytes += now.bytes - seen_.bytes;
    seen_ = now;
  }
  /// @collective{comm}, synchronises
  [[nodiscard]] MeshTraffic over(mpi::CommView comm) const;

 private:
  mpi::Delivered seen_ = mpi::delivered();
  std::array<MeshTraffic::Sent, MeshTraffic::parts> sent_{};
};

}  // namespace tailrace::heat
