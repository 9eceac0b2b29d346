// SPDX-License-Identifier: BSD-3-Clause
#include "output/core/device_values.hpp"

#include <type_traits>

#include "base/check.hpp"
#include "device/launch.hpp"
#include "output/core/accumulator.hpp"
#include "output/core/visit.hpp"

namespace tailrace::output {

namespace {

/// Where the values of a share are in a field: a plain value, for kernels.
struct Places {
  const LocalPoint* points;  ///< of the device; null for a block
  std::int64_t base, stride_y,
      stride_z;                ///< in elements; base: of the first point of the block or of the box
  std::int64_t width, height;  ///< of the block

  TAILRACE_KERNEL std::int64_t element(std::int64_t value) const {
    if (points != nullptr) {
      const LocalPoint point = points[value];
      return base + point.x + point.y * stride_y + point.z * stride_z;
    }
    const std::int64_t row = value / width;
    return base + value % width + row % height * stride_y + row / height * stride_z;
  }
};

Places places_of(const FieldView& field, const Share& share, const LocalPoint* points, const Box& own) {
  const Index3 from = points != nullptr ? own.lo : share.block.lo, extents = share.block.extents();
  return {.points = points,
          .base = (from.x - field.box.lo.x) + (from.y - field.box.lo.y) * field.stride_y +
                  (from.z - field.box.lo.z) * field.stride_z,
          .stride_y = field.stride_y,
          .stride_z = field.stride_z,
          .width = extents.x,
          .height = extents.y};
}

template <class F, class T>
struct Gather {
  const F* field;
  T* out;
  Places places;
  std::int64_t first;

  TAILRACE_KERNEL void operator()(std::int64_t i) const {
    out[i] = static_cast<T>(field[places.element(first + i)]);
  }
};

template <class F, class T>
struct Combine {
  const F* field;
  T* state;
  Places places;
  Reduction reduction;

  TAILRACE_KERNEL void operator()(std::int64_t i) const {
    const T before = state[i], value = static_cast<T>(field[places.element(i)]);
    if (reduction == Reduction::min)
      state[i] = value < before ? value : before;
    else if (reduction == Reduction::max)
      state[i] = value > before ? value : before;
    else
      state[i] = before + (reduction == Reduction::rms ? value * value : value);
  }
};

/// Calls `action` with null pointers of the types of a field and of what is made of it.
template <class Action>
void with_types(h5::ElementType field, h5::ElementType values, const Action& action) {
  with_float_type(field, [&](auto* from) { with_float_type(values, [&](auto* to) { action(from, to); }); });
}

}  // namespace

void gather(device::Queue& queue, const FieldView& field, const Share& share, const LocalPoint* points,
            const Box& own, std::int64_t first, std::int64_t count, std::byte* out) {
  with_types(field.type, share.type, [&](auto* from, auto* to) {
    using F = std::remove_pointer_t<decltype(from)>;
    using T = std::remove_pointer_t<decltype(to)>;
    device::launch(queue, count,
                   Gather<F, T>{static_cast<const F*>(field.data), reinterpret_cast<T*>(out),
                                places_of(field, share, points, own), first});
  });
}

void accumulate(device::Queue& queue, Reduction reduction, const FieldView& field, const Share& share,
                const LocalPoint* points, const Box& own, std::byte* state) {
  with_types(field.type, Accumulator::state_type(share, reduction), [&](auto* from, auto* to) {
    using F = std::remove_pointer_t<decltype(from)>;
    using T = std::remove_pointer_t<decltype(to)>;
    device::launch(queue, share.values,
                   Combine<F, T>{static_cast<const F*>(field.data), reinterpret_cast<T*>(state),
                                 places_of(field, share, points, own), reduction});
  });
}

}  // namespace tailrace::output
