// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "device/device.hpp"
#include "output/core/plan.hpp"
#include "tailrace/box.hpp"
#include "tailrace/stream.hpp"

namespace tailrace::output {

/// What `pack` and `Accumulator::add` do, for fields in the memory of a device. All of it is put into a queue
/// and done later.

/// Copies `count` of the share's values, from its value number `first` on, out of the field into memory of
/// the device, converted to the share's element type. @local. Errors (resource): the device refused.
/// @param points  of the share, as a copy in the device's memory; null where it has none
void gather(device::Queue& queue, const FieldView& field, const Share& share, const LocalPoint* points,
            const Box& own, std::int64_t first, std::int64_t count, std::byte* out);

/// Takes one sample into a running reduction in memory of the device.
/// @param state  as `Accumulator::state`, of `Accumulator::state_type`. @local. Errors: as `gather`.
void accumulate(device::Queue& queue, Reduction reduction, const FieldView& field, const Share& share,
                const LocalPoint* points, const Box& own, std::byte* state);

}  // namespace tailrace::output
