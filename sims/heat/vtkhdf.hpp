// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "basis.hpp"
#include "tailrace/stream.hpp"

namespace tailrace::heat {

/// Which files show the mesh records in ParaView.
enum class VtkhdfFiles : std::uint8_t {
  none,
  steps,   ///< one with all samples (VTK 9.3, ParaView 5.12 and later)
  series,  ///< one for each sample, and a list of them
};

/// What an element is in these files.
enum class VtkhdfCells : std::uint8_t {
  lagrange,  ///< one hexahedron of order 4
  linear,    ///< 64 hexahedra between its points
};

/// The points of an element, x fastest, in the order in which VTK has the nodes of a Lagrange hexahedron of
/// order 4.
std::array<std::int64_t, element_points> lagrange_nodes() noexcept;

/// Puts a description of a stream of mesh records with all points beside the output file, "output.vtkhdf" for
/// "output.h5", as far as it has samples up to a step: places of points and cells are in it, the temperature
/// is shown from where it is (docs/formats/heat.md). @local. Errors (io): it cannot be written. Memory: of a
/// batch of elements.
void write_vtkhdf(const output::Stream& stream, StepIndex until, const std::string& output, VtkhdfFiles files,
                  VtkhdfCells cells);

}  // namespace tailrace::heat
