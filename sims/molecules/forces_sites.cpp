// SPDX-License-Identifier: BSD-3-Clause
#include <omp.h>

#include <algorithm>

#include "base/simd.hpp"
#include "forces.hpp"
#include "site_forces.hpp"

namespace tailrace::molecules {

using namespace simd;

namespace {

/// The partners of one molecule within the cutoff, collected before any of their sites is looked at: only a
/// fifth of those in reach is, and sites cost far more than centres.
struct PartnerList {
  std::vector<std::int32_t> numbers;
  std::int64_t size = 0;

  void clear() noexcept { size = 0; }
  /// Appends those of a run that are nearer than the root of `squared` to `from`.
  void append(const Columns& columns, const LinkedCells::Run& run, const Triple<double>& from,
              double squared) {
    if (static_cast<std::int64_t>(numbers.size()) < size + run.end - run.begin + lanes<double>)
      numbers.resize(2 * static_cast<std::size_t>(size + run.end - run.begin + lanes<double>));
    for (std::int64_t j = run.begin; j < run.end; j += lanes<double>) {
      const Triple<Lanes> between =
          from - Triple<Lanes>{load(columns.position[0].data() + j), load(columns.position[1].data() + j),
                               load(columns.position[2].data() + j)};
      const Mask within = (dot(between, between) < squared) & (lane_numbers() < run.end - j);
      size += append_set(within, static_cast<std::int32_t>(j), numbers.data() + size);
    }
  }
  /// Brings those of one component together, else in the order that they had.
  void group(const Columns& columns) {
    if (columns.component.empty()) return;
    std::stable_sort(numbers.begin(), numbers.begin() + size, [&columns](std::int32_t a, std::int32_t b) {
      return columns.component[a] < columns.component[b];
    });
  }
};

Lanes gather(const Numbers& column, const std::int32_t* numbers, int count) noexcept {
  Lanes values{};
  for (int lane = 0; lane < lanes<double>; ++lane) values[lane] = column[numbers[lane < count ? lane : 0]];
  return values;
}

/// Arrays that one thread uses for one molecule after another.
struct Scratch {
  PartnerList own, copies;
  TurnedSites<double> sites;
  TurnedSites<Lanes> partner_sites;
  std::vector<Triple<Lanes>> site_forces;
};

/// One molecule against all its partners.
class MoleculeForces {
 public:
  MoleculeForces(const Neighbourhood& n, Scratch& scratch, std::int64_t i)
      : n_(n),
        scratch_(scratch),
        i_(i),
        component_(n.own.component_of(i)),
        at_{n.own.position[0][i], n.own.position[1][i], n.own.position[2][i]} {
    const CompiledComponent& component = n.field.components()[component_];
    scratch.sites.set(component, turn(n.own, i));
    scratch.site_forces.assign(component.places.size(), {});
  }

  /// Acts on partners of a list, which all are of one array.
  template <bool change_partners, class Partners>
  void meet(const PartnerList& list, Partners& partners) {
    for (std::int64_t first = 0, end = 0; first < list.size; first = end) {
      const std::size_t component = partners.component_of(list.numbers[first]);
      end = first + 1;
      while (end < list.size && end < first + lanes<double> &&
             partners.component_of(list.numbers[end]) == component)
        ++end;
      batch<change_partners>(list.numbers.data() + first, static_cast<int>(end - first), component, partners);
    }
  }

  /// Adds up the lanes.
  void finish(RowSums& sums) {
    Triple<Lanes> force, torque = torque_;
    for (std::size_t s = 0; s < scratch_.site_forces.size(); ++s) {
      force += scratch_.site_forces[s];
      torque += cross(scratch_.sites.places[s], scratch_.site_forces[s]);
    }
    const std::array<Lanes, 3> forces{force.x, force.y, force.z}, torques{torque.x, torque.y, torque.z};
    for (std::size_t d = 0; d < 3; ++d) {
      n_.own.force[d][i_] += sum(forces[d]);
      if (n_.field.rotates()) n_.own.torque[d][i_] += sum(torques[d]);
    }
    sums.u6_lj += sum(energies_.u6_lj);
    sums.u_el += sum(energies_.u_el);
    sums.u_rf += sum(energies_.u_rf);
    sums.virial += sum(virial_);
    sums.pairs += pairs_;
  }

