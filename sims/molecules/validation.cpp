// SPDX-License-Identifier: BSD-3-Clause
#include "validation.hpp"

#include <fmt/ranges.h>
#include <xxhash.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/files.hpp"
#include "molecule_row.hpp"
#include "mpi/packets.hpp"
#include "mpi/verdict.hpp"

namespace tailrace::molecules {

namespace {

/// Says how far the square of an orientation's length may be from 1: what is left of one that was written
/// with few digits.
constexpr double orientation_tolerance = 1e-3;

template <class Values>
bool all_finite(const Values& values) noexcept {
  return std::all_of(values.begin(), values.end(), [](double v) { return std::isfinite(v); });
}

std::string text_of(const Vec3& v) {
  return fmt::format("({}, {}, {})", v[0], v[1], v[2]);
}

/// A value that is there twice.
std::optional<std::uint64_t> find_twice(std::vector<std::uint64_t> values) {
  std::sort(values.begin(), values.end());
  const auto twice = std::adjacent_find(values.begin(), values.end());
  if (twice == values.end()) return {};
  return *twice;
}

/// Each id goes to the rank that its hash says, where equal ones meet.
std::vector<std::uint64_t> meet(mpi::CommView comm, const std::vector<std::uint64_t>& ids) {
  const auto ranks = static_cast<std::uint64_t>(comm.size());
  std::vector<mpi::Packet<std::uint64_t>> packets(ranks);
  for (std::size_t rank = 0; rank < ranks; ++rank) packets[rank].rank = static_cast<int>(rank);
  for (const auto id : ids) packets[XXH3_64bits(&id, sizeof id) % ranks].values.push_back(id);
  std::vector<std::uint64_t> met;
  for (const auto& packet : mpi::deliver(comm, packets))
    met.insert(met.end(), packet.values.begin(), packet.values.end());
  return met;
}

}  // namespace

bool same_box(const Vec3& a, const Vec3& b) noexcept {
  constexpr double rounding = 1e-8;
  return std::equal(a.begin(), a.end(), b.begin(),
                    [](double x, double y) { return std::abs(x - y) <= rounding * std::abs(x); });
}

void check_molecule(const Molecule& molecule, const Limits& limits, const std::string& path) {
  const auto refuse = [&](const std::string& what, const std::string& fix) {
    throw file_error(path, fmt::format("molecule {} {}", molecule.id, what), fix);
  };
  const auto& [r, v, q, d, id, component] = molecule;
  if (!all_finite(r) || !all_finite(v) || !all_finite(q) || !all_finite(d))
    refuse("holds NaN or infinity", "numbers; the run that wrote it may have been unstable");
  for (std::size_t i = 0; i < 3; ++i)
    if (r[i] < 0 || r[i] >= limits.box[i])
      refuse(fmt::format("is at {}, outside of the box {}", text_of(r), text_of(limits.box)),
             "positions from 0 on, less than the length of the box");
  if (component < 0 || static_cast<std::size_t>(component) >= limits.components)
    refuse(component < 0 ? std::string("has a component that cannot be")
                         : fmt::format("is of component {}, of {}", component + 1, limits.components),
           "as many components in the configuration as the file has");
  const double square = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3];
  if (std::abs(square - 1) > orientation_tolerance)
    refuse(fmt::format("has the orientation ({}, {}, {}, {}), which is no rotation", q[0], q[1], q[2], q[3]),
           "quaternions of length 1");
}

void Validation::add(const Molecule& molecule) {
  ids_.push_back(molecule.id);
  // -0 and 0 are one point.
  const Vec3 point = molecule.position + Vec3{0, 0, 0};
  points_.push_back(XXH3_64bits(point.data(), sizeof point));
  state_sum_ += hash_of(molecule);
}

void Validation::check(mpi::CommView comm, std::int64_t expected, const std::string& path) {
  const auto found = mpi::sum(comm, static_cast<std::int64_t>(ids_.size()));
  const auto ids = meet(comm, ids_);
  mpi::collectively(comm, [&] {
    if (const auto id = find_twice(ids))
      throw file_error(path, fmt::format("two molecules have the id {}", *id), "one id for each molecule");
    if (found != expected)
      throw file_error(path, fmt::format("holds {} molecules, not {}", found, expected),
                       "the number of molecules that its header says");
    // Molecules on one point are of one rank.
    if (const auto point = find_twice(points_)) {
      std::vector<std::uint64_t> there;
      for (std::size_t i = 0; i < ids_.size(); ++i)
        if (points_[i] == *point) there.push_back(ids_[i]);
      throw file_error(path, fmt::format("molecules {} are at the same point", fmt::join(there, " and ")),
                       "a point of its own for each molecule");
    }
  });
}

}  // namespace tailrace::molecules
