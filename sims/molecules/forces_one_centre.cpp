#include "forces.hpp"
#include "lanes.hpp"

namespace tailrace::molecules {

namespace {

/// Partners: positions, and forces where they are the rank's own.
struct Side {
  const double *x, *y, *z;
  double *fx, *fy, *fz;
};

Side side_of(Columns& own) noexcept {
  return {own.position[0].data(), own.position[1].data(), own.position[2].data(),
          own.force[0].data(),    own.force[1].data(),    own.force[2].data()};
}
Side side_of(const Columns& copies) noexcept {
  return {copies.position[0].data(),
          copies.position[1].data(),
          copies.position[2].data(),
          nullptr,
          nullptr,
          nullptr};
}

/// Sums of s = (sigma / r)^2 to the powers 6 and 3, and the number of pairs: energy and virial follow.
struct Powers {
  Lanes s12{}, s6{};
  Mask pairs{};
};

/// Some molecules of one row against runs of partners.
template <int count>
class BlockForces {
 public:
  BlockForces(const LennardJonesPair& pair, double squared_cutoff, const Side& own,
              std::int64_t first) noexcept
      : scale_(pair.epsilon24 / pair.sigma2), sigma2_(pair.sigma2), cutoff2_(squared_cutoff) {
    for (int b = 0; b < count; ++b) at_[b] = {own.x[first + b], own.y[first + b], own.z[first + b]};
  }

  /// @tparam of own partners, whose forces are changed too, or of copies.
  template <Partners partners>
  void meet(const Side& side, const RowGrid::Run& run, Powers& powers) noexcept {
    std::int64_t j = run.begin;
    if constexpr (partners == Partners::same_row) {
      vector<partners, true>(side, j, run.end - j, powers);
      j += lanes;
    }
    constexpr Partners rest = partners == Partners::same_row ? Partners::own : partners;
    for (; j + lanes <= run.end; j += lanes) vector<rest, false>(side, j, lanes, powers);
    if (j < run.end) vector<rest, true>(side, j, run.end - j, powers);
  }

  void add_to(const Side& own, std::int64_t first) const noexcept {
    for (int b = 0; b < count; ++b) {
      own.fx[first + b] += sum(force_[b].x);
      own.fy[first + b] += sum(force_[b].y);
      own.fz[first + b] += sum(force_[b].z);
    }
  }

 private:
  /// One vector of partners, of which the first `valid` count.
  template <Partners partners, bool partial>
  void vector(const Side& side, std::int64_t j, std::int64_t valid, Powers& powers) noexcept {
    const Triple<Lanes> partner{load(side.x + j), load(side.y + j), load(side.z + j)};
    Triple<Lanes> reaction;
    for (int b = 0; b < count; ++b) {
      const Triple<Lanes> between = at_[b] - partner;
      const Lanes r2 = dot(between, between);
      Mask within = r2 < cutoff2_;
      if constexpr (partial) within &= lane_numbers() < valid;
      if constexpr (partners == Partners::same_row) within &= lane_numbers() >= b;
      // Zero outside: then so are all powers, also where r = 0 is not a pair.
      const Lanes s2 = within ? sigma2_ / r2 : Lanes{};
      const Lanes s6 = s2 * s2 * s2, s12 = s6 * s6;
      const Triple<Lanes> force = (scale_ * (2.0 * s12 - s6) * s2) * between;
      powers.s12 += s12;
      powers.s6 += s6;
      powers.pairs -= within;
      force_[b] += force;
      reaction -= force;
    }
    if constexpr (partners != Partners::copies) {
      if constexpr (partial) {
        const std::int64_t some = valid < lanes ? valid : lanes;
        add_first(side.fx + j, reaction.x, some);
        add_first(side.fy + j, reaction.y, some);
        add_first(side.fz + j, reaction.z, some);
      } else {
        store(side.fx + j, load(side.fx + j) + reaction.x);
        store(side.fy + j, load(side.fy + j) + reaction.y);
        store(side.fz + j, load(side.fz + j) + reaction.z);
      }
    }
  }

  double scale_, sigma2_, cutoff2_;
  Triple<double> at_[count];
  Triple<Lanes> force_[count];
};

/// One row against all that it meets.
class RowForces {
 public:
  explicit RowForces(const Neighbourhood& n) noexcept
      : n_(n),
        pair_(*n.field.centre_pairs(0, 0)),
        cutoff2_(n.field.model().lj_cutoff * n.field.model().lj_cutoff),
        own_(side_of(n.own)),
        copies_(side_of(n.copies)) {}

  RowSums treat(int y, int z) const {
    Powers among_own, with_copies;
    const RowGrid::Run row = n_.own_rows.row(y, z);
    std::int64_t i = row.begin;
    for (; i + together <= row.end; i += together) block<together>(y, z, i, among_own, with_copies);
    for (; i < row.end; ++i) block<1>(y, z, i, among_own, with_copies);
    RowSums sums;
    add(sums, among_own, 1);
    add(sums, with_copies, 0.5);
    return sums;
  }

 private:
  /// Molecules that share what is loaded of their partners.
  static constexpr int together = 2;

  template <int count>
  void block(int y, int z, std::int64_t first, Powers& among_own, Powers& with_copies) const {
    BlockForces<count> forces(pair_, cutoff2_, own_, first);
    const Block block = block_of(n_.own, y, z, {first, first + count});
    for_each_run(n_, block, [&](Partners partners, const RowGrid::Run& run) {
      if (partners == Partners::same_row)
        forces.template meet<Partners::same_row>(own_, run, among_own);
      else if (partners == Partners::own)
        forces.template meet<Partners::own>(own_, run, among_own);
      else
        forces.template meet<Partners::copies>(copies_, run, with_copies);
    });
    forces.add_to(own_, first);
  }

  void add(RowSums& sums, const Powers& powers, double share) const noexcept {
    const double s12 = sum(powers.s12), s6 = sum(powers.s6);
    std::int64_t pairs = 0;
    for (int lane = 0; lane < lanes; ++lane) pairs += powers.pairs[lane];
    // `pairs` counts with + 1 here: a set lane is -1, and it was subtracted.
    sums.u6_lj += share * (pair_.epsilon24 * (s12 - s6) + pair_.shift6 * static_cast<double>(pairs));
    sums.virial += share * pair_.epsilon24 * (2 * s12 - s6);
    sums.pairs += pairs;
  }

  const Neighbourhood& n_;
  LennardJonesPair pair_;
  double cutoff2_;
  Side own_, copies_;
};

}  // namespace

std::vector<RowSums> one_centre_forces(const Neighbourhood& neighbourhood) {
  const int rows_y = neighbourhood.own_rows.rows_y();
  std::vector<RowSums> sums(static_cast<std::size_t>(rows_y) * neighbourhood.own_rows.rows_z());
  const RowForces forces(neighbourhood);
  for_each_row(neighbourhood,
               [&](int y, int z) { sums[static_cast<std::size_t>(z) * rows_y + y] = forces.treat(y, z); });
  return sums;
}

}  // namespace tailrace::molecules
