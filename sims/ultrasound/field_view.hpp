// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "field.hpp"
#include "grid.hpp"
#include "tailrace/stream.hpp"

namespace tailrace::ultrasound {

/// A field of the folded frame as the output sees it: in the frame of the file.
template <class Real>
output::FieldView field_view(const Grid& grid, const Field<Real>& field) {
  return {.data = field.data(),
          .type = h5::element_type_of<Real>(),
          .box = grid.unfolded(field.box()),
          .stride_y = grid.dimensions() == 2 ? field.stride_z() : field.stride_y(),
          .stride_z = field.stride_z()};
}

}  // namespace tailrace::ultrasound
