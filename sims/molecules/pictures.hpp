// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <string>
#include <vector>

#include "model.hpp"
#include "molecule.hpp"

/// Molecules as text files that viewers read.
namespace tailrace::molecules {

/// An extent of a text file: what is before it, and what this rank has to say there.
struct Section {
  std::string head, own;
};

/// One moment of the whole system; the same on all ranks but for `own`.
struct Moment {
  double time = 0;
  std::int64_t molecules = 0;  ///< refers to all ranks
  Vec3 box{};
  const Model& model;
  std::span<const Molecule> own;  ///< in the order of ids
};

/// XYZ with the box in its comment line (extended XYZ): element, position, id. @local
std::vector<Section> xyz_text(const Moment& moment);
/// A scene for POV-Ray: spheres at the Lennard-Jones centres of each molecule. @local
std::vector<Section> pov_text(const Moment& moment);
/// An unstructured grid of points for VTK (.vtu) with id, component, velocity and orientation. @local
std::vector<Section> vtu_text(const Moment& moment);
/// A frame of the .vis format: id, component, position, orientation. @local
std::vector<Section> vis_text(const Moment& moment, bool first);

}  // namespace tailrace::molecules
