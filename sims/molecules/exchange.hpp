// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "decomposition.hpp"
#include "molecule.hpp"
#include "mpi/mailbox.hpp"
#include "tailrace/comm.hpp"
#include "tailrace/error.hpp"

namespace tailrace::molecules {

/// Describes where copies of a rank's molecules are wanted.
struct HaloTarget {
  int rank = 0;
  Vec3 shift{};     ///< added to positions
  Region region{};  ///< refers to the molecules, in coordinates of their owner

  friend bool operator==(const HaloTarget&, const HaloTarget&) = default;
};

/// Moves molecules between ranks: copies to where they are within reach, and molecules to their owners.
/// Describes what arrives, and in which order, follows from decomposition and molecules alone. Ranks may be
/// thinner than the reach, or own nothing. Memory: the decomposition, and the messages of a round.
class Exchange {
 public:
  /// `reach`: distance along each axis up to which copies are wanted around a region.
  /// @collective{comm}, synchronises.
  Exchange(mpi::CommView comm, Decomposition decomposition, double reach);

  [[nodiscard]] const Decomposition& decomposition() const noexcept { return decomposition_; }
  /// Continues with another decomposition of the same box. @local, on all ranks
  void reset(Decomposition decomposition);

  /// By rank; of this rank, periodic images of its own molecules.
  [[nodiscard]] std::span<const HaloTarget> targets() const noexcept { return targets_; }
  /// Appends copies of the molecules of a target.
  using Pack = std::function<void(const HaloTarget&, std::vector<std::byte>&)>;
  /// Packs the copies for all other ranks and sends them, one message to each rank that gets some.
  /// @neighbour, does not wait.
  void start_halo(const Pack& pack);
  /// Waits for the copies that others sent, and hands them over, 8 byte aligned, by rank of sender; at this
  /// rank's place its own images, which `pack` packs one target after another: there may be as many as
  /// molecules. @neighbour
  void finish_halo(const Pack& pack, const std::function<void(std::span<const std::byte>)>& take);

  /// Sends molecules that left this rank's region by less than the reach to their owners, wrapped into the
  /// box; returns those that came, by rank of sender, in their order there. @neighbour: one message to each
  /// rank within reach. A molecule that has no owner there is dropped, see `lost`: the caller counts.
  std::vector<Molecule> migrate(std::span<const Molecule> leavers);
  /// The first molecule that `migrate` could not deliver; for `mpi::agree` when the count is wrong.
  [[nodiscard]] const std::optional<ErrorInfo>& lost() const noexcept { return lost_; }

  /// The same for any molecules of any rank, over any distance. @collective{comm}, synchronises. Errors
  /// (unstable): a molecule that nobody owns, named on all ranks.
  std::vector<Molecule> redistribute(std::span<const Molecule> molecules);

  /// Other ranks that get a message in each halo and each migration. @local
  [[nodiscard]] std::size_t partners() const noexcept { return halo_.receivers(); }
  /// Memory of the messages. @local
  [[nodiscard]] std::int64_t memory_bytes() const noexcept;

 private:
  [[nodiscard]] std::span<const HaloTarget> targets_of(int rank) const noexcept;
  void find_targets(const Region& own);
  [[nodiscard]] std::vector<int> find_sources(const Region& own) const;
  [[nodiscard]] Region given(const Region& own, const Region& other, const Vec3& shift) const noexcept;
  [[nodiscard]] std::vector<Vec3> shifts() const;
  void lose(const Molecule& molecule, const char* reason);

  mpi::Comm comm_;
  Decomposition decomposition_;
  double reach_;
  std::vector<HaloTarget> targets_;
  mpi::Mailbox halo_, migration_;
  std::vector<std::byte> images_;  ///< refers to one target
  std::optional<ErrorInfo> lost_;
};

/// Moves a position that left the box by less than its length to where it comes in on the other side.
Vec3 wrapped(Vec3 position, const Vec3& box) noexcept;

}  // namespace tailrace::molecules
