#include "molecule_row.hpp"

#include <xxhash.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>

#include "base/bytes.hpp"

namespace tailrace::molecules {

static_assert(std::endian::native == std::endian::little, "records are copied as they stand in memory");

namespace {

template <class T>
void put(std::span<std::byte> out, int place, const T& values) noexcept {
  if (place >= 0) put_at(out, static_cast<std::size_t>(place), values);
}

template <class T>
void get(std::span<const std::byte> record, int place, T& values) noexcept {
  if (place >= 0) values = value_at<T>(record, static_cast<std::size_t>(place));
}

}  // namespace

void pack(const RecordLayout& layout, const Molecule& molecule, std::span<std::byte> out) noexcept {
  std::fill_n(out.begin(), layout.bytes, std::byte{0});
  put(out, layout.id, molecule.id);
  put(out, layout.position, molecule.position);
  put(out, layout.velocity, molecule.velocity);
  put(out, layout.orientation, molecule.orientation);
  put(out, layout.angular_momentum, molecule.angular_momentum);
  // The high half of a component of 64 bits is 0, as the gap of one of 32 bits.
  put(out, layout.component, static_cast<std::uint32_t>(molecule.component + layout.first_component));
}

Molecule unpack(const RecordLayout& layout, std::span<const std::byte> record) noexcept {
  Molecule molecule;
  get(record, layout.id, molecule.id);
  get(record, layout.position, molecule.position);
  get(record, layout.velocity, molecule.velocity);
  get(record, layout.orientation, molecule.orientation);
  get(record, layout.angular_momentum, molecule.angular_momentum);
  if (layout.component < 0) return molecule;
  std::uint64_t number = 0;
  std::memcpy(&number, record.data() + layout.component, static_cast<std::size_t>(layout.component_bytes));
  const auto first = static_cast<std::uint64_t>(layout.first_component);
  const bool fits = number >= first && number - first <= std::numeric_limits<std::int32_t>::max();
  molecule.component = fits ? static_cast<std::int32_t>(number - first) : -1;
  return molecule;
}

std::uint64_t hash_of(const Molecule& molecule) noexcept {
  std::array<std::byte, transfer_record.bytes> record;
  pack(transfer_record, molecule, record);
  return XXH3_64bits(record.data(), record.size());
}

}  // namespace tailrace::molecules
