// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "decomposition.hpp"
#include "options.hpp"
#include "phase_space.hpp"
#include "tailrace/comm.hpp"

namespace tailrace::molecules {

/// Describes where the molecules of a start come from.
class Start {
 public:
  /// Reads the header of the start file, if there is one, and puts what the case leaves open into the
  /// problem: box, components, dielectric constant, time, and the steps until the time at which to end.
  /// Warnings are appended. @collective{comm}, synchronises. Errors (input), on all ranks: what the file and
  /// the case contradict each other in, and a problem that cannot be computed.
  Start(mpi::CommView comm, Problem& problem, std::vector<std::string>& warnings, const std::string& subject);

  /// Returns how many molecules there will be: exactly with a start file, else nearly. @local
  [[nodiscard]] double count() const;
  /// This rank's molecules. @collective{comm}, synchronises. Errors (input), on all ranks.
  [[nodiscard]] std::vector<Molecule> molecules(mpi::CommView comm, const Decomposition& decomposition) const;
  /// Reads them and keeps none. @collective{comm}, synchronises. Errors: likewise.
  void check(mpi::CommView comm) const;

 private:
  void read_file(const Region& own, const std::function<int(const Vec3&)>& owner, const Take& take) const;
  void complete(Problem& problem, std::vector<std::string>& warnings, const std::string& subject) const;

  const Problem& problem_;
  std::unique_ptr<PhaseSpace> file_;
};

}  // namespace tailrace::molecules
