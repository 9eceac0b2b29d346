// SPDX-License-Identifier: BSD-3-Clause
#include "exchange.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/bytes.hpp"
#include "mpi/packets.hpp"
#include "mpi/verdict.hpp"

namespace tailrace::molecules {

namespace {

constexpr int halo_tag = 1, migration_tag = 2;
/// Distances along an axis are rounded when a shift is added: a hair more than the reach loses no pair.
constexpr double hair = 1e-12;

Region grown(const Region& region, double by) noexcept {
  return {region.low - Vec3{by, by, by}, region.high + Vec3{by, by, by}};
}

Region moved(const Region& region, const Vec3& by) noexcept {
  return {region.low + by, region.high + by};
}

Region common(const Region& a, const Region& b) noexcept {
  Region both;
  for (std::size_t d = 0; d < 3; ++d) {
    both.low[d] = std::max(a.low[d], b.low[d]);
    both.high[d] = std::min(a.high[d], b.high[d]);
  }
  return both;
}

}  // namespace

Vec3 wrapped(Vec3 position, const Vec3& box) noexcept {
  for (std::size_t d = 0; d < 3; ++d) {
    double& x = position[d];
    if (x < 0) x += box[d];
    // Of a tiny negative number the sum is the length itself.
    if (x >= box[d]) x -= box[d];
  }
  return position;
}

Exchange::Exchange(mpi::CommView comm, Decomposition decomposition, double reach)
    : comm_(mpi::Comm::duplicate(comm)),
      decomposition_(std::move(decomposition)),
      reach_(reach * (1 + hair)),
      halo_(comm_, halo_tag),
      migration_(comm_, migration_tag) {
  reset(decomposition_);
}

void Exchange::reset(Decomposition decomposition) {
  decomposition_ = std::move(decomposition);
  const int rank = comm_.view().rank();
  const Region own = decomposition_.region(rank);
  targets_.clear();
  std::vector<int> to, from;
  if (!own.empty()) {
    find_targets(own);
    from = find_sources(own);
  }
  for (const HaloTarget& target : targets_)
    if (target.rank != rank && (to.empty() || to.back() != target.rank)) to.push_back(target.rank);
  halo_.reset(to, from);
  migration_.reset(to, from);
}

/// The periodic images that are within reach.
std::vector<Vec3> Exchange::shifts() const {
  const Vec3& box = decomposition_.box();
  std::array<int, 3> most{};
  for (std::size_t d = 0; d < 3; ++d) most[d] = static_cast<int>(std::ceil(reach_ / box[d]));
  std::vector<Vec3> list;
  for (int z = -most[2]; z <= most[2]; ++z)
    for (int y = -most[1]; y <= most[1]; ++y)
      for (int x = -most[0]; x <= most[0]; ++x) list.push_back({x * box[0], y * box[1], z * box[2]});
  return list;
}

/// Returns where the molecules of `own` are that, moved by `shift`, are within reach of `other`. Both sides
/// of a message ask this same question.
Region Exchange::given(const Region& own, const Region& other, const Vec3& shift) const noexcept {
  return common(own, moved(grown(other, reach_), -1.0 * shift));
}

void Exchange::find_targets(const Region& own) {
  const int rank = comm_.view().rank();
  for (const Vec3& shift : shifts())
    for (const int other : decomposition_.ranks_meeting(moved(grown(own, reach_ * (1 + hair)), shift))) {
      if (other == rank && shift == Vec3{}) continue;
      const Region region = given(own, decomposition_.region(other), shift);
      if (!region.empty()) targets_.push_back({other, shift, region});
    }
  std::ranges::stable_sort(targets_, {}, &HaloTarget::rank);
}

/// The other ranks that have this one among their targets, ascending.
std::vector<int> Exchange::find_sources(const Region& own) const {
  const int rank = comm_.view().rank();
  std::vector<int> found;
  for (const Vec3& shift : shifts())
    for (const int other : decomposition_.ranks_meeting(moved(grown(own, reach_ * (1 + hair)), -1.0 * shift)))
      if (other != rank && !given(decomposition_.region(other), own, shift).empty()) found.push_back(other);
  std::ranges::sort(found);
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

void Exchange::start_halo(const Pack& pack) {
  halo_.start();
  for (std::size_t i = 0; i < halo_.receivers(); ++i) {
    for (const HaloTarget& target : targets_of(halo_.receiver(i))) pack(target, halo_.outgoing(i));
    halo_.send(i);
  }
}

void Exchange::finish_halo(const Pack& pack, const std::function<void(std::span<const std::byte>)>& take) {
  const int rank = comm_.view().rank();
  halo_.finish();
  std::size_t i = 0;
  for (; i < halo_.senders() && halo_.sender(i) < rank; ++i) take(halo_.incoming(i));
  for (const HaloTarget& target : targets_of(rank)) {
    images_.clear();
    pack(target, images_);
    take(images_);
  }
  for (; i < halo_.senders(); ++i) take(halo_.incoming(i));
}

std::span<const HaloTarget> Exchange::targets_of(int rank) const noexcept {
  return std::ranges::equal_range(targets_, rank, {}, &HaloTarget::rank);
}

void Exchange::lose(const Molecule& molecule, const char* reason) {
  if (lost_) return;
  const auto& [x, y, z] = molecule.position;
  lost_ = {.kind = ErrorKind::unstable,
           .message = fmt::format("molecule {} at ({:.6g}, {:.6g}, {:.6g}) {}", molecule.id, x, y, z, reason),
           .path = {},
           .rank = comm_.view().rank(),
           .hint = "a shorter time step, or a start without overlaps"};
}

std::vector<Molecule> Exchange::migrate(std::span<const Molecule> leavers) {
  const int rank = comm_.view().rank();
  migration_.start();
  std::vector<Molecule> stay, arrived;
  for (Molecule molecule : leavers) {
    molecule.position = wrapped(molecule.position, decomposition_.box());
    const int owner = decomposition_.owner(molecule.position);
    std::size_t i = 0;
    while (i < migration_.receivers() && migration_.receiver(i) != owner) ++i;
    if (owner == rank)
      stay.push_back(molecule);
    else if (i < migration_.receivers())
      append_value(migration_.outgoing(i), molecule);
    else
      lose(molecule, owner < 0 ? "is not in the box" : "moved beyond the neighbours in one step");
  }
  for (std::size_t i = 0; i < migration_.receivers(); ++i) migration_.send(i);
  migration_.finish();
  std::size_t i = 0;
  for (; i < migration_.senders() && migration_.sender(i) < rank; ++i)
    append_values(arrived, migration_.incoming(i));
  arrived.insert(arrived.end(), stay.begin(), stay.end());
  for (; i < migration_.senders(); ++i) append_values(arrived, migration_.incoming(i));
  return arrived;
}

std::vector<Molecule> Exchange::redistribute(std::span<const Molecule> molecules) {
  std::map<int, std::vector<Molecule>> by_owner;
  for (Molecule molecule : molecules) {
    molecule.position = wrapped(molecule.position, decomposition_.box());
    const int owner = decomposition_.owner(molecule.position);
    if (owner < 0)
      lose(molecule, "is not in the box");
    else
      by_owner[owner].push_back(molecule);
  }
  mpi::agree(comm_, lost_);
  std::vector<Molecule> arrived;
  for (const auto& packet : mpi::deliver(comm_, mpi::packets_of(std::move(by_owner))))
    arrived.insert(arrived.end(), packet.values.begin(), packet.values.end());
  return arrived;
}

std::int64_t Exchange::memory_bytes() const noexcept {
  return halo_.memory_bytes() + migration_.memory_bytes() + static_cast<std::int64_t>(images_.capacity());
}

}  // namespace tailrace::molecules
