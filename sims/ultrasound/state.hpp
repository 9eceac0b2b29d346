#pragma once

#include <string>

#include "tailrace/base/box.hpp"
#include "tailrace/h5/file.hpp"

namespace tailrace::ultrasound {

/// One array of the state of a run as this rank holds it: the values of its own box, x contiguous. The memory
/// belongs to the solver.
struct StateArray {
  std::string name;  ///< as in k-Wave's checkpoint files
  void* data = nullptr;
  h5::ElementType type = h5::ElementType::float32;  ///< float32 or float64
  Box box;                                          ///< in global indices; may be empty
  std::int64_t stride_y = 0, stride_z = 0;          ///< in elements
};

}  // namespace tailrace::ultrasound
