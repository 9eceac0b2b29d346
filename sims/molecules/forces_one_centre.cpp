// SPDX-License-Identifier: BSD-3-Clause
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "base/simd.hpp"
#include "forces.hpp"

namespace tailrace::molecules {

using namespace simd;

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

/// Sums of r^-12 and r^-6, and the number of pairs: energy and virial follow.
struct Powers {
  Lanes r12{}, r6{};
  std::int64_t pairs = 0;
};

/// Describes what the kernel needs of a pair: the force over the distance is (c12 / r^6 - c6) / r^8.
struct Coefficients {
  double c12, c6, squared_cutoff;
};

Coefficients coefficients_of(const ForceField& field) {
  const LennardJonesPair& pair = *field.centre_pairs(0, 0);
  const double cutoff = field.model().lj_cutoff, sigma6 = std::pow(pair.sigma2, 3);
  return {2 * pair.epsilon24 * sigma6 * sigma6, pair.epsilon24 * sigma6, cutoff * cutoff};
}

/// Describes where the vectors begin that make up runs of partners. All are found before any is read: one
/// loop goes over them, whose sums stay in registers, instead of a short one for each run. A vector reaches
/// beyond its run, as far as the row goes: what is there is too far away, and tested like the rest.
class VectorList {
 public:
  void clear() noexcept { size_ = 0, cut_.clear(); }
  void append(const LinkedCells::Run& run) {
    const std::int64_t end = std::min(run.end, run.row_end - lanes<double> + 1),
                       count =
                           std::max<std::int64_t>(0, (end - run.begin + lanes<double> - 1) / lanes<double>);
    if (static_cast<std::int64_t>(whole_.size()) < size_ + count + at_once)
      whole_.resize(2 * static_cast<std::size_t>(size_ + count + at_once));
    for (std::int64_t done = 0; done < count; done += at_once)
      for (std::int64_t k = 0; k < at_once; ++k)
        whole_[size_ + done + k] = static_cast<std::int32_t>(run.begin + (done + k) * lanes<double>);
    size_ += count;
    const std::int64_t last = run.begin + count * lanes<double>;
    if (last < run.end) cut_.push_back({last, run.row_end - last});
  }

  struct Cut {
    std::int64_t first, count;
  };
  [[nodiscard]] std::span<const std::int32_t> whole() const noexcept {
    return {whole_.data(), static_cast<std::size_t>(size_)};
  }
  /// Those of fewer molecules than lanes, at the ends of rows.
  [[nodiscard]] const std::vector<Cut>& cut() const noexcept { return cut_; }

 private:
  static constexpr std::int64_t at_once = 8;  // most runs have no more: no branch depends on their length
  std::vector<std::int32_t> whole_;
  std::vector<Cut> cut_;
  std::int64_t size_ = 0;
};

/// Some molecules of one row against vectors of partners.
template <int count>
class BlockForces {
 public:
  BlockForces(const Coefficients& coefficients, const Side& own, std::int64_t first) noexcept
      : coefficients_(coefficients) {
    for (int b = 0; b < count; ++b) at_[b] = {own.x[first + b], own.y[first + b], own.z[first + b]};
  }

  /// @tparam change own partners, whose forces are changed too; otherwise copies.
  template <bool change>
  void meet(const Side side, const VectorList& list, Powers& powers) noexcept {
    BlockForces block = *this;  // with the sums, in registers
    Powers sums = powers;
    for (const std::int64_t j : list.whole()) {
      const auto reaction = block.act(
          side, j, [](int) { return lanes_between(0, lanes<double>); }, sums);
      if constexpr (change) {
        store(side.fx + j, load(side.fx + j) + reaction.x);
        store(side.fy + j, load(side.fy + j) + reaction.y);
        store(side.fz + j, load(side.fz + j) + reaction.z);
      }
    }
    for (const auto& [j, some] : list.cut()) {
      const auto valid = lanes_between(0, some);
      const auto reaction = block.act(
          side, j, [valid](int) { return valid; }, sums);
      if constexpr (change) add_some(side, j, some, reaction);
    }
    *this = block;
    powers = sums;
  }

  /// The vector behind the first molecule, where the others of the block are. `some`: molecules in it.
  void meet_each_other(const Side& own, std::int64_t j, std::int64_t some, Powers& powers) noexcept {
    add_some(own, j, some,
             act(
                 own, j, [some](int b) { return lanes_between(b, some); }, powers));
  }

