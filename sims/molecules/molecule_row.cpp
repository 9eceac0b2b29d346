// SPDX-License-Identifier: BSD-3-Clause
#include "molecule_row.hpp"

#include <xxhash.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>

#include "base/bytes.hpp"

namespace tailrace::molecules {

static_assert(std::endian::native == std::endian::little, "rows are copied unchanged in memory");

namespace {

template <class T>
void put(std::span<std::byte> out, int place, const T& values) noexcept {
  if (place >= 0) put_at(out, static_cast<std::size_t>(place), values);
}

template <class T>
void get(std::span<const std::byte> row, int place, T& values) noexcept {
  if (place >= 0) values = value_at<T>(row, static_cast<std::size_t>(place));
}

}  // namespace

void pack(const RowLayout& layout, const Molecule& molecule, std::span<std::byte> out) noexcept {
  std::fill_n(out.begin(), layout.bytes, std::byte{0});
  put(out, layout.id, molecule.id);
  put(out, layout.position, molecule.position);
  put(out, layout.velocity, molecule.velocity);
  put(out, layout.orientation, molecule.orientation);
  put(out, layout.angular_momentum, molecule.angular_momentum);
  // The high half of a component of 64 bits is 0, as the gap of one of 32 bits.
  put(out, layout.component, static_cast<std::uint32_t>(molecule.component + layout.first_component));
}

Molecule unpack(const RowLayout& layout, std::span<const std::byte> row) noexcept {
  Molecule molecule;
  get(row, layout.id, molecule.id);
  get(row, layout.position, molecule.position);
  get(row, layout.velocity, molecule.velocity);
  get(row, layout.orientation, molecule.orientation);
  get(row, layout.angular_momentum, molecule.angular_momentum);
  if (layout.component < 0) return molecule;
  std::uint64_t number = 0;
  std::memcpy(&number, row.data() + layout.component, static_cast<std::size_t>(layout.component_bytes));
  const auto first = static_cast<std::uint64_t>(layout.first_component);
  const bool fits = number >= first && number - first <= std::numeric_limits<std::int32_t>::max();
  molecule.component = fits ? static_cast<std::int32_t>(number - first) : -1;
  return molecule;
}

std::uint64_t hash_of(const Molecule& molecule) noexcept {
  std::array<std::byte, transfer_row.bytes> row;
  pack(transfer_row, molecule, row);
  return XXH3_64bits(row.data(), row.size());
}

}  // namespace tailrace::molecules
