// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "molecule.hpp"

namespace tailrace::molecules {

/// Describes how a molecule is in a binary file: the places of its members in bytes, little-endian, doubles
/// but for the id (64 bits) and the component; -1 where the file has none.
struct RowLayout {
  std::int64_t bytes = 0;  ///< from one row to the next
  int id = 0, component = 0, position = 0, velocity = 0, orientation = 0, angular_momentum = 0;
  int component_bytes = 4;  ///< refers to the unsigned number
  int first_component = 0;  ///< the number of the first component

  /// Without a gap at the end, which the last row of a file may lack.
  [[nodiscard]] constexpr std::int64_t used_bytes() const noexcept {
    const int last = std::max({id + 8, component + component_bytes, position + 24, velocity + 24});
    return std::max({last, orientation + 32, angular_momentum + 24});
  }
  friend bool operator==(const RowLayout&, const RowLayout&) = default;
};

/// Plain binary files of ls1 mardyn.
inline constexpr RowLayout icrvqd_row{116, 0, 8, 12, 36, 60, 92, 4, 1};
inline constexpr RowLayout icrv_row{60, 0, 8, 12, 36, -1, -1, 4, 1};
inline constexpr RowLayout irv_row{56, 0, -1, 8, 32, -1, -1, 0, 1};
/// As molecules travel between ranks there; the cell-structured file, and our checkpoints.
inline constexpr RowLayout transfer_row{116, 104, 112, 0, 24, 48, 80, 4, 0};
/// MPI-IO checkpoints of its parallel and of its serial build.
inline constexpr RowLayout padded_transfer_row{120, 104, 112, 0, 24, 48, 80, 4, 0};
inline constexpr RowLayout serial_row{120, 0, 8, 16, 40, 64, 96, 8, 0};

/// Puts a molecule into the first bytes of `out`; gaps of the row become 0. @local
void pack(const RowLayout& layout, const Molecule& molecule, std::span<std::byte> out) noexcept;
/// The molecule in the first bytes of `row`. What the row lacks is as in a new `Molecule`; a component
/// that does not fit its type becomes -1. @local
Molecule unpack(const RowLayout& layout, std::span<const std::byte> row) noexcept;

/// A hash of the whole state of a molecule; sums of it do not depend on the order. @local
std::uint64_t hash_of(const Molecule& molecule) noexcept;

}  // namespace tailrace::molecules
