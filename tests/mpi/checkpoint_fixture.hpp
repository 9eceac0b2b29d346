// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <vector>

#include "base/aligned.hpp"
#include "output/registry/options.hpp"
#include "tailrace/checkpoint.hpp"
#include "tailrace/checkpoint_options.hpp"
#include "tailrace/comm.hpp"
#include "tailrace/decomposition.hpp"
#include "tailrace/error.hpp"

/// A simulation's state whose every value follows a formula, so that what came back can be checkd alone.
namespace tailrace::checkpoint::fixture {

inline constexpr Index3 domain{13, 11, 17};

inline double value_at(Index3 p) noexcept {
  return 0.1 + static_cast<double>(p.x) + 100.0 * static_cast<double>(p.y) - 1e4 * static_cast<double>(p.z);
}

/// A field on slabs along an axis, with a frame of `halo` points that no checkpoint may touch.
template <class Real>
class Field {
 public:
  Field(const Box& box, std::int64_t halo) : box_(box), halo_(halo) {
    const Index3 n = box.extents();
    stride_y_ = n.x + 2 * halo;
    stride_z_ = stride_y_ * (n.y + 2 * halo);
    values_.assign(static_cast<std::size_t>(stride_z_ * (n.z + 2 * halo)), untouched);
  }
  void set() {
    for_all([](Real& value, Index3 at) { value = static_cast<Real>(value_at(at)); });
  }
  /// Points that are not what they should be, those of the frame included.
  [[nodiscard]] std::int64_t wrong() {
    std::int64_t wrong = 0, inside = 0;
    for_all([&](Real& value, Index3 at) {
      ++inside;
      if (value != static_cast<Real>(value_at(at))) ++wrong;
    });
    const auto kept = std::count(values_.begin(), values_.end(), untouched);
    return wrong + (static_cast<std::int64_t>(values_.size()) - inside - kept);
  }
  [[nodiscard]] FieldState state() {
    return {.data = values_.data() + halo_ * (1 + stride_y_ + stride_z_),
            .type = h5::element_type_of<Real>(),
            .domain = domain,
            .box = box_,
            .stride_y = stride_y_,
            .stride_z = stride_z_};
  }

 private:
  static constexpr Real untouched = -7.5;

  template <class F>
  void for_all(const F& f) {
    for (std::int64_t z = box_.lo.z; z < box_.hi.z; ++z)
      for (std::int64_t y = box_.lo.y; y < box_.hi.y; ++y)
        for (std::int64_t x = box_.lo.x; x < box_.hi.x; ++x)
          f(values_[static_cast<std::size_t>((z - box_.lo.z + halo_) * stride_z_ +
                                             (y - box_.lo.y + halo_) * stride_y_ + x - box_.lo.x + halo_)],
            {x, y, z});
  }

  Box box_;
  std::int64_t halo_, stride_y_ = 0, stride_z_ = 0;
  std::vector<Real> values_;
};

/// Describes how particles are shared out.
enum class Owner {
  of_cell,      ///< a rank has whole cells
  of_particle,  ///< each cell has particles of all ranks
};

/// Particles in cells: most in few of these, none in many. Their rows have 20 bytes, which is no whole
/// number of words.
class Particles final : public RowSet {
 public:
  struct Particle {
    std::uint64_t id = 0;
    std::array<float, 3> place{};
  };
  static constexpr std::uint64_t cells_of_all = 64;
  static constexpr std::int64_t row_bytes = 20;

  Particles(std::uint64_t count, Owner owner, int ranks, int rank)
      : count_(count), owner_(owner), ranks_(ranks), rank_(rank) {}

  void set() {
    cells_.clear();
    for (std::uint64_t id = 0; id < count_; ++id)
      if (owner_of(cell_of(id), id) == rank_) cells_[cell_of(id)].push_back(particle(id));
  }
  /// Particles here, and those among them that are wrong or are in a wrong cell.
  [[nodiscard]] std::int64_t count() const noexcept {
    std::int64_t count = 0;
    for (const auto& [key, particles] : cells_) count += static_cast<std::int64_t>(particles.size());
    return count;
  }
  [[nodiscard]] std::int64_t wrong() const noexcept {
    std::int64_t wrong = 0;
    for (const auto& [key, particles] : cells_)
      for (const auto& p : particles)
        wrong += p.id >= count_ || p.place != particle(p.id).place || cell_of(p.id) != key ||
                 owner_of(key, p.id) != rank_;
    return wrong;
  }
  /// A number that all particles together have only if each is there once.
  [[nodiscard]] std::uint64_t id_sum() const noexcept {
    std::uint64_t sum = 0;
    for (const auto& [key, particles] : cells_)
      for (const auto& p : particles) sum += mixed(p.id);
    return sum;
  }
  [[nodiscard]] std::uint64_t id_sum_of_all() const noexcept {
    std::uint64_t sum = 0;
    for (std::uint64_t id = 0; id < count_; ++id) sum += mixed(id);
    return sum;
  }