 private:
  static Turn<double> turn(const Columns& columns, std::int64_t i) noexcept {
    if (columns.orientation[0].empty()) return {1, 0, 0, 0};
    return columns.turn_of(i);
  }
  static Turn<Lanes> turn(const Columns& columns, const std::int32_t* numbers, int count) noexcept {
    if (columns.orientation[0].empty()) return {Lanes{} + 1.0, Lanes{}, Lanes{}, Lanes{}};
    const auto one = [&](std::size_t d) { return gather(columns.orientation[d], numbers, count); };
    return {one(0), one(1), one(2), one(3)};
  }

  /// At most as many partners of one component as a vector has lanes.
  template <bool change_partners, class Partners>
  void batch(const std::int32_t* numbers, int count, std::size_t component, Partners& partners) {
    const auto coordinate = [&](std::size_t d) { return gather(partners.position[d], numbers, count); };
    const Triple<Lanes> between = at_ - Triple<Lanes>{coordinate(0), coordinate(1), coordinate(2)};
    scratch_.partner_sites.set(n_.field.components()[component], turn(partners, numbers, count));
    constexpr double share = change_partners ? 1 : 0.5;
    const double lj_cutoff = n_.field.model().lj_cutoff;
    const Lanes none{};
    const Lanes one = none + 1.0;
    const Lanes weight = lane_numbers() < count ? one : none,
                weight_lj = dot(between, between) < lj_cutoff * lj_cutoff ? weight : none;
    Energies<Lanes> energies;
    SitePairs<Lanes> pairs(n_.field, component_, component);
    const auto on_partners = pairs.act(scratch_.sites, scratch_.partner_sites, between, weight, weight_lj,
                                       scratch_.site_forces, torque_, energies);
    energies_.u6_lj += share * energies.u6_lj;
    energies_.u_el += share * energies.u_el;
    energies_.u_rf += share * energies.u_rf;
    virial_ -= share * dot(between, on_partners.force);
    pairs_ += count;
    if constexpr (change_partners) scatter(on_partners, numbers, count);
  }

  void scatter(const ForceAndTorque<Lanes>& on_partners, const std::int32_t* numbers, int count) noexcept {
    const auto add = [&](Numbers& column, const Lanes& values) {
      for (int lane = 0; lane < count; ++lane) column[numbers[lane]] += values[lane];
    };
    auto& own = n_.own;
    add(own.force[0], on_partners.force.x);
    add(own.force[1], on_partners.force.y);
    add(own.force[2], on_partners.force.z);
    if (!n_.field.rotates()) return;
    add(own.torque[0], on_partners.torque.x);
    add(own.torque[1], on_partners.torque.y);
    add(own.torque[2], on_partners.torque.z);
  }

  const Neighbourhood& n_;
  Scratch& scratch_;
  std::int64_t i_;
  std::size_t component_;
  Triple<double> at_;
  Triple<Lanes> torque_;
  Energies<Lanes> energies_;
  Lanes virial_{};
  std::int64_t pairs_ = 0;
};

RowSums row_forces(const Neighbourhood& n, Scratch& scratch, int y, int z) {
  RowSums sums;
  const LinkedCells::Run row = n.own_rows.row(y, z);
  const double squared = n.field.model().cutoff * n.field.model().cutoff;
  for (std::int64_t i = row.begin; i < row.end; ++i) {
    scratch.own.clear();
    scratch.copies.clear();
    const Triple<double> at{n.own.position[0][i], n.own.position[1][i], n.own.position[2][i]};
    for_each_run(n, block_of(n.own, y, z, {i, i + 1, i + 1}),
                 [&](Partners partners, const LinkedCells::Run& run) {
                   if (partners == Partners::copies)
                     scratch.copies.append(n.copies, run, at, squared);
                   else
                     scratch.own.append(n.own, run, at, squared);
                 });
    scratch.own.group(n.own);
    scratch.copies.group(n.copies);
    MoleculeForces forces(n, scratch, i);
    forces.meet<true>(scratch.own, n.own);
    forces.meet<false>(scratch.copies, n.copies);
    forces.finish(sums);
  }
  return sums;
}

}  // namespace

std::vector<RowSums> site_forces(const Neighbourhood& neighbourhood) {
  const int rows_y = neighbourhood.own_rows.rows_y();
  std::vector<RowSums> sums(static_cast<std::size_t>(rows_y) * neighbourhood.own_rows.rows_z());
  std::vector<Scratch> scratch(static_cast<std::size_t>(omp_get_max_threads()));
  for_each_row(neighbourhood, [&](int y, int z) {
    sums[static_cast<std::size_t>(z) * rows_y + y] =
        row_forces(neighbourhood, scratch[static_cast<std::size_t>(omp_get_thread_num())], y, z);
  });
  return sums;
}

}  // namespace tailrace::molecules