  void add_to(const Side& own, std::int64_t first) const noexcept {
    for (int b = 0; b < count; ++b) {
      own.fx[first + b] += sum(force_[b].x);
      own.fy[first + b] += sum(force_[b].y);
      own.fz[first + b] += sum(force_[b].z);
    }
  }

 private:
  /// One vector of partners, of which those in `valid_for(b)` count for molecule b. Returns the forces on
  /// them.
  template <class Valid>
  Triple<Lanes> act(const Side& side, std::int64_t j, const Valid& valid_for, Powers& powers) noexcept {
    const Triple<Lanes> partner{load(side.x + j), load(side.y + j), load(side.z + j)};
    Triple<Lanes> reaction;
    for (int b = 0; b < count; ++b) {
      const Triple<Lanes> between = at_[b] - partner;
      const Lanes r2 = dot(between, between);
      const LaneSet within = less(valid_for(b), r2, coefficients_.squared_cutoff);
      // Zero outside: then so are all powers, also where r = 0 is not a pair.
      const Lanes inverse2 = inverse_of(within, r2), inverse4 = inverse2 * inverse2,
                  inverse6 = inverse4 * inverse2;
      const Triple<Lanes> force =
          ((coefficients_.c12 * inverse6 - coefficients_.c6) * (inverse4 * inverse4)) * between;
      powers.r12 += inverse6 * inverse6;
      powers.r6 += inverse6;
      powers.pairs += simd::count(within);
      force_[b] += force;
      reaction -= force;
    }
    return reaction;
  }
  static void add_some(const Side& side, std::int64_t j, std::int64_t some,
                       const Triple<Lanes>& reaction) noexcept {
    const std::int64_t valid = std::min<std::int64_t>(some, lanes<double>);
    add_first(side.fx + j, reaction.x, valid);
    add_first(side.fy + j, reaction.y, valid);
    add_first(side.fz + j, reaction.z, valid);
  }

  Coefficients coefficients_;
  Triple<double> at_[count];
  Triple<Lanes> force_[count];
};

/// Arrays that one thread uses for one block after another.
struct Scratch {
  VectorList own, copies;
};

/// One row against all that it meets.
class RowForces {
 public:
  RowForces(const Neighbourhood& n, Scratch& scratch) noexcept
      : n_(n),
        scratch_(scratch),
        pair_(*n.field.centre_pairs(0, 0)),
        coefficients_(coefficients_of(n.field)),
        own_(side_of(n.own)),
        copies_(side_of(n.copies)) {}

  RowSums treat(int y, int z) const {
    Powers among_own, with_copies;
    const LinkedCells::Run row = n_.own_rows.row(y, z);
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
    BlockForces<count> forces(coefficients_, own_, first);
    scratch_.own.clear();
    scratch_.copies.clear();
    const Block block = block_of(n_.own, y, z, {first, first + count, first + count});
    for_each_run(n_, block, [&](Partners partners, LinkedCells::Run run) {
      if (partners == Partners::same_row) {
        forces.meet_each_other(own_, run.begin, run.row_end - run.begin, among_own);
        run.begin += lanes<double>;
      }
      (partners == Partners::copies ? scratch_.copies : scratch_.own).append(run);
    });
    forces.template meet<true>(own_, scratch_.own, among_own);
    forces.template meet<false>(copies_, scratch_.copies, with_copies);
    forces.add_to(own_, first);
  }

  void add(RowSums& sums, const Powers& powers, double share) const noexcept {
    const double u12 = coefficients_.c12 * sum(powers.r12), u6 = coefficients_.c6 * sum(powers.r6);
    sums.u6_lj += share * (0.5 * u12 - u6 + pair_.shift6 * static_cast<double>(powers.pairs));
    sums.virial += share * (u12 - u6);
    sums.pairs += powers.pairs;
  }

  const Neighbourhood& n_;
  Scratch& scratch_;
  LennardJonesPair pair_;
  Coefficients coefficients_;
  Side own_, copies_;
};

}  // namespace

std::vector<RowSums> one_centre_forces(const Neighbourhood& neighbourhood) {
  const int rows_y = neighbourhood.own_rows.rows_y();
  std::vector<RowSums> sums(static_cast<std::size_t>(rows_y) * neighbourhood.own_rows.rows_z());
  std::vector<Scratch> scratch(static_cast<std::size_t>(omp_get_max_threads()));
  for_each_row(neighbourhood, [&](int y, int z) {
    RowForces forces(neighbourhood, scratch[static_cast<std::size_t>(omp_get_thread_num())]);
    sums[static_cast<std::size_t>(z) * rows_y + y] = forces.treat(y, z);
  });
  return sums;
}

}  // namespace tailrace::molecules
