// SPDX-License-Identifier: BSD-3-Clause
#include "source_term.hpp"

namespace tailrace::ultrasound {

template <class Real>
SourceTerm<Real>::SourceTerm(PointSource<Real> source, const Grid& grid, const RadialTable<Real>& filter,
                             Sweeps<Real>& sweeps)
    : source_(std::move(source)), nx_(grid.folded().x), filter_(filter), sweeps_(sweeps) {
  if (!is_filtered()) return;
  spectrum_ = sweeps_.space().make_field();
  if (!source_.one_signal) return;
  filter_values([](std::size_t) { return Real(1); });
  pattern_ = Field<Real>(grid.folded(), sweeps_.space().planes());
  sweeps_.planes({}, [&](const Slab& slab, Workspace<Real>& work) {
    sweeps_.inverse(spectrum_, slab, pattern_.rows(slab), work);
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
  sweeps_.planes(result, [&](const Slab& slab, Workspace<Real>& work) {
    const Range points = source_.in_planes(slab.planes());
    const auto spectrum = space.rows(spectrum_, slab);
    if (points.empty()) {
      for (std::int64_t r = 0; r < slab.rows; ++r)
        std::fill_n(spectrum.row(r), space.pitch(), std::complex<Real>{});
      return;
    }
    const auto values = work.rows_of(0);
    std::fill_n(values.first, slab.rows * values.stride, Real(0));
    for (std::int64_t j = points.begin; j < points.end; ++j) {
      const auto& point = source_.points[static_cast<std::size_t>(j)];
      values.row(slab.flat ? point.z - slab.z : point.y)[point.x] = value(static_cast<std::size_t>(j));
    }
    sweeps_.forward(std::as_const(work).rows_of(0), slab, spectrum_, work);
  });
  const std::array table{&filter_};
  sweeps_.filter(result, table);
}

template <class Real>
void SourceTerm<Real>::act(StepIndex step, const Slab& slab, std::span<Field<Real>* const> fields,
                           Workspace<Real>& work) {
  if (!source_.acts_in(step)) return;
  if (!is_filtered()) return act_at_points(step, slab, fields);
  auto added = std::as_const(work).rows_of(0);
  Real factor = 1;
  if (source_.one_signal) {
    added = std::as_const(pattern_).rows(slab);
    factor = source_.value(step - 1, 0);
  } else {
    sweeps_.inverse(spectrum_, slab, work.rows_of(0), work);
  }
  for (auto* field : fields)
    for (std::int64_t r = 0; r < slab.rows; ++r)
      kernels::add_source(field->rows(slab).row(r), added.row(r), factor, nx_);
}

template <class Real>
void SourceTerm<Real>::act_at_points(StepIndex step, const Slab& slab,
                                     std::span<Field<Real>* const> fields) const {
  const Range points = source_.in_planes(slab.planes());
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