  [[nodiscard]] RowType type() const override {
    return {.bytes = row_bytes,
            .members = {{.name = "id", .type = "<u8", .offset = 0},
                        {.name = "place", .type = "<f4", .offset = 8, .count = 3}}};
  }
  [[nodiscard]] std::vector<Cell> cells() const override {
    std::vector<Cell> list;
    for (const auto& [key, particles] : cells_)
      if (!particles.empty()) list.push_back({key, static_cast<std::int64_t>(particles.size())});
    return list;
  }
  void read(std::size_t cell, std::span<std::byte> rows) const override {
    auto found = cells_.begin();
    for (std::size_t i = 0;; ++found)
      if (!found->second.empty() && i++ == cell) break;
    for (std::size_t i = 0; i < found->second.size(); ++i) {
      std::byte* const row = rows.data() + i * row_bytes;
      std::memcpy(row, &found->second[i].id, 8);
      std::memcpy(row + 8, found->second[i].place.data(), 12);
    }
  }
  [[nodiscard]] std::vector<KeyRange> begin_restore() override {
    cells_.clear();
    if (owner_ == Owner::of_particle) return {{0, cells_of_all}};
    const auto mine = layout::split(cells_of_all, ranks_, rank_);
    if (mine.empty()) return {};
    return {{static_cast<std::uint64_t>(mine.begin), static_cast<std::uint64_t>(mine.end)}};
  }
  [[nodiscard]] bool owns(std::uint64_t key, std::span<const std::byte> row) const override {
    std::uint64_t id = 0;
    std::memcpy(&id, row.data(), 8);
    return owner_of(key, id) == rank_;
  }
  void add(std::uint64_t key, std::span<const std::byte> row) override {
    Particle p;
    std::memcpy(&p.id, row.data(), 8);
    std::memcpy(p.place.data(), row.data() + 8, 12);
    cells_[key].push_back(p);
  }

 private:
  static std::uint64_t mixed(std::uint64_t x) noexcept {
    x = (x + 0x9E3779B97F4A7C15) * 0xBF58476D1CE4E5B9;
    return x ^ x >> 31;
  }
  static std::uint64_t cell_of(std::uint64_t id) noexcept {
    return id % 3 != 0 ? 5 : mixed(id) % cells_of_all / 2 * 2;  // odd cells but one are empty
  }
  static Particle particle(std::uint64_t id) noexcept {
    const auto i = static_cast<float>(id);
    return {id, {i + 0.5F, 1 / (i + 1), -i}};
  }
  [[nodiscard]] int owner_of(std::uint64_t key, std::uint64_t id) const noexcept {
    if (owner_ == Owner::of_particle) return static_cast<int>(mixed(id) % static_cast<std::uint64_t>(ranks_));
    return layout::part_of(cells_of_all, ranks_, static_cast<std::int64_t>(key));
  }

  std::uint64_t count_;
  Owner owner_;
  int ranks_, rank_;
  std::map<std::uint64_t, std::vector<Particle>> cells_;
};

/// Texts of any length, the empty one and one that is longer than a cell among them; their number is the key,
/// which few of them share.
class Texts final : public ItemSet {
 public:
  static constexpr std::uint64_t count = 30, longest = 17;

  Texts(int ranks, int rank) : ranks_(ranks), rank_(rank) {}

  void set() {
    texts_.clear();
    for (std::uint64_t number = 0; number < count; ++number)
      if (is_mine(number)) texts_[number] = text(number);
  }
  [[nodiscard]] bool is_right() const {
    Texts expected(ranks_, rank_);
    expected.set();
    return texts_ == expected.texts_;
  }

