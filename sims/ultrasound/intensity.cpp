// SPDX-License-Identifier: BSD-3-Clause
#include "intensity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>

#include "axis_filter.hpp"
#include "base/check.hpp"
#include "field_view.hpp"
#include "h5/file.hpp"
#include "mpi/verdict.hpp"

namespace tailrace::ultrasound {

namespace {

std::uint64_t unsigned_of(std::int64_t value) {
  return static_cast<std::uint64_t>(value);
}

/// Neighbouring sensors of one dataset, whose series are read together: a slab of the dataset at all times.
struct Batch {
  std::string suffix;          ///< refers to the dataset's path, behind the quantity
  h5::Shape start, count;      ///< all samples, then the sensors
  std::vector<Index3> points;  ///< refers to the sensors, in the folded frame
};

/// The batches of at most `most` sensors that cover what lies in the given planes.
class Batches {
 public:
  Batches(const Grid& grid, const SensorMask& mask, Range planes, StepIndex samples, std::int64_t most)
      : points_(grid.folded()), grid_(grid), planes_(planes), samples_(unsigned_of(samples)), max_(most) {
    add_points(mask.indices);
    for (std::size_t c = 0; c < mask.cuboids.size(); ++c)
      add_cuboid(mask.cuboids[c], fmt::format("/{}", c + 1));
  }
  [[nodiscard]] const std::vector<Batch>& all() const noexcept { return batches_; }

 private:
  [[nodiscard]] Index3 point_of(std::int64_t index) const noexcept {
    return {index % points_.x, index / points_.x % points_.y, index / (points_.x * points_.y)};
  }

  void add_points(const std::vector<std::int64_t>& indices) {
    const auto count = static_cast<std::int64_t>(indices.size());
    const auto is_mine = [&](std::int64_t j) {
      return planes_.contains(point_of(indices[static_cast<std::size_t>(j)]).z);
    };
    for (std::int64_t j = 0; j < count;) {
      if (!is_mine(j)) {
        ++j;
        continue;
      }
      Batch batch{.suffix = "", .start = {0, 0, unsigned_of(j)}, .count = {1, samples_, 0}, .points = {}};
      for (; j < count && is_mine(j) && std::ssize(batch.points) < max_; ++j)
        batch.points.push_back(point_of(indices[static_cast<std::size_t>(j)]));
      batch.count[2] = batch.points.size();
      batches_.push_back(std::move(batch));
    }
  }

  /// Rows of a plane are read together as long as there are not too many; in two dimensions a row is a plane.
  void add_cuboid(const Box& box, const std::string& suffix) {
    const Index3 n = box.extents();
    const std::int64_t rows = grid_.dimensions() == 2 ? 1 : std::max<std::int64_t>(max_ / n.x, 1);
    for (std::int64_t z = 0; z < n.z; ++z)
      for (std::int64_t y = 0; y < n.y; y += rows) add_rows(box, {y, std::min(y + rows, n.y)}, z, suffix);
  }

  void add_rows(const Box& box, Range rows, std::int64_t z, const std::string& suffix) {
    const auto index = [&](std::int64_t y) {
      return ((box.lo.z + z) * grid_.points.y + box.lo.y + y) * grid_.points.x + box.lo.x;
    };
    if (!planes_.contains(point_of(index(rows.begin)).z)) return;
    const std::int64_t nx = box.extents().x;
    for (std::int64_t x = 0; x < nx; x += max_) {
      const std::int64_t count = std::min(max_, nx - x);
      Batch batch{.suffix = suffix,
                  .start = {0, unsigned_of(z), unsigned_of(rows.begin), unsigned_of(x)},
                  .count = {samples_, 1, unsigned_of(rows.size()), unsigned_of(count)},
                  .points = {}};
      for (std::int64_t y = rows.begin; y < rows.end; ++y)
        for (std::int64_t i = 0; i < count; ++i) batch.points.push_back(point_of(index(y) + x + i));
      batches_.push_back(std::move(batch));
    }
  }

  Index3 points_;
  const Grid& grid_;
  Range planes_;
  std::uint64_t samples_;
  std::int64_t max_;
  std::vector<Batch> batches_;
};

/// Means of products of series, many sensors at a time: (time, sensor) arrays of `width` sensors.
class SeriesProduct {
 public:
  SeriesProduct(StepIndex samples, std::int64_t width)
      : samples_(samples),
        width_(width),
        p_(size()),
        u_(size()),
        factor_(static_cast<std::size_t>(samples)),
        transform_(samples),
        scratch_(transform_.make_scratch()) {
    for (std::int64_t i = 0; i < samples; ++i) {
      const double turn = wavenumber(i, samples, 1.0) / 2;  // half a sample ahead
      factor_[static_cast<std::size_t>(i)] =
          2 * i == samples ? 0.0 : std::polar(1.0 / static_cast<double>(samples), turn);
    }
  }

  void read_pressure(const h5::File& file, const Batch& batch) { read(file, "/p", batch, p_); }
  /// Reads velocities and moves them by half a step.
  void read_velocity(const h5::File& file, const std::string& name, const Batch& batch) {
    read(file, name, batch, u_);
    // Two neighbouring sensors are transformed as the real and imaginary part of one complex series.
    auto* pairs = reinterpret_cast<std::complex<double>*>(u_.data());
    transform_.filter(pairs, width_ / 2, width_ / 2, factor_.data(), scratch_);
  }
  [[nodiscard]] double mean(std::size_t sensor) const noexcept {
    double sum = 0;
    for (std::size_t i = sensor; i < p_.size(); i += static_cast<std::size_t>(width_)) sum += p_[i] * u_[i];
    return sum / static_cast<double>(samples_);
  }

