// SPDX-License-Identifier: BSD-3-Clause
#include "source_term.hpp"

namespace tailrace::ultrasound {

template <class Real>
SourceTerm<Real>::SourceTerm(PointSource<Real> source, const Grid& grid, const RadialTable<Real>& filter,
                             Sweeps<Real>& sweeps)
    : source_(std::move(source)),
      nx_(grid.folded().x),
      plane_points_(grid.folded().x * grid.folded().y),
      filter_(filter),
      sweeps_(sweeps) {
  if (!is_filtered()) return;
  spectrum_ = sweeps_.space().make_field();
  if (!source_.one_signal) return;
  filter_values([](std::size_t) { return Real(1); });
  pattern_ = Field<Real>(grid.folded(), sweeps_.space().planes());
  sweeps_.planes({}, [&](std::int64_t z, Workspace<Real>& work) {
    sweeps_.inverse(spectrum_, z, work.real[0].data(), work);
    std::copy_n(work.real[0].data(), plane_points_, pattern_.plane(z));
  });
  spectrum_ = {};
}

template <class Real>
void SourceTerm<Real>::prepare(StepIndex step) {
  if (source_.acts_in(step) && is_filtered() && !source_.one_signal)
    filter_values([&](std::size_t point) { return source_.value(step - 1, point); });
}

/// Spectrum = filter times the transform of `value(point)` at the points; a point that is named twice counts
/// once, with its last value.
template <class Real>
template <class Value>
void SourceTerm<Real>::filter_values(Value value) {
  const std::array result{&spectrum_};
  const auto& space = sweeps_.space();
  sweeps_.planes(result, [&](std::int64_t z, Workspace<Real>& work) {
    const Range points = source_.in_plane(z);
    if (points.empty()) {
      std::fill_n(space.plane(spectrum_, z), space.pitch() * space.ny(), std::complex<Real>{});
      return;
    }
    auto& values = work.real[0];
    std::fill(values.begin(), values.end(), Real(0));
    for (std::int64_t j = points.begin; j < points.end; ++j) {
      const auto& point = source_.points[static_cast<std::size_t>(j)];
      values[static_cast<std::size_t>(point.y * nx_ + point.x)] = value(static_cast<std::size_t>(j));
    }
    sweeps_.forward(values.data(), z, spectrum_, work);
  });
  sweeps_.columns(result, [&](const ColumnBlock& block, Workspace<Real>& work) {
    sweeps_.filter(spectrum_, filter_, block, work);
  });
}

template <class Real>
void SourceTerm<Real>::act(StepIndex step, std::int64_t z, std::span<Field<Real>* const> fields,
                           Workspace<Real>& work) {
  if (!source_.acts_in(step)) return;
  if (!is_filtered()) return act_at_points(step, z, fields);
  const Real* added = nullptr;
  Real factor = 1;
  if (source_.one_signal) {
    added = pattern_.plane(z);
    factor = source_.value(step - 1, 0);
  } else {
    sweeps_.inverse(spectrum_, z, work.real[0].data(), work);
    added = work.real[0].data();
  }
  for (auto* field : fields) kernels::add_source(field->plane(z), added, factor, plane_points_);
}

template <class Real>
void SourceTerm<Real>::act_at_points(StepIndex step, std::int64_t z,
                                     std::span<Field<Real>* const> fields) const {
  const Range points = source_.in_plane(z);
  for (std::int64_t j = points.begin; j < points.end; ++j) {
    const Real value = source_.value(step - 1, static_cast<std::size_t>(j));
    for (auto* field : fields) {
      Real& at = field->at(source_.points[static_cast<std::size_t>(j)]);
      at = source_.mode == SourceMode::dirichlet ? value : at + value;
    }
  }
}

template <class Real>
std::int64_t SourceTerm<Real>::bytes() const noexcept {
  return source_.bytes() + pattern_.bytes() + (spectrum_.empty() ? 0 : sweeps_.space().field_bytes());
}

template class SourceTerm<float>;
template class SourceTerm<double>;

}  // namespace tailrace::ultrasound
