// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "h5/hyperslab.hpp"
#include "output/core/plan.hpp"

namespace tailrace::output {

/// The blocks of a dataset of this shape that ascending runs of its elements (in the order of its last index
/// fastest) make up, as few as neighbours in the list allow: a box that was given row by row is one block.
/// The elements of block after block are those of run after run.
std::vector<h5::Hyperslab> hyperslabs_of(const std::vector<std::uint64_t>& shape, std::span<const Run> runs);

}  // namespace tailrace::output
