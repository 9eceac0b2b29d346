// SPDX-License-Identifier: BSD-3-Clause
#include "columns.hpp"

#include <algorithm>
#include <bit>

#include "base/simd.hpp"

namespace tailrace::molecules {

template <class Self, class Visit>
void Columns::each_state(Self& self, Visit&& visit) {
  for (auto& column : self.position) visit(column);
  if (self.moves_)
    for (auto& column : self.velocity) visit(column);
  if (!self.rotates_) return;
  for (auto& column : self.orientation) visit(column);
  if (self.moves_)
    for (auto& column : self.momentum) visit(column);
}

template <class Self, class Visit>
void Columns::each(Self& self, Visit&& visit) {
  each_state(self, visit);
  visit(self.force[0]);  // of copies too, as scratch
  if (self.moves_) {
    for (std::size_t d = 1; d < 3; ++d) visit(self.force[d]);
    if (self.rotates_)
      for (auto& column : self.torque) visit(column);
    visit(self.id);
  }
  if (self.mixed_) visit(self.component);
}

Columns::Columns(Kind kind, const ForceField& field)
    : moves_(kind == Kind::own), rotates_(field.rotates()), mixed_(field.components().size() > 1) {
  resize(0);
}

void Columns::resize(std::int64_t size) {
  const auto length = static_cast<std::size_t>(size + simd::lanes<double>);
  each(*this, [length](auto& column) {
    // A vector would double itself; memory is for molecules.
    if (column.capacity() < length) column.reserve(length + length / 64);
    column.resize(length);
  });
  size_ = size;
}

void Columns::append(std::span<const Molecule> molecules) {
  const std::int64_t first = size_, count = std::ssize(molecules);
  resize(first + count);
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < count; ++i) set(first + i, molecules[static_cast<std::size_t>(i)]);
}

void Columns::set(std::int64_t i, const Molecule& molecule) {
  for (std::size_t d = 0; d < 3; ++d) {
    position[d][i] = molecule.position[d];
    if (moves_) velocity[d][i] = molecule.velocity[d];
    if (moves_ && rotates_) momentum[d][i] = molecule.angular_momentum[d];
  }
  if (rotates_)
    for (std::size_t d = 0; d < 4; ++d) orientation[d][i] = molecule.orientation[d];
  if (moves_) id[i] = molecule.id;
  if (mixed_) component[i] = molecule.component;
}

void Columns::remove(std::int64_t i) {
  const std::int64_t last = size_ - 1;
  each(*this, [i, last](auto& column) { column[i] = column[last]; });
  resize(last);
}

Molecule Columns::get(std::int64_t i) const {
  Molecule molecule;
  for (std::size_t d = 0; d < 3; ++d) {
    molecule.position[d] = position[d][i];
    molecule.velocity[d] = velocity[d][i];
    if (rotates_) molecule.angular_momentum[d] = momentum[d][i];
  }
  if (rotates_)
    for (std::size_t d = 0; d < 4; ++d) molecule.orientation[d] = orientation[d][i];
  molecule.id = id[i];
  molecule.component = static_cast<std::int32_t>(component_of(i));
  return molecule;
}

void Columns::reorder(std::span<const std::int32_t> order) {
  const auto count = static_cast<std::int64_t>(order.size());
  Numbers& scratch = this->scratch();
  each_state(*this, [&](Numbers& column) {
#pragma omp parallel for schedule(static)
    for (std::int64_t k = 0; k < count; ++k) scratch[k] = column[order[k]];
    column.swap(scratch);
  });
  const auto through_scratch = [&]<class Value>(AlignedVector<Value>& column) {
#pragma omp parallel for schedule(static)
    for (std::int64_t k = 0; k < count; ++k)
      scratch[k] = std::bit_cast<double>(static_cast<std::uint64_t>(column[order[k]]));
#pragma omp parallel for schedule(static)
    for (std::int64_t k = 0; k < count; ++k)
      column[k] = static_cast<Value>(std::bit_cast<std::uint64_t>(scratch[k]));
  };
  if (moves_) through_scratch(id);
  if (mixed_) through_scratch(component);
}

void Columns::pad() {
  each_state(*this, [this](Numbers& column) { std::fill(column.begin() + size_, column.end(), 0.0); });
}

void Columns::clear_forces() {
  for (auto* columns : {&force, &torque})
    for (auto& column : *columns) {
      const auto length = static_cast<std::int64_t>(column.size());
#pragma omp parallel for schedule(static)
      for (std::int64_t i = 0; i < length; ++i) column[i] = 0;
    }
}

std::int64_t Columns::memory_bytes() const noexcept {
  std::size_t bytes = 0;
  each(*this, [&bytes](const auto& column) { bytes += column.capacity() * sizeof(column[0]); });
  return static_cast<std::int64_t>(bytes);
}

}  // namespace tailrace::molecules
