// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "checkpoint/inputs.hpp"
#include "model.hpp"

namespace tailrace::molecules {

/// What the forces follow from beside the molecules and the cutoffs, by the keys of a case. @local
checkpoint::InputDigests digests_of(const Model& model);

}  // namespace tailrace::molecules
