// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "molecule_row.hpp"
#include "phase_space.hpp"
#include "tailrace/error.hpp"

/// Describes how tests share the box, and what they compare.
namespace tailrace::molecules::fixture {

/// The box in slabs across its longest axis; the last rank has most of it, and more ranks than
/// `max_ranks` have nothing.
inline Share slabs(int rank, int ranks, const Vec3& box, std::size_t components, int max_ranks = 1 << 30) {
  const int used = std::min(ranks, max_ranks);
  const auto border = [=](int i) {
    return i <= 0 ? 0.0 : i >= used ? box[0] : 0.6 * box[0] * static_cast<double>(i) / used;
  };
  Share share{.limits = {box, components}, .own = {}, .owner = {}};
  share.own = {{border(rank), 0, 0}, {border(rank + 1), box[1], box[2]}};
  share.owner = [=](const Vec3& r) {
    int owner = 0;
    while (owner + 1 < used && r[0] >= border(owner + 1)) ++owner;
    return owner;
  };
  return share;
}

inline std::uint64_t state_sum(mpi::CommView comm, const std::vector<Molecule>& molecules) {
  std::uint64_t sum = 0;
  for (const auto& molecule : molecules) sum += hash_of(molecule);
  return mpi::sum(comm, std::vector{sum})[0];
}

inline MoleculeList list_of(const std::vector<Molecule>& molecules) {
  return {static_cast<std::int64_t>(molecules.size()),
          [&molecules](std::int64_t i) { return molecules[static_cast<std::size_t>(i)]; }};
}

/// The molecules of all ranks, on each of them, by id.
inline std::vector<Molecule> gathered(mpi::CommView comm, const std::vector<Molecule>& own) {
  std::vector<Molecule> all;
  for (int rank = 0; rank < comm.size(); ++rank) {
    auto part = own;
    mpi::broadcast(comm, part, rank);
    all.insert(all.end(), part.begin(), part.end());
  }
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.id < b.id; });
  return all;
}

/// Describes what a rank read, and how much it read for that.
struct Reading {
  PhaseSpaceHeader header;
  std::vector<Molecule> molecules;
  std::int64_t bytes_read = 0;
};
inline Reading read(mpi::CommView comm, const PhaseSpaceFiles& files, const Share& share) {
  Reading reading;
  const auto file = open_phase_space(comm, files);
  file->read(share, [&](const Molecule& molecule) { reading.molecules.push_back(molecule); });
  reading.header = file->header();
  reading.bytes_read = file->bytes_read();
  return reading;
}

/// The bytes of a file, on all ranks.
inline std::string bytes_of(mpi::CommView comm, const std::string& path) {
  mpi::barrier(comm);
  std::ifstream file(path, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(file), {}};
  mpi::barrier(comm);  // somebody may be about to write over it
  return bytes;
}
/// The message of the error that an action ends with; nothing if it has none.
template <class Action>
std::string refusal(const Action& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace tailrace::molecules::fixture
