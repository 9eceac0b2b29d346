// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "tailrace/box.hpp"
#include "tailrace/comm.hpp"
#include "tailrace/dataset.hpp"

/// Checkpoints: what a simulation says of its state, and how that reaches a disk and comes back on any number
/// of ranks (docs/formats/checkpoint.md).
namespace tailrace::checkpoint {

/// A field as a rank holds it: the values of its own box, x contiguous, in memory of the simulation, which is
/// read when the state is saved and filled when it is restored.
struct FieldState {
  void* data = nullptr;
  h5::ElementType type = h5::ElementType::float64;  ///< float32 or float64
  Index3 domain;                                    ///< the boxes of all ranks cover it once
  Box box;                                          ///< in global indices; may be empty
  std::int64_t stride_y = 0, stride_z = 0;          ///< in elements
  /// For a field in the memory of a device, or in several arrays, in place of `data` and the strides: `read`
  /// copies the values of a part of the box, x fastest, without gaps, when they are saved, `write` when they
  /// are restored. If one of them is empty, that direction uses `data`.
  std::function<void(const Box& part, std::span<std::byte> out)> read = {};
  std::function<void(const Box& part, std::span<const std::byte> in)> write = {};
};

/// A member of a record.
struct Member {
  std::string name;
  std::string type;         ///< as numpy has it, such as "<f8"
  std::int64_t offset = 0;  ///< in bytes
  std::int64_t count = 1;

  friend bool operator==(const Member&, const Member&) = default;
};

struct RowType {
  std::int64_t bytes = 0;
  std::vector<Member> members;

  friend bool operator==(const RowType&, const RowType&) = default;
};

/// Keys from `begin` on, up to but without `end`.
struct KeyRange {
  std::uint64_t begin = 0, end = 0;
};

/// Rows of one type in cells that have keys: particles in cells of space, elements of a mesh by their
/// Morton key, what belongs to a rank by its number. Several ranks may have rows of one cell.
class RowSet {
 public:
  /// Rows of this rank in one cell.
  struct Cell {
    std::uint64_t key = 0;
    std::int64_t count = 0;
  };

  RowSet() = default;
  RowSet(const RowSet&) = delete;
  RowSet& operator=(const RowSet&) = delete;
  virtual ~RowSet() = default;

  [[nodiscard]] virtual RowType type() const = 0;

  /// Saving: the cells of which this rank has rows, keys ascending. @local
  [[nodiscard]] virtual std::vector<Cell> cells() const = 0;
  /// Saving: copies all rows of a cell, by its number in that list, one behind the other. @local
  virtual void read(std::size_t cell, std::span<std::byte> rows) const = 0;

  /// Restoring: forgets all rows, and says of which cells this rank may own some, ascending. @local
  [[nodiscard]] virtual std::vector<KeyRange> begin_restore() = 0;
  /// Restoring: whether a row of such a cell belongs to this rank: of all ranks, to one. @local
  [[nodiscard]] virtual bool owns(std::uint64_t key, std::span<const std::byte> row) const = 0;
  /// Restoring: takes a row that it owns. Those of a cell come in the order in which they were saved, if
  /// one rank had them all. @local
  virtual void add(std::uint64_t key, std::span<const std::byte> row) = 0;
};

/// Items, each a string of bytes of any length, in cells that have keys: what has no fixed size. Several
/// ranks may have items of one cell.
class ItemSet {
 public:
  struct Item {
    std::uint64_t key = 0;
    std::int64_t bytes = 0;
  };

  ItemSet() = default;
  ItemSet(const ItemSet&) = delete;
  ItemSet& operator=(const ItemSet&) = delete;
  virtual ~ItemSet() = default;

  /// Saving: the items of this rank, keys ascending, equal ones behind each other. @local
  [[nodiscard]] virtual std::vector<Item> items() const = 0;
  /// Saving: copies an item, by its number in that list, to memory of its length. @local
  virtual void read(std::size_t item, std::span<std::byte> bytes) const = 0;

  /// Restoring: forgets all items, and says of which keys this rank may own some, ascending. @local
  [[nodiscard]] virtual std::vector<KeyRange> begin_restore() = 0;
  /// Restoring: whether an item with such a key belongs to this rank: of all ranks, to one. @local
  [[nodiscard]] virtual bool owns(std::uint64_t key, std::span<const std::byte> bytes) const = 0;
  /// Restoring: takes an item that it owns. Those with one key come in the order in which they were saved, if
  /// one rank had them all. @local
  virtual void add(std::uint64_t key, std::span<const std::byte> bytes) = 0;
};

/// Numbers that a value of the state may be.
template <class T>
concept Number = std::integral<T> || std::floating_point<T>;

/// Describes what passes through the one function `state(StateArchive&)` of a simulation: it names all that
/// its future depends on, and the archive saves or restores it. All ranks name the same things in the same
/// order. One function serves both directions:
///
///     const auto state = [&](StateArchive& archive) {
///       archive.component("heat", 1, [&](int) { archive.field("temperature", {...}); });
///     };
///     save(comm, directory, origin, state, 2);              // all ranks; to disk
///     restore_newest(comm, directory, "heat", state);       // all ranks, of any number; from there
class StateArchive {
 public:
  StateArchive() = default;
  StateArchive(const StateArchive&) = delete;
  StateArchive& operator=(const StateArchive&) = delete;
  virtual ~StateArchive() = default;

