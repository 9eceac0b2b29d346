// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/aligned.hpp"
#include "grid.hpp"
#include "kernel.hpp"
#include "tailrace/box.hpp"

namespace tailrace::seismic {

/// A property of the medium: one value everywhere, or one at each point of the domain.
struct Parameter {
  /// Fills in the values of a box of the domain, x fastest. @local
  using ReadBox = std::function<void(const Box& region, std::span<double> out)>;

  double value = 0;
  /// Begins to read and returns what does it, box after box, which keeps in memory what boxes behind each
  /// other share; empty for one value everywhere. @local
  std::function<ReadBox()> open;

  [[nodiscard]] bool varies() const noexcept { return static_cast<bool>(open); }
};

/// The medium as the user describes it, on the points of the domain.
struct Properties {
  Equations equations = Equations::tti;
  Parameter vp_m_s;  ///< along the symmetry axis
  Parameter epsilon, delta;
  Parameter dip_rad;                ///< refers to the symmetry axis from z
  Parameter azimuth_rad;            ///< refers to the axis, from x
  Parameter sigma;                  ///< ratio that fixes the speed of shear waves; above 10 there are none
  std::optional<Parameter> vs_m_s;  ///< that speed instead
};

/// Describes what surrounds the domain.
struct Boundary {
  enum class Kind {
    zero,    ///< nothing: the fields are 0 outside
    random,  ///< a layer of random speeds that scatters waves
    sponge,  ///< a layer that damps them
  };
  Kind kind = Kind::zero;
  std::int64_t width = 0;  ///< points of the layer on each side
  std::uint64_t seed = 1;
};

/// Describes what the time step and the boundaries need to know of the whole domain.
struct Extremes {
  double speed_m_s = 0;                                     ///< refers to the fastest wave in any direction
  double vp_m_s = 0;                                        ///< largest along the axis
  double slowest_m_s = std::numeric_limits<double>::max();  ///< least along the axis
  double vs_m_s = 0;                                        ///< largest of shear waves along the axis
  double speed_ratio = 1;     ///< largest of the fastest wave to vp at the same point
  std::int64_t unstable = 0;  ///< points whose equations grow without bound
  Index3 first_unstable;
  std::array<std::uint64_t, 6> digests{};  ///< of each of the properties' values; see `keys_of`
};

/// The keys of the properties that the equations have, in the order of `Extremes::digests`. @local
std::vector<std::string> keys_of(const Properties& properties);

/// Looks at a box of the domain, a plane at a time. @local. Errors (input): values that cannot be, with the
/// place of the first one of each property.
Extremes survey(const Properties& properties, const Box& region);

/// Speed of the fastest wave in units of vp, and whether waves in some direction grow; from 1 + 2 epsilon,
/// 1 + 2 delta and (vs / vp)^2.
struct WaveSpeeds {
  double fastest = 1;
  bool grow = false;
};
WaveSpeeds wave_speeds(double across, double moveout, double shear);

/// Values for the random layer at a point, 0 to 1: the same for a seed whatever the number of ranks.
double random_at(std::uint64_t seed, std::int64_t index) noexcept;

class Sample;
struct SamplePoint;

/// The coefficients of the equations on the points of a rank; those that do not vary are stored once.
template <class Real>
class Medium {
 public:
  /// `own` is the rank's box in the grid, which is the domain and `boundary.width` points around it. @local
  Medium(const Properties& properties, const Boundary& boundary, const Extremes& extremes, Index3 cells,
         const Box& own, double dt_s);

  static constexpr std::size_t count = 7;  ///< speed, across, moveout, shear, axis x, y, z

  /// Hands the coefficients to a step.
  void lend(StepArrays<Real>& arrays) const noexcept;
  /// Hands out the coefficients from copies of their arrays, which begin at `first`.
  void lend(StepArrays<Real>& arrays, const std::array<const Real*, count>& first) const noexcept;
  /// The array of a coefficient. @local
  [[nodiscard]] std::span<const Real> values(std::size_t coefficient) const noexcept {
    return values_[coefficient].array;
  }
  [[nodiscard]] std::int64_t memory_bytes() const noexcept;
  /// Returns what that will be. @local
  [[nodiscard]] static double needed_bytes(const Properties& properties, const Boundary& boundary,
                                           const Box& own);

 private:
  static std::array<bool, count> varying(const Properties& properties, const Boundary& boundary) noexcept;
  static std::int64_t values_in(const Box& own, bool varies);
  struct Values {
    AlignedVector<Real> array;
    std::int64_t stride_y = 0, stride_z = 0;
  };
  /// Describes where the coefficients lie, and what they are made of beside the properties.
  struct Place {
    const Boundary& boundary;
    const Extremes& extremes;
    Index3 cells;
    Box own;
    double dt_s;
    [[nodiscard]] Index3 inside(Index3 p) const noexcept;
  };
  void fill_constants(const Properties& properties, const Place& place);
  void fill_row(const Sample& sample, const Place& place, std::int64_t y, std::int64_t z);
  static std::array<double, 2> scattered(const Place& place, Index3 at, const SamplePoint& point);
  Real* row_of(std::size_t coefficient, const Box& own, std::int64_t y, std::int64_t z) noexcept;
  void allocate(const Box& own, const std::array<bool, count>& varies);

  std::array<Values, count> values_;
};

}  // namespace tailrace::seismic
