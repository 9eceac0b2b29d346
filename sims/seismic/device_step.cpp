// SPDX-License-Identifier: BSD-3-Clause
#include "device_step.hpp"

#include "device_march.hpp"

namespace tailrace::seismic {

namespace {

template <class Real>
DeviceCoefficient<Real> on_device(const Coefficient<Real>& coefficient) {
  return {coefficient.first, coefficient.stride_y, coefficient.stride_z};
}

template <class Real>
DeviceArrays<Real> on_device(const StepArrays<Real>& arrays) {
  DeviceArrays<Real> a{{arrays.p, arrays.q},
                       {arrays.p_other, arrays.q_other},
                       arrays.stride_y,
                       arrays.stride_z,
                       on_device(arrays.speed),
                       on_device(arrays.across),
                       on_device(arrays.moveout),
                       on_device(arrays.shear),
                       {},
                       {},
                       {},
                       {}};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    a.axis[axis] = on_device(arrays.axis[axis]);
    a.damping[axis] = arrays.damping[axis];
    const auto& weights = arrays.weights[axis];
    for (std::size_t k = 0; k < weights.first.size(); ++k) a.first[axis][k] = weights.first[k];
    for (std::size_t k = 0; k < weights.second.size(); ++k) a.second[axis][k] = weights.second[k];
  }
  return a;
}

template <class Real, Equations equations, bool damped>
void march(device::Queue& queue, const StepArrays<Real>& arrays, const Box& box) {
  using Kernel = March<Real, equations, damped>;
  const auto parts = [](Range range, std::int64_t part) { return (range.size() + part - 1) / part; };
  const MarchBox march_box{box.lo.x,
                           box.lo.y,
                           box.lo.z,
                           box.hi.x,
                           box.hi.y,
                           box.hi.z,
                           parts(box.x(), Kernel::Tile::width),
                           parts(box.y(), Kernel::Tile::height)};
  device::launch_blocks(queue, march_box.tiles_x * march_box.tiles_y * parts(box.z(), MarchBox::planes),
                        Kernel{on_device(arrays), march_box});
}

template <class Real, bool damped>
void march(device::Queue& queue, const StepArrays<Real>& arrays, const Box& box) {
  switch (arrays.equations) {
    case Equations::isotropic:
      return march<Real, Equations::isotropic, damped>(queue, arrays, box);
    case Equations::vti:
      return march<Real, Equations::vti, damped>(queue, arrays, box);
    case Equations::tti:
      return march<Real, Equations::tti, damped>(queue, arrays, box);
  }
}

template <class Real>
struct AddSources {
  SourceArrays<Real> arrays;
  StepIndex step;

  TAILRACE_KERNEL void operator()(std::int64_t i) const {
    const DeviceSource source = arrays.sources[i];
    if (step > source.count) return;
    const Real value = arrays.values[source.first + step - 1];
    arrays.p[source.at] += value;
    if (arrays.q != nullptr) arrays.q[source.at] += value;
  }
};

}  // namespace

template <class Real>
void update_on_device(device::Queue& queue, const StepArrays<Real>& arrays, const Box& box) {
  if (box.empty()) return;
  arrays.damping[0] != nullptr ? march<Real, true>(queue, arrays, box)
                               : march<Real, false>(queue, arrays, box);
}

template <class Real>
void add_sources_on_device(device::Queue& queue, const SourceArrays<Real>& arrays, StepIndex step) {
  device::launch(queue, arrays.count, AddSources<Real>{arrays, step});
}

template void update_on_device<float>(device::Queue&, const StepArrays<float>&, const Box&);
template void update_on_device<double>(device::Queue&, const StepArrays<double>&, const Box&);
template void add_sources_on_device<float>(device::Queue&, const SourceArrays<float>&, StepIndex);
template void add_sources_on_device<double>(device::Queue&, const SourceArrays<double>&, StepIndex);

}  // namespace tailrace::seismic
