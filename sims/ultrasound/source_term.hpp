// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

#include "source.hpp"
#include "sweeps.hpp"

namespace tailrace::ultrasound {

/// A time-varying source at work. An additive source is filtered in k-space by cos(c_ref |k| dt / 2) and then
/// added to the whole grid (Cox et al. 2018). The filter is linear: with one signal the filtered pattern is
/// computed once and only scaled in time, so that such a source costs no transform per step; with a signal
/// per point it is filtered in every step in which it acts.
template <class Real>
class SourceTerm {
 public:
  /// `filter` is the table of the factors, which is not needed for the other modes. It and `sweeps` outlive
  /// this. @collective{comm}
  SourceTerm(PointSource<Real> source, const Grid& grid, const RadialTable<Real>& filter,
             Sweeps<Real>& sweeps);

  /// Prepares what will be added in `step`, before any plane of it. @collective{comm}
  void prepare(StepIndex step);
  /// Lets the source act on a slab of all `fields` alike; takes `work.real[0]`. @local
  void act(StepIndex step, const Slab& slab, std::span<Field<Real>* const> fields, Workspace<Real>& work);

  [[nodiscard]] std::int64_t bytes() const noexcept;

 private:
  [[nodiscard]] bool is_filtered() const noexcept { return source_.mode == SourceMode::additive; }
  template <class Value>
  void filter_values(Value value);
  void act_at_points(StepIndex step, const Slab& slab, std::span<Field<Real>* const> fields) const;

  PointSource<Real> source_;
  std::int64_t nx_;
  const RadialTable<Real>& filter_;
  Sweeps<Real>& sweeps_;
  SpectralField<Real> spectrum_;  // many signals: of the values of this step
  Field<Real> pattern_;           // one signal: the filtered points
};

}  // namespace tailrace::ultrasound
