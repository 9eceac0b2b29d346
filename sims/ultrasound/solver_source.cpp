#include <algorithm>
#include <cmath>

#include "kernels.hpp"
#include "solver.hpp"
#include "solver_sweeps.hpp"

/// The pressure source of the solver. An additive source is filtered in k-space by cos(c_ref |k| dt / 2) and
/// then added to the whole grid. The filter is linear: with one signal the filtered pattern is computed once
/// and only scaled in time, so that such a source costs no transform per step; with a signal per point it is
/// filtered in every step in which it acts.
namespace tailrace::ultrasound {

bool Solver::source_acts() const noexcept {
  return source_ && step_ <= source_->steps;
}
bool Solver::source_is_filtered() const noexcept {
  return source_ && source_->mode == SourceMode::additive;
}

void Solver::prepare_source() {
  if (!source_is_filtered()) return;
  const double half_step = grid_.c_ref_m_s * grid_.dt_s / 2;
  const double normalise = 1.0 / static_cast<double>(grid_.points.volume());
  source_kappa_ =
      RadialTable(grid_, space_.rows(), [&](double k) { return normalise * std::cos(half_step * k); });
  source_spectrum_ = space_.make_field();
  if (!source_->one_signal) return;

  PressureSource unit = *source_;
  unit.steps = 1;
  unit.signals = {1.0F};
  std::swap(*source_, unit);
  step_ = 1;
  filter_source_spectrum();
  std::swap(*source_, unit);
  step_ = 0;
  source_pattern_ = Field(grid_.points, space_.planes());
  sweep_planes({}, [&](std::int64_t z, Workspace& work) {
    inverse_plane(source_spectrum_, z, work.real[0].data(), work);
    std::copy_n(work.real[0].data(), work.real[0].size(), source_pattern_.plane(z));
  });
  source_spectrum_ = {};
}

void Solver::filter_source() {
  if (source_acts() && source_is_filtered() && !source_->one_signal) filter_source_spectrum();
}

/// Source spectrum = filter times the transform of the source values of this step.
void Solver::filter_source_spectrum() {
  const std::array result{&source_spectrum_};
  const auto spectrum_elements = space_.pitch() * space_.ny();
  sweep_planes(result, [&](std::int64_t z, Workspace& work) {
    const Range points = source_->in_plane(z);
    if (points.empty()) {
      std::fill_n(space_.plane(source_spectrum_, z), spectrum_elements, Complex{});
      return;
    }
    auto& values = work.real[0];
    std::fill(values.begin(), values.end(), 0.0F);
    for (std::int64_t j = points.begin; j < points.end; ++j) {
      const auto& point = source_->points[static_cast<std::size_t>(j)];
      values[static_cast<std::size_t>(point.y * grid_.points.x + point.x)] =
          source_->value(step_ - 1, static_cast<std::size_t>(j));
    }
    forward_plane(values.data(), z, source_spectrum_, work);
  });
  sweep_rows(result, [&](std::int64_t y, std::int64_t kx, Workspace& work) {
    filter_columns(source_spectrum_, source_kappa_, y, kx, work);
  });
}

void Solver::add_source_plane(std::int64_t z, Workspace& work) {
  if (!source_acts()) return;
  const StepIndex t = step_ - 1;
  const kernels::Rows rho{rho_[0].plane(z), rho_[1].plane(z), rho_[2].plane(z)};
  if (source_is_filtered()) {
    const std::int64_t points = grid_.points.x * grid_.points.y;
    if (source_->one_signal)
      return kernels::add_source(rho, source_pattern_.plane(z), source_->value(t, 0), points);
    inverse_plane(source_spectrum_, z, work.real[0].data(), work);
    return kernels::add_source(rho, work.real[0].data(), 1.0F, points);
  }
  const Range points = source_->in_plane(z);
  for (std::int64_t j = points.begin; j < points.end; ++j) {
    const auto& point = source_->points[static_cast<std::size_t>(j)];
    const float value = source_->value(t, static_cast<std::size_t>(j));
    for (auto& split : rho_) {
      float& density = split.at(point);
      density = source_->mode == SourceMode::dirichlet ? value : density + value;
    }
  }
}

}  // namespace tailrace::ultrasound
