// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <string>
#include <vector>

#include "tailrace/stream.hpp"

/// A description of the grids in an output file for ParaView, VisIt and other readers of XDMF 3.
namespace tailrace::run {

/// The description of the streams that form grids: the whole domain, boxes and planes, with a time for each
/// sample; points form none and are left out. `hdf5_file` is the name of the output file as seen from where
/// the description will be. Empty if no stream forms a grid. @local. Source: the XDMF model and format,
/// version 3, 3DCoRectMesh with hyperslabs.
std::string xdmf_text(const std::vector<output::Stream>& streams, const output::Frame& frame,
                      const std::string& hdf5_file);

/// Puts the description, unless it is empty, beside the output file: "out.xdmf" for "out.h5". @local. Errors
/// (io): it cannot be written.
void write_xdmf(const std::vector<output::Stream>& streams, const output::Frame& frame,
                const std::string& output);

}  // namespace tailrace::run
