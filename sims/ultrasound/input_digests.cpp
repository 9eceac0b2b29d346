// SPDX-License-Identifier: BSD-3-Clause
#include "input_digests.hpp"

#include <fmt/format.h>

#include <string>
#include <vector>

#include "base/placed_digest.hpp"

namespace tailrace::ultrasound {

namespace {

using checkpoint::InputDigests;

/// The scalars of an input, as a file names them. The number of steps is no matter of the medium.
InputDigests scalar_digests(const InputHeader& header) {
  InputDigests digests;
  const auto add = [&](const std::string& name, auto number) {
    digests[name] = placed_digest(std::span<const decltype(number)>(&number, 1));
  };
  const Grid& grid = header.grid;
  add("dt", grid.dt_s);
  add("c_ref", grid.c_ref_m_s);
  for (std::size_t axis = 0; axis < grid.dimensions(); ++axis) {
    add(fmt::format("d{}", axis_names[axis]), grid.spacing_m[axis]);
    add(fmt::format("pml_{}_size", axis_names[axis]), grid.pml.size[axis]);
    add(fmt::format("pml_{}_alpha", axis_names[axis]), grid.pml.alpha[axis]);
  }
  add("nonlinear_flag", std::int64_t{header.physics.nonlinear});
  add("absorbing_flag", static_cast<std::int64_t>(header.physics.absorption));
  add("alpha_power", header.physics.alpha_power);
  add("p_source_mode", static_cast<std::int64_t>(header.pressure.mode));
  add("u_source_mode", static_cast<std::int64_t>(header.velocity[0].mode));
  return digests;
}

/// Where and when sensors look is no matter of the waves, but of what the output holds.
std::uint64_t digest_of(const SensorMask& mask) {
  PlacedDigest digest;
  digest.add(std::span<const std::int64_t>(mask.indices), 0);
  std::int64_t place = 0;
  for (const Box& box : mask.cuboids)
    for (const auto corner : {box.lo.x, box.lo.y, box.lo.z, box.hi.x, box.hi.y, box.hi.z})
      digest.add(corner, place++);
  return digest.sum();
}

/// Adds a source with its list of points, `stem` of which is "p" or "u", by the places of its points in the
/// grid: a rank has some of them, and those sorted.
template <class Real>
void add_source(const PointSource<Real>& source, const Grid& grid, const std::string& signals_name,
                const char* stem, bool is_root, InputDigests& digests) {
  const Index3 n = grid.folded();
  PlacedDigest points, signals, delays;
  if (source.one_signal && is_root) signals.add(std::span<const Real>(source.signals), 0);
  for (std::size_t i = 0; i < source.points.size(); ++i) {
    const Index3& p = source.points[i];
    const auto place = (p.z * n.y + p.y) * n.x + p.x;
    points.add(std::int64_t{1}, place);
    if (!source.delays.empty()) delays.add(source.delays[i], place);
    if (source.one_signal) continue;
    for (StepIndex t = 0; t < source.steps; ++t) signals.add(source.value(t, i), t * n.volume() + place);
  }
  digests[signals_name] = signals.sum();
  digests[fmt::format("{}_source_index", stem)] = points.sum();
  if (signals_name == "transducer_source_input") digests["delay_mask"] = delays.sum();
}

}  // namespace

template <class Real>
void add_small_digests(Input<Real>& input, bool is_root) {
  for (const auto& [name, digest] : scalar_digests(input.header)) input.digests[name] = is_root ? digest : 0;
  input.digests["sensor_mask"] = is_root ? digest_of(input.mask) : 0;
  const auto add = [&](const auto& source, const std::string& name, const char* stem) {
    if (source) add_source(*source, input.header.grid, name, stem, is_root, input.digests);
  };
  add(input.sources.pressure, "p_source_input", "p");
  for (std::size_t axis = 0; axis < axis_count; ++axis)
    add(input.sources.velocity[axis], fmt::format("u{}_source_input", axis_names[axis]), "u");
  add(input.sources.transducer, "transducer_source_input", "u");
}

void sum_digests(mpi::CommView comm, checkpoint::InputDigests& digests) {
  std::vector<std::uint64_t> mine;
  for (const auto& [name, digest] : digests) mine.push_back(digest);
  const auto all = mpi::sum(comm, mine);
  auto next = all.begin();
  for (auto& [name, digest] : digests) digest = *next++;
}

template void add_small_digests(Input<float>&, bool);
template void add_small_digests(Input<double>&, bool);

}  // namespace tailrace::ultrasound
