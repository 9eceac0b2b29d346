// SPDX-License-Identifier: BSD-3-Clause
#include "solver_state.hpp"

#include <fmt/format.h>

#include <string>

#include "sponge.hpp"
#include "tailrace/error.hpp"

namespace tailrace::seismic {

std::size_t field_count(Equations equations) noexcept {
  return equations == Equations::isotropic ? 1 : 2;
}

template <class Real>
layout::HaloConfig halo_config(const Problem& problem, const layout::Decomposition& decomposition,
                               const ArrayLayout& layout) {
  return {.decomposition = decomposition,
          .layout = {layout.stride_y, layout.stride_z},
          .element_bytes = sizeof(Real),
          .width = reach,
          .points = problem.properties.equations == Equations::tti ? layout::HaloPoints::edges
                                                                   : layout::HaloPoints::faces};
}

std::vector<LocalSource> local_sources(const std::vector<Source>& sources, const Problem& problem,
                                       const Box& own, const ArrayLayout& layout) {
  std::vector<LocalSource> local;
  if (own.empty()) return local;
  const auto width = problem.boundary.width;
  const Index3 n = own.extents();
  const Box stored{{-reach, -reach, -reach}, {n.x + reach, n.y + reach, n.z + reach}};
  for (const Source& source : sources) {
    const Index3 at{source.cell.x + width - own.lo.x, source.cell.y + width - own.lo.y,
                    source.cell.z + width - own.lo.z};
    if (stored.contains(at)) local.push_back({layout.at(at), &source});
  }
  return local;
}

template <class Real>
StepSettings<Real>::StepSettings(const Problem& problem, const Extremes& extremes, const Box& own,
                                 const ArrayLayout& layout) {
  arrays.equations = problem.properties.equations;
  arrays.stride_y = layout.stride_y;
  arrays.stride_z = layout.stride_z;
  for (std::size_t axis = 0; axis < arrays.weights.size(); ++axis)
    arrays.weights[axis] = Weights<Real>::of_spacing(problem.spacing_m[axis]);
  if (problem.boundary.kind != Boundary::Kind::sponge) return;
  const std::array ranges{own.x(), own.y(), own.z()};
  const Index3 grid = problem.grid();
  const std::array points{grid.x, grid.y, grid.z};
  for (std::size_t axis = 0; axis < ranges.size(); ++axis) {
    const Sponge sponge{.points = points[axis],
                        .width = problem.boundary.width,
                        .spacing_m = problem.spacing_m[axis],
                        .speed_m_s = extremes.speed_m_s,
                        .dt_s = problem.dt_s};
    damping[axis] = damping_along<Real>(sponge, ranges[axis]);
  }
}

void pass_levels(checkpoint::StateArchive& archive, double dt_s,
                 const std::vector<std::array<checkpoint::FieldState, 2>>& fields) {
  archive.component("waves", 1, [&](int) {
    double saved_dt_s = dt_s;
    archive.value("dt_s", saved_dt_s);
    if (saved_dt_s != dt_s)
      throw Error(ErrorInfo{
          .kind = ErrorKind::input,
          .message =
              fmt::format("the checkpoint is of a run with time.dt_s = {:g}, not {:g}", saved_dt_s, dt_s),
          .path = {},
          .hint = "resume with the case that wrote it"});
    for (std::size_t f = 0; f < fields.size(); ++f) {
      const std::string name = f == 0 ? "p" : "q";
      archive.field(name, fields[f][0]);
      archive.field(name + "_before", fields[f][1]);
    }
  });
}

template layout::HaloConfig halo_config<float>(const Problem&, const layout::Decomposition&,
                                               const ArrayLayout&);
template layout::HaloConfig halo_config<double>(const Problem&, const layout::Decomposition&,
                                                const ArrayLayout&);
template struct StepSettings<float>;
template struct StepSettings<double>;

}  // namespace tailrace::seismic
