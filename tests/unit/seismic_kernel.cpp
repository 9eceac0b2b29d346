// SPDX-License-Identifier: BSD-3-Clause
#include "kernel.hpp"

#include <doctest/doctest.h>
#include <omp.h>
#include <sys/mman.h>

#include <cmath>
#include <random>

#include "base/aligned.hpp"

/// The step on a box against plane waves, whose right-hand side is known from the dispersion relation.
namespace tailrace::seismic {

namespace {

constexpr double epsilon = 0.24, delta = 0.1, sigma = 0.75, dip = 0.7, azimuth = 1.1;

/// Zeros that take memory only where they are touched, so that a field may be larger than the machine.
template <class Real>
class Pages {
 public:
  Pages() = default;
  explicit Pages(std::int64_t count) : bytes_(static_cast<std::size_t>(count) * sizeof(Real)) {
    void* pages =
        mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    REQUIRE(pages != MAP_FAILED);
    values_ = static_cast<Real*>(pages);
  }
  ~Pages() {
    if (values_ != nullptr) munmap(values_, bytes_);
  }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;

  [[nodiscard]] Real* data() const noexcept { return values_; }

 private:
  std::size_t bytes_ = 0;
  Real* values_ = nullptr;
};

/// A box with fields that the test sets, halos included.
template <class Real>
class Block {
 public:
  Block(Index3 n, Equations equations, const std::array<double, 3>& spacing_m)
      : n_(n), layout_(ArrayLayout::of<Real>(n, reach)) {
    const std::array<double, 7> values{1,
                                       1 + 2 * epsilon,
                                       1 + 2 * delta,
                                       (epsilon - delta) / sigma,
                                       std::sin(dip) * std::cos(azimuth),
                                       std::sin(dip) * std::sin(azimuth),
                                       std::cos(dip)};
    std::array<Coefficient<Real>, 7> rows;
    for (std::size_t i = 0; i < values.size(); ++i) {
      rows_[i].assign(static_cast<std::size_t>(n.x) + 64, static_cast<Real>(values[i]));
      rows[i] = {rows_[i].data(), 0, 0};
    }
    arrays_.equations = equations;
    arrays_.stride_y = layout_.stride_y, arrays_.stride_z = layout_.stride_z;
    arrays_.speed = rows[0], arrays_.across = rows[1], arrays_.moveout = rows[2], arrays_.shear = rows[3];
    arrays_.axis = {rows[4], rows[5], rows[6]};
    for (std::size_t axis = 0; axis < 3; ++axis)
      arrays_.weights[axis] = Weights<Real>::of_spacing(spacing_m[axis]);
    arrays_.p = fields_[0].data() + layout_.origin, arrays_.q = fields_[1].data() + layout_.origin;
    arrays_.p_other = fields_[2].data() + layout_.origin;
    arrays_.q_other = fields_[3].data() + layout_.origin;
  }

  /// Sets p (0), q (1) or their other levels (2, 3) in `box` and in the halo around it.
  template <class F>
  void set(std::size_t field, const Box& box, const F& value) {
    for (std::int64_t z = box.lo.z - reach; z < box.hi.z + reach; ++z)
      for (std::int64_t y = box.lo.y - reach; y < box.hi.y + reach; ++y)
        for (std::int64_t x = box.lo.x - reach; x < box.hi.x + reach; ++x)
          fields_[field].data()[layout_.at({x, y, z})] = static_cast<Real>(value(Index3{x, y, z}));
  }
  [[nodiscard]] Real value(std::size_t field, Index3 p) const { return fields_[field].data()[layout_.at(p)]; }
  void step(const Box& box) { update(arrays_, box); }
  [[nodiscard]] Box all() const { return Box::whole(n_); }

