// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

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
  lagrange,  ///< one hexahedron of its order
  linear,    ///< hexahedra between its points: order^3
};

/// The points of an element with polynomials of an order, x fastest, in the sequence in which VTK has the
/// nodes of a Lagrange hexahedron of that order.
std::vector<std::int64_t> lagrange_nodes(int order);

/// Puts a description of a stream of mesh records with all points, of polynomials of an order, beside the
/// output file, "output.vtkhdf" for "output.h5", as far as it has samples up to a step: places of points and
/// cells are in it, the temperature is shown from where it is (docs/formats/heat.md). @local. Errors (io): it
/// cannot be written. Memory: of a batch of elements.
void write_vtkhdf(const output::Stream& stream, StepIndex until, const std::string& output, int order,
                  VtkhdfFiles files, VtkhdfCells cells);

}  // namespace tailrace::heat