 private:
  [[nodiscard]] std::size_t size() const noexcept { return static_cast<std::size_t>(samples_ * width_); }

  void read(const h5::File& file, const std::string& quantity, const Batch& batch,
            AlignedVector<double>& out) {
    const auto count = batch.points.size();
    dense_.resize(static_cast<std::size_t>(samples_) * count);
    file.read_hyperslab<double>(quantity + batch.suffix, batch.start, batch.count, dense_);
    std::fill(out.begin(), out.end(), 0.0);
    for (std::size_t t = 0; t < static_cast<std::size_t>(samples_); ++t)
      std::copy_n(dense_.data() + t * count, count, out.data() + t * static_cast<std::size_t>(width_));
  }

  StepIndex samples_;
  std::int64_t width_;
  AlignedVector<double> p_, u_;
  std::vector<double> dense_;
  std::vector<std::complex<double>> factor_;
  ColumnTransform<double> transform_;
  FftScratch<double> scratch_;
};

/// Sensors whose series are held at a time: as many as keep an array near 16 MiB, in whole groups of columns.
std::int64_t batch_width(StepIndex samples) {
  constexpr std::int64_t values = 2 << 20, group = 8, most = 2040;
  return std::clamp(values / samples, group, most) / group * group;
}

}  // namespace

template <class Real>
Intensity<Real>::Intensity(mpi::CommView comm, const Grid& grid, const SensorMask& mask,
                           const RecordedSeries& series, bool with_heat, Sweeps<Real>& sweeps)
    : grid_(grid) {
  const Range planes = sweeps.space().planes();
  for (std::size_t axis = 0; axis < axis_count; ++axis)
    if (grid.file_axis(axis)) {
      mean_[axis] = Field<Real>(grid.folded(), planes);
      if (mean_[axis].data() != nullptr)
        std::fill_n(mean_[axis].data(), mean_[axis].stride_z() * planes.size(), Real(0));
    }
  if (series.samples > 0) read_means(comm, mask, series, planes);
  if (with_heat) deposit_heat(sweeps);
}

template <class Real>
void Intensity<Real>::read_means(mpi::CommView comm, const SensorMask& mask, const RecordedSeries& series,
                                 Range planes) {
  mpi::collectively(comm, [&] {
    const auto file = h5::File::open(series.path);
    const std::int64_t width = batch_width(series.samples);
    SeriesProduct product(series.samples, width);
    const Batches batches(grid_, mask, planes, series.samples, width);
    for (const auto& batch : batches.all()) {
      product.read_pressure(file, batch);
      for (std::size_t axis = 0; axis < axis_count; ++axis) {
        const auto file_axis = grid_.file_axis(axis);
        if (!file_axis) continue;
        product.read_velocity(file, fmt::format("/u{}_non_staggered", axis_names[*file_axis]), batch);
        for (std::size_t i = 0; i < batch.points.size(); ++i)
          mean_[axis].at(batch.points[i]) = static_cast<Real>(product.mean(i));
      }
    }
  });
}

template <class Real>
void Intensity<Real>::deposit_heat(Sweeps<Real>& sweeps) {
  AxisFilter<Real> filter(grid_, &AxisOperators<Real>::derivative, sweeps);
  const Range planes = sweeps.space().planes();
  heat_ = Field<Real>(grid_.folded(), planes);
  Field<Real> slope(grid_.folded(), planes);
  const std::int64_t points = grid_.folded().x * grid_.folded().y;
  for (std::int64_t z = planes.begin; z < planes.end; ++z) std::fill_n(heat_.plane(z), points, Real(0));
  for (std::size_t axis = 0; axis < axis_count; ++axis) {
    if (!grid_.file_axis(axis)) continue;
    filter.apply(axis, mean_[axis], slope);
    for (std::int64_t z = planes.begin; z < planes.end; ++z)
      kernels::add_source(heat_.plane(z), slope.plane(z), Real(-1), points);
  }
}

template <class Real>
bool Intensity<Real>::has(const std::string& quantity) noexcept {
  return quantity == "Q_term" || (quantity.starts_with('I') && quantity.ends_with("_avg"));
}

template <class Real>
output::FieldView Intensity<Real>::field(const std::string& quantity) const {
  if (quantity == "Q_term") return field_view(grid_, heat_);
  for (std::size_t axis = 0; axis < axis_count; ++axis)
    if (const auto file_axis = grid_.file_axis(axis);
        file_axis && quantity == fmt::format("I{}_avg", axis_names[*file_axis]))
      return field_view(grid_, mean_[axis]);
  TAILRACE_CHECK(false, "unknown quantity " + quantity);
}

template <class Real>
std::int64_t Intensity<Real>::bytes(const Grid& grid, Range planes, StepIndex samples,
                                    bool with_heat) noexcept {
  constexpr std::int64_t series = 3;  // pressure, velocity, and one of them as it is read
  const Index3 n = grid.folded();
  const auto field = n.x * n.y * planes.size() * std::int64_t{sizeof(Real)};
  const auto fields = static_cast<std::int64_t>(grid.dimensions()) + (with_heat ? 3 : 0);
  const auto batch = samples > 0 ? batch_width(samples) * samples * std::int64_t{sizeof(double)} : 0;
  return fields * field + series * batch;
}

template class Intensity<float>;
template class Intensity<double>;

}  // namespace tailrace::ultrasound
