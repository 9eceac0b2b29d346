// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "molecule.hpp"
#include "tailrace/comm.hpp"

namespace tailrace::molecules {

/// Describes what every molecule of a state is checked for.
struct Limits {
  Vec3 box{};
  std::size_t components = 0;
};

/// Returns whether two boxes are the same, as far as the 9 digits say that ls1 mardyn writes. @local
bool same_box(const Vec3& a, const Vec3& b) noexcept;

/// Refuses a molecule of a file that is none: NaN, outside of the box, of a component that there is not, of
/// an orientation that is no unit quaternion. @local. Errors (input), with its id.
void check_molecule(const Molecule& molecule, const Limits& limits, const std::string& path);

/// Counts molecules of all ranks, and finds ids and points that are there twice. Memory: 16 bytes for each.
class Validation {
 public:
  /// Counts a molecule of this rank. @local
  void add(const Molecule& molecule);
  /// Compares what all ranks counted with what there should be. @collective{comm}, synchronises. Errors
  /// (input), on all ranks: another number, an id or a point that several molecules have.
  void check(mpi::CommView comm, std::int64_t expected, const std::string& path);
  /// The sum of the hashes of the molecules of this rank; those of all ranks are added modulo 2^64.
  [[nodiscard]] std::uint64_t state_sum() const noexcept { return state_sum_; }

 private:
  std::vector<std::uint64_t> ids_, points_;
  std::uint64_t state_sum_ = 0;
};

}  // namespace tailrace::molecules