  [[nodiscard]] virtual bool restores() const noexcept = 0;
  /// Returns whether a component can pass: any that is saved, and of those that are restored what an older
  /// program had. The same on all ranks.
  [[nodiscard]] virtual bool has(const std::string& /*component*/) const { return true; }

  /// What `body` names belongs to this component; it gets the version of what there is: the given
  /// one, or that of an older program. Errors (input): it is missing, or newer than `version`.
  void component(const std::string& name, int version, const std::function<void(int version)>& body);

  /// A number, the same on all ranks. It comes back as it was, bit for bit.
  template <Number T>
  void value(const std::string& name, T& number) {
    std::vector<T> one{number};
    values(name, one);
    if (one.size() != 1) refuse_count(name, one.size());
    number = one[0];
  }
  /// Numbers, the same on all ranks; their count is part of the state.
  template <Number T>
  void values(const std::string& name, std::vector<T>& numbers) {
    using Stored =
        std::conditional_t<std::floating_point<T>, double,
                           std::conditional_t<std::signed_integral<T>, std::int64_t, std::uint64_t>>;
    std::vector<std::byte> bytes(numbers.size() * sizeof(Stored));
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const auto stored = static_cast<Stored>(numbers[i]);
      std::memcpy(bytes.data() + i * sizeof(Stored), &stored, sizeof(Stored));
    }
    pass_numbers(name, h5::element_type_of<Stored>(), bytes);
    numbers.resize(bytes.size() / sizeof(Stored));
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      Stored stored;
      std::memcpy(&stored, bytes.data() + i * sizeof(Stored), sizeof(Stored));
      numbers[i] = static_cast<T>(stored);
    }
  }
  /// A text, the same on all ranks, of at most 60 000 bytes.
  void text(const std::string& name, std::string& text) { pass_text(name, text); }
  /// A field. On restoring, every point of `field.box` is filled. Errors (input): another size or type.
  void field(const std::string& name, const FieldState& field) { pass_field(name, field); }
  /// Rows. Errors (input): another type of rows.
  void rows(const std::string& name, RowSet& rows) { pass_rows(name, rows); }
  /// The same for a set that is made for the purpose: it lives as long as the archive.
  void rows(const std::string& name, std::unique_ptr<RowSet> rows) {
    kept_.push_back(std::move(rows));
    pass_rows(name, *kept_.back());
  }
  /// Items, each of its own length.
  void items(const std::string& name, ItemSet& items) { pass_items(name, items); }

 private:
  [[noreturn]] static void refuse_count(const std::string& name, std::size_t count);
  /// Returns the version of what there is.
  virtual int enter(const std::string& component, int version) = 0;
  virtual void pass_numbers(const std::string& name, h5::ElementType type, std::vector<std::byte>& bytes) = 0;
  virtual void pass_text(const std::string& name, std::string& text) = 0;
  virtual void pass_field(const std::string& name, const FieldState& field) = 0;
  virtual void pass_rows(const std::string& name, RowSet& rows) = 0;
  virtual void pass_items(const std::string& name, ItemSet& items) = 0;

  std::vector<std::unique_ptr<RowSet>> kept_;
};

/// Names the state of a simulation to an archive. @collective
using StateFunction = std::function<void(StateArchive&)>;

/// Whose state is saved, and when.
struct Origin {
  std::string simulation;  ///< as in run.json
  std::string program;     ///< name and version
  StepIndex step = 0;
  double time_s = 0;
};

/// Saves a state and waits until it is on the device, under its name in the directory of checkpoints.
/// @collective{comm}, synchronises. Errors, the same on all ranks: the state is refused (input), or cannot be
/// written (io); older checkpoints stay as they are.
/// @param directory  of the checkpoints of one run, made if need be; seen by all ranks
/// @param origin  whose state it is; the same on all ranks
/// @param state  names the state; called more than once
/// @param keep  the newest checkpoints that stay, this one included; older ones are removed. At least 1
void save(mpi::CommView comm, const std::string& directory, const Origin& origin, const StateFunction& state,
          int keep);

/// Describes what `restore_newest` did.
struct Restored {
  StepIndex step = 0;
  std::string path;
  std::vector<std::string> warnings;  ///< the same on all ranks: checkpoints that were skipped and why, parts
                                      ///< that nobody asked for
};

/// Restores the newest checkpoint in `directory` that is whole; what is damaged or incomplete is skipped,
/// with a warning. @collective{comm}, synchronises. Errors (input), on all ranks: there is none, with the
/// reason for each that was looked at.
Restored restore_newest(mpi::CommView comm, const std::string& directory, const std::string& simulation,
                        const StateFunction& state);

}  // namespace tailrace::checkpoint