 private:
  Index3 n_;
  ArrayLayout layout_;
  std::array<Pages<Real>, 4> fields_{Pages<Real>(layout_.size), Pages<Real>(layout_.size),
                                     Pages<Real>(layout_.size), Pages<Real>(layout_.size)};
  std::array<AlignedVector<Real>, 7> rows_;
  StepArrays<Real> arrays_;
};

/// Largest error of the right-hand side for a plane wave of 12 h / spacing points per wave length.
double plane_wave_error(Equations equations, double h) {
  const std::array<double, 3> spacing{h, 0.9 * h, 1.2 * h}, k{0.31, -0.42, 0.37};
  Block<double> block({11, 9, 10}, equations, spacing);
  const auto wave = [&](Index3 at) {
    return std::cos(k[0] * spacing[0] * static_cast<double>(at.x) +
                    k[1] * spacing[1] * static_cast<double>(at.y) +
                    k[2] * spacing[2] * static_cast<double>(at.z));
  };
  constexpr double p = 1.0, q = 0.6;
  block.set(0, block.all(), [&](Index3 at) { return p * wave(at); });
  block.set(1, block.all(), [&](Index3 at) { return q * wave(at); });
  block.step(block.all());
  std::array<double, 3> axis{std::sin(dip) * std::cos(azimuth), std::sin(dip) * std::sin(azimuth),
                             std::cos(dip)};
  if (equations == Equations::vti) axis = {0, 0, 1};
  const double total = k[0] * k[0] + k[1] * k[1] + k[2] * k[2];
  const double component = k[0] * axis[0] + k[1] * axis[1] + k[2] * axis[2];
  const double along = component * component, across = total - along;
  const double shear = (epsilon - delta) / sigma, vpx = 1 + 2 * epsilon, vpn = 1 + 2 * delta;
  double p_rate = (vpx * across + shear * along) * p + (1 - shear) * along * q;
  const double q_rate = (vpn - shear) * across * p + (along + shear * across) * q;
  if (equations == Equations::isotropic) p_rate = total * p;
  double most = 0;
  for (std::int64_t z = 0; z < 10; ++z)
    for (std::int64_t y = 0; y < 9; ++y)
      for (std::int64_t x = 0; x < 11; ++x) {
        const Index3 at{x, y, z};
        most = std::max(most, std::abs(block.value(2, at) - (2 * p - p_rate) * wave(at)));
        if (equations != Equations::isotropic)
          most = std::max(most, std::abs(block.value(3, at) - (2 * q - q_rate) * wave(at)));
      }
  return most;
}

/// Fills the `part` of a block with noise, steps it in the given boxes, and returns the part and its halo.
std::vector<float> noise_after(Equations equations, const std::vector<Box>& boxes, Index3 n,
                               const Box& part) {
  Block<float> block(n, equations, {1, 1.1, 0.8});
  std::mt19937 random(7);
  std::uniform_real_distribution<float> value(-1, 1);
  for (std::size_t field = 0; field < 4; ++field)
    block.set(field, part, [&](Index3) { return value(random); });
  for (const Box& box : boxes) block.step(box);
  std::vector<float> found;
  for (std::size_t field = 2; field < 4; ++field)
    for (std::int64_t z = part.lo.z - reach; z < part.hi.z + reach; ++z)
      for (std::int64_t y = part.lo.y - reach; y < part.hi.y + reach; ++y)
        for (std::int64_t x = part.lo.x - reach; x < part.hi.x + reach; ++x)
          found.push_back(block.value(field, {x, y, z}));
  return found;
}

std::vector<float> noise_after(Equations equations, const std::vector<Box>& boxes, Index3 n) {
  return noise_after(equations, boxes, n, Box::whole(n));
}

}  // namespace

TEST_CASE("plane waves obey the dispersion relation, to eighth order in the spacing") {
  for (const auto equations : {Equations::isotropic, Equations::vti, Equations::tti}) {
    CAPTURE(to_string(equations));
    const double coarse = plane_wave_error(equations, 1.2), fine = plane_wave_error(equations, 0.8);
    CHECK(coarse < 1e-4);
    const double order = std::log(coarse / fine) / std::log(1.5);
    CAPTURE(order);
    CHECK(order > 7.7);
    CHECK(order < 8.5);
  }
}

TEST_CASE("the boxes in which a step is computed, and the threads, leave no trace in any bit") {
  const Index3 n{37, 40, 21};
  const int threads = omp_get_max_threads();
  for (const auto equations : {Equations::isotropic, Equations::vti, Equations::tti}) {
    CAPTURE(to_string(equations));
    omp_set_num_threads(1);
    const auto whole = noise_after(equations, {Box::whole(n)}, n);
    omp_set_num_threads(3);
    CHECK(noise_after(equations, {Box::whole(n)}, n) == whole);
    CHECK(noise_after(equations,
                      {{{0, 0, 0}, {37, 40, 4}},
                       {{0, 0, 4}, {4, 40, 21}},
                       {{4, 0, 4}, {35, 7, 21}},
                       {{4, 7, 4}, {35, 40, 21}},
                       {{35, 0, 4}, {37, 40, 21}}},
                      n) == whole);
    omp_set_num_threads(threads);
  }
}

TEST_CASE("points that 32 bits cannot count are computed like any others") {
  const Index3 n{21, 6, 5}, many{1300, 1300, 1300};
  const Box far{{many.x - n.x, many.y - n.y, many.z - n.z}, many};
  REQUIRE(many.volume() > std::int64_t{1} << 31);
  for (const auto equations : {Equations::isotropic, Equations::vti, Equations::tti}) {
    CAPTURE(to_string(equations));
    CHECK(noise_after(equations, {far}, many, far) == noise_after(equations, {Box::whole(n)}, n));
  }
}

TEST_CASE("a step writes nothing but its box, and reads the whole reach") {
  const Index3 n{5, 6, 7};
  const Box box{{1, 2, 3}, {4, 5, 5}};
  const auto before = noise_after(Equations::tti, {}, n), after = noise_after(Equations::tti, {box}, n);
  const Index3 stored{n.x + 2 * reach, n.y + 2 * reach, n.z + 2 * reach};
  std::int64_t changed = 0;
  for (std::size_t i = 0; i < before.size(); ++i) {
    const auto j = static_cast<std::int64_t>(i) % stored.volume();
    const Index3 at{j % stored.x - reach, j / stored.x % stored.y - reach, j / stored.x / stored.y - reach};
    if (before[i] == after[i]) continue;
    CHECK(box.contains(at));
    ++changed;
  }
  CHECK(changed == 2 * box.volume());
}

}  // namespace tailrace::seismic
