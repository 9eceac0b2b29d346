// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "output/core/plan.hpp"
#include "tailrace/box.hpp"
#include "tailrace/stream.hpp"

namespace tailrace::output {

/// Copies `count` of the share's values, from its value number `first` on, out of the field, converted to the
/// share's element type. `own` is the box of the plan; the field holds all of it. Uses the caller's OpenMP
/// threads when that pays. @local
void pack(const FieldView& field, const Share& share, const Box& own, std::int64_t first, std::int64_t count,
          std::span<std::byte> out);

}  // namespace tailrace::output
