// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <random>
#include <vector>

#include "tailrace/checkpoint.hpp"
#include "tailrace/comm.hpp"
#include "tailrace/decomposition.hpp"

/// States that the benchmark of checkpoints saves and restores.
namespace tailrace::bench {

/// A state shared out among the ranks of a communicator.
class Load {
 public:
  Load() = default;
  Load(const Load&) = delete;
  Load& operator=(const Load&) = delete;
  virtual ~Load() = default;

  virtual void state(checkpoint::StateArchive& archive) = 0;
  /// Bytes of it on this rank.
  [[nodiscard]] virtual std::int64_t bytes() const = 0;
};

/// A cube of numbers in slabs.
class FieldLoad final : public Load {
 public:
  FieldLoad(mpi::CommView comm, std::int64_t edge)
      : domain_{edge, edge, edge},
        box_(layout::Decomposition::slab(domain_, layout::Axis::z, comm.size()).box(comm.rank())),
        values_(static_cast<std::size_t>(box_.volume())) {
    for (std::size_t i = 0; i < values_.size(); ++i) values_[i] = 1.0 / static_cast<double>(i + 1);
  }
  void state(checkpoint::StateArchive& archive) override {
    archive.component("solver", 1, [&](int) {
      archive.field("p", {.data = values_.data(),
                          .type = h5::ElementType::float64,
                          .domain = domain_,
                          .box = box_,
                          .stride_y = domain_.x,
                          .stride_z = domain_.x * domain_.y});
    });
  }
  [[nodiscard]] std::int64_t bytes() const override {
    return static_cast<std::int64_t>(values_.size() * sizeof(double));
  }

 private:
  Index3 domain_;
  Box box_;
  std::vector<double> values_;
};

/// Describes how particles lie in space.
enum class Spread { uniform, clustered };

/// Particles of 116 bytes each, one cell's behind the other's, as ls1 MarDyn has them in its files: number,
/// component, place, velocity, rotation and angular momentum. Cells are cubes with edges of a cutoff radius,
/// some forty particles each if they are uniform; a rank has a slab of cells.
class ParticleLoad final : public Load, public checkpoint::RowSet {
 public:
  static constexpr std::int64_t row_bytes = 116;

  /// About `count` particles in all; the same ones for any number of ranks.
  ParticleLoad(mpi::CommView comm, std::int64_t count, Spread spread) {
    while ((edge_ + 1) * (edge_ + 1) * (edge_ + 1) * per_cell <= count) ++edge_;
    const auto cells = edge_ * edge_ * edge_;
    const auto own = layout::split(edge_, comm.size(), comm.rank());
    range_ = {static_cast<std::uint64_t>(own.begin * edge_ * edge_),
              static_cast<std::uint64_t>(own.end * edge_ * edge_)};
    const double each = static_cast<double>(count) / static_cast<double>(cells);
    for (auto key = range_.begin; key < range_.end; ++key) add_cell(key, each, spread);
  }

  void state(checkpoint::StateArchive& archive) override {
    archive.component("molecules", 1, [&](int) { archive.rows("all", *this); });
  }
  [[nodiscard]] std::int64_t bytes() const override { return static_cast<std::int64_t>(rows_.size()); }

  [[nodiscard]] checkpoint::RowType type() const override {
    return {.bytes = row_bytes,
            .members = {{.name = "id", .type = "<u8", .offset = 0},
                        {.name = "component", .type = "<u4", .offset = 8},
                        {.name = "r", .type = "<f8", .offset = 12, .count = 3},
                        {.name = "v", .type = "<f8", .offset = 36, .count = 3},
                        {.name = "q", .type = "<f8", .offset = 60, .count = 4},
                        {.name = "D", .type = "<f8", .offset = 92, .count = 3}}};
  }
  [[nodiscard]] std::vector<Cell> cells() const override { return cells_; }
  void read(std::size_t cell, std::span<std::byte> rows) const override {
    std::memcpy(rows.data(), rows_.data() + first_[cell] * row_bytes, rows.size());
  }
  [[nodiscard]] std::vector<checkpoint::KeyRange> begin_restore() override {
    cells_.clear();
    first_.clear();
    rows_.clear();
    return {range_};
  }
  [[nodiscard]] bool owns(std::uint64_t key, std::span<const std::byte> /*row*/) const override {
    return range_.begin <= key && key < range_.end;
  }
  void add(std::uint64_t key, std::span<const std::byte> row) override {
    if (cells_.empty() || cells_.back().key != key) begin_cell(key);
    ++cells_.back().count;
    rows_.insert(rows_.end(), row.begin(), row.end());
  }

 private:
  static constexpr std::int64_t per_cell = 40;

  void begin_cell(std::uint64_t key) {
    cells_.push_back({key, 0});
    first_.push_back(rows_.size() / row_bytes);
  }
  /// Particles of a cell: Poisson numbers around the density there. A cluster is a ball in the middle that
  /// has nine tenths of all in a sixteenth of the space.
  void add_cell(std::uint64_t key, double each, Spread spread) {
    const auto edge = static_cast<std::uint64_t>(edge_);
    const std::array<std::uint64_t, 3> at{key % edge, key / edge % edge, key / edge / edge};
    double square = 0;
    for (const auto i : at) {
      const double x = (static_cast<double>(i) + 0.5) / static_cast<double>(edge) - 0.5;
      square += x * x;
    }
    constexpr double radius = 0.246;  // of a sixteenth of the cube
    if (spread == Spread::clustered) each *= square < radius * radius ? 0.9 * 16 : 0.1 * 16 / 15;
    std::mt19937_64 random(key);
    const auto count = std::poisson_distribution<std::int64_t>(each)(random);
    if (count == 0) return;
    begin_cell(key);
    cells_.back().count = count;
    for (std::int64_t i = 0; i < count; ++i) add_particle(key << 20 | static_cast<std::uint64_t>(i), random);
  }
  void add_particle(std::uint64_t id, std::mt19937_64& random) {
    std::array<std::byte, row_bytes> row{};
    std::memcpy(row.data(), &id, sizeof id);
    for (std::size_t at = 12; at < row.size(); at += sizeof(double)) {
      const double value = 1e-19 * static_cast<double>(random() >> 11);
      std::memcpy(row.data() + at, &value, sizeof value);
    }
    rows_.insert(rows_.end(), row.begin(), row.end());
  }

  std::int64_t edge_ = 1;  ///< refers to the domain, in cells
  checkpoint::KeyRange range_;
  std::vector<Cell> cells_;
  std::vector<std::size_t> first_;  ///< refers to each cell, in rows
  std::vector<std::byte> rows_;
};

}  // namespace tailrace::bench