  [[nodiscard]] std::vector<Item> items() const override {
    std::vector<Item> list;
    for (const auto& [number, text] : texts_)
      list.push_back({number / 4, static_cast<std::int64_t>(text.size() + 1)});
    return list;
  }
  void read(std::size_t item, std::span<std::byte> bytes) const override {
    const auto& [number, text] = *std::next(texts_.begin(), static_cast<std::ptrdiff_t>(item));
    bytes[0] = static_cast<std::byte>(number);
    std::memcpy(bytes.data() + 1, text.data(), text.size());
  }
  [[nodiscard]] std::vector<KeyRange> begin_restore() override {
    texts_.clear();
    return {{0, count}};
  }
  [[nodiscard]] bool owns(std::uint64_t /*key*/, std::span<const std::byte> bytes) const override {
    return is_mine(static_cast<std::uint64_t>(bytes[0]));
  }
  void add(std::uint64_t key, std::span<const std::byte> bytes) override {
    const auto number = static_cast<std::uint64_t>(bytes[0]);
    auto text = std::string(reinterpret_cast<const char*>(bytes.data()) + 1, bytes.size() - 1);
    if (number / 4 == key) texts_[number] = std::move(text);
  }

 private:
  static std::string text(std::uint64_t number) {
    const std::size_t length = number == longest ? 2'500'000 : number * number;
    std::string text(length, ' ');
    for (std::size_t i = 0; i < length; ++i) text[i] = static_cast<char>('a' + (i * (number + 1)) % 26);
    return text;
  }
  [[nodiscard]] bool is_mine(std::uint64_t number) const noexcept {
    return number % static_cast<std::uint64_t>(ranks_) == static_cast<std::uint64_t>(rank_);
  }

  int ranks_, rank_;
  std::map<std::uint64_t, std::string> texts_;
};

/// The whole state of a rank.
class State {
 public:
  State(mpi::CommView comm, const layout::Decomposition& decomposition, Owner owner = Owner::of_cell,
        std::uint64_t count = 1000)
      : pressure(decomposition.box(comm.rank()), 0),
        velocity(decomposition.box(comm.rank()), 2),
        particles(count, owner, comm.size(), comm.rank()),
        texts(comm.size(), comm.rank()) {}

  void set() {
    pressure.set();
    velocity.set();
    particles.set();
    texts.set();
    steps = 123456789012345;
    seed = 0xFEDCBA9876543210;
    energy = -0.1;
    on = true;
    history = {1e-310, -0.0, 1.0 / 3};
    nothing.clear();
    empty.clear();
    title = "a b\n\"c\" \xC3\xA9";
  }
  void pass(StateArchive& archive) {
    archive.component("fields", 3, [&](int) {
      archive.field("pressure", pressure.state());
      archive.field("velocity", velocity.state());
    });
    archive.component("run", 1, [&](int) {
      archive.value("steps", steps);
      archive.value("seed", seed);
      archive.value("energy", energy);
      archive.value("on", on);
      archive.values("history", history);
      archive.values("nothing", nothing);
      archive.text("title", title);
      archive.text("empty", empty);
    });
    archive.component("molecules", 1, [&](int) { archive.rows("argon", particles); });
    archive.component("texts", 1, [&](int) { archive.items("all", texts); });
  }
  /// Returns whether everything on this rank is as `set` has it.
  [[nodiscard]] bool is_right() {
    return pressure.wrong() == 0 && velocity.wrong() == 0 && particles.wrong() == 0 && texts.is_right() &&
           steps == 123456789012345 && seed == 0xFEDCBA9876543210 && energy == -0.1 && on &&
           history == std::vector{1e-310, -0.0, 1.0 / 3} && std::signbit(history[1]) && nothing.empty() &&
           title == "a b\n\"c\" \xC3\xA9" && empty.empty();
  }

  Field<double> pressure;
  Field<float> velocity;
  Particles particles;
  Texts texts;
  std::int64_t steps = 0;
  std::uint64_t seed = 0;
  double energy = 0;
  bool on = false;
  std::vector<double> history{7.0};
  std::vector<std::int32_t> nothing{1};
  std::string title, empty = "no";
};

/// Returns whether this build knows zstd.
inline bool can_compress() {
  try {
    return parse_compression("test", "zstd").wanted();
  } catch (const Error&) {
    return false;
  }
}

inline output::WriteOptions options_of(const std::string& strategy, const std::string& fault = {}) {
  return output::parse_options({.write = strategy, .sink = {}, .pace = {}, .fault = fault});
}

}  // namespace tailrace::checkpoint::fixture
