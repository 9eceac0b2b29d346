// SPDX-License-Identifier: BSD-3-Clause
#include "device_source.hpp"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "mpi/verdict.hpp"

namespace tailrace::ultrasound {

template <class Real>
DeviceSource<Real>::DeviceSource(mpi::CommView comm, PointSource<Real> source, DeviceStore& store,
                                 DeviceTransforms<Real>& transforms, const Real* filter, Complex* scratch)
    : source_(std::move(source)),
      filtered_(source_.mode == SourceMode::additive),
      has_pattern_(has_pattern(source_)),
      transforms_(transforms),
      filter_(filter),
      scratch_(scratch) {
  mpi::collectively(comm, [&] { copy_source(store); });
  if (!has_pattern_) return;
  fill_scratch(0, true);
  on_device::take_out<Real>(transforms.queue(), transforms.space().points(),
                            reinterpret_cast<const Real*>(scratch), pattern_);
}

template <class Real>
void DeviceSource<Real>::copy_source(DeviceStore& store) {
  name_points(store);
  points_.one_signal = source_.one_signal;
  points_.replaces = source_.mode == SourceMode::dirichlet;
  points_.names_count = std::ssize(source_.points);
  source_.points = {};
  if (has_pattern_) {
    pattern_ = store.zeros<Real>(transforms_.space().points().count());
    return;
  }
  points_.signals = store.copy(std::span<const Real>(source_.signals));
  points_.delays = store.copy(std::span<const StepIndex>(source_.delays));
  source_.signals = {};
  source_.delays = {};
}

/// Points that are named several times keep the order of their names.
template <class Real>
void DeviceSource<Real>::name_points(DeviceStore& store) {
  const auto& points = transforms_.space().points();
  const std::int64_t first_plane = transforms_.space().planes().begin;
  std::vector<std::uint32_t> place, names(source_.points.size()), at, first;
  for (const Index3& point : source_.points)
    place.push_back(
        static_cast<std::uint32_t>(((point.z - first_plane) * points.ny + point.y) * points.nx + point.x));
  std::iota(names.begin(), names.end(), 0U);
  std::stable_sort(names.begin(), names.end(), [&](auto a, auto b) { return place[a] < place[b]; });
  for (std::size_t j = 0; j < names.size(); ++j)
    if (j == 0 || place[names[j]] != at.back()) {
      at.push_back(place[names[j]]);
      first.push_back(static_cast<std::uint32_t>(j));
    }
  first.push_back(static_cast<std::uint32_t>(names.size()));
  points_.count = std::ssize(at);
  points_.at = store.copy(std::span<const std::uint32_t>(at));
  points_.first = store.copy(std::span<const std::uint32_t>(first));
  points_.names = store.copy(std::span<const std::uint32_t>(names));
}

/// Filtered values of the points, in place of the spectrum `scratch_`.
template <class Real>
void DeviceSource<Real>::fill_scratch(std::int64_t t, bool ones) {
  auto& queue = transforms_.queue();
  const auto& space = transforms_.space();
  auto* const in_place = reinterpret_cast<Real*>(scratch_);
  if (scratch_ != nullptr) queue.clear(scratch_, space.spectrum_bytes());
  on_device::scatter(queue, space.points(), points_, t, ones, in_place);
  transforms_.filter(scratch_, filter_);
}

template <class Real>
on_device::Pattern<Real> DeviceSource<Real>::pattern(StepIndex step) const noexcept {
  if (!has_pattern_ || !source_.acts_in(step)) return {};
  return {pattern_, source_.signals[static_cast<std::size_t>(step - 1)]};
}

template <class Real>
void DeviceSource<Real>::act(StepIndex step, const Fields& fields) {
  auto& queue = transforms_.queue();
  if (!filtered_) return on_device::act_at_points(queue, points_, step - 1, fields);
  fill_scratch(step - 1, false);
  on_device::add(queue, transforms_.space().points(), reinterpret_cast<const Real*>(scratch_), fields);
}

template <class Real>
double DeviceSource<Real>::list_bytes(const PointSource<Real>& source) noexcept {
  const std::size_t names = (3 * source.points.size() + 1) * sizeof(std::uint32_t);
  if (has_pattern(source)) return static_cast<double>(names);
  return static_cast<double>(names + source.signals.size() * sizeof(Real) +
                             source.delays.size() * sizeof(StepIndex));
}

template class DeviceSource<float>;
template class DeviceSource<double>;

}  // namespace tailrace::ultrasound
