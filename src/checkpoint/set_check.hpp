// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <stdexcept>
#include <string>

#include "h5/file.hpp"

/// Describes what the directory of a set may say, for each kind of sets (docs/formats/checkpoint.md).
namespace tailrace::checkpoint {

/// A set is not as the format has it; the message says what is wrong.
class Contradiction : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};
void need(bool condition, const std::string& problem);

/// Describes what the data of a set are where nothing is compressed.
struct Elements {
  h5::ElementType type = h5::ElementType::other;
  h5::Shape shape;
  std::string extents, row_type;

  [[nodiscard]] std::int64_t count() const { return static_cast<std::int64_t>(shape.at(0)); }
  [[nodiscard]] std::int64_t bytes_each() const;
};

/// Looks at parts and cells in the order of the directory. Every function throws `Contradiction`.
class SetCheck {
 public:
  using Words = std::span<const std::uint64_t>;
  virtual ~SetCheck() = default;
  SetCheck() = default;
  SetCheck(const SetCheck&) = delete;
  SetCheck& operator=(const SetCheck&) = delete;

  [[nodiscard]] virtual std::size_t cell_words() const = 0;
  [[nodiscard]] virtual std::size_t part_words() const = 0;
  virtual void begin_rank(Words part, std::uint64_t cells) = 0;
  virtual void check_cell(Words cell, std::uint64_t elements) = 0;
  virtual void end_rank() {}
  /// The data of the cell, whose digest is as given.
  virtual void add(std::span<const std::byte> data, std::uint64_t digest) = 0;
  virtual void end() const = 0;
  [[nodiscard]] virtual std::string name_of(Words cell) const = 0;
  [[nodiscard]] std::uint64_t sum() const noexcept { return sum_; }

 protected:
  std::uint64_t sum_ = 0;
};

/// Elements of a grid, in boxes that cover it once.
class FieldCheck final : public SetCheck {
 public:
  explicit FieldCheck(const Elements& data);
  [[nodiscard]] std::size_t cell_words() const override { return 6; }
  [[nodiscard]] std::size_t part_words() const override { return 6; }
  void begin_rank(Words part, std::uint64_t cells) override;
  void check_cell(Words cell, std::uint64_t elements) override;
  void add(std::span<const std::byte> data, std::uint64_t digest) override;
  void end() const override;
  [[nodiscard]] std::string name_of(Words cell) const override;

 private:
  using Corner = std::array<std::int64_t, 3>;  ///< z, y, x
  static void add_corners(std::map<Corner, int>& corners, const std::array<std::int64_t, 6>& box, int sign);

  std::array<std::int64_t, 3> extents_{};
  std::array<std::int64_t, 6> part_{};
  /// The differences of "how many boxes hold this point" along x, y and z. They say all of it, and are zero
  /// but at corners that no neighbour has.
  std::map<Corner, int> corners_;
};

/// Cells with keys that ascend in each rank.
class KeyedCheck : public SetCheck {
 public:
  [[nodiscard]] std::size_t cell_words() const override { return 1; }
  [[nodiscard]] std::size_t part_words() const override { return 2; }
  void begin_rank(Words part, std::uint64_t cells) override;
  void check_cell(Words cell, std::uint64_t elements) override;
  void end_rank() override;
  void end() const override;
  [[nodiscard]] std::string name_of(Words cell) const override;

 protected:
  /// Several cells of a rank may have one key if they may `repeat`.
  explicit KeyedCheck(bool repeat) : repeat_(repeat) {}
  /// Notes bytes that only fill a word.
  void note_filling(std::span<const std::byte> filling);

 private:
  std::uint64_t lowest_ = 0, highest_ = 0, last_ = 0;
  bool repeat_, has_last_ = false, filled_ = false;
};

/// Rows, all of one length.
class RowsCheck final : public KeyedCheck {
 public:
  explicit RowsCheck(const Elements& data);
  void add(std::span<const std::byte> data, std::uint64_t digest) override;

 private:
  std::size_t row_bytes_ = 0, padded_bytes_ = 0;
};

/// Items, each of its own length.
class ItemsCheck final : public KeyedCheck {
 public:
  explicit ItemsCheck(const Elements& data);
  void add(std::span<const std::byte> data, std::uint64_t digest) override;
};

}  // namespace tailrace::checkpoint
