// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/aligned.hpp"
#include "h5/file.hpp"
#include "tailrace/box.hpp"
#include "tailrace/checkpoint.hpp"
#include "tailrace/error.hpp"

namespace tailrace::ultrasound {

/// One array of a k-Wave checkpoint file as this rank holds it: the values of its own box, x contiguous. The
/// memory belongs to the solver, or is a copy of what a device has.
struct StateArray {
  std::string name;  ///< as in k-Wave's checkpoint files
  void* data = nullptr;
  h5::ElementType type = h5::ElementType::float32;      ///< float32 or float64
  Box box;                                              ///< in global indices; may be empty
  std::int64_t stride_y = 0, stride_z = 0;              ///< in elements
  std::shared_ptr<AlignedVector<std::byte>> copy = {};  ///< the memory, of a copy
  std::function<void()> put_back = {};                  ///< from the copy to the device, once it has changed

  /// Room for a copy. @local
  static StateArray copy_of(std::string name, h5::ElementType type, const Box& box) {
    const Index3 n = box.extents();
    auto values = std::make_shared<AlignedVector<std::byte>>(static_cast<std::size_t>(box.volume()) *
                                                             h5::size_bytes(type));
    return {.name = std::move(name),
            .data = values->data(),
            .type = type,
            .box = box,
            .stride_y = n.x,
            .stride_z = n.x * n.y,
            .copy = values};
  }
};

/// Takes all arrays of a checkpoint file, which are there until it returns.
using ArrayUse = std::function<void(const std::vector<StateArray>&)>;
/// Calls what it is given with the arrays of a checkpoint file, which it makes for that.
using ArraySource = std::function<void(const ArrayUse&)>;

/// The archive behind k-Wave's checkpoint files, which hold arrays and nothing else: it lists them, for
/// `write_checkpoint` and `read_checkpoint`.
class ArrayList final : public checkpoint::StateArchive {
 public:
  /// The arrays that a state function names.
  static std::vector<StateArray> of(const checkpoint::StateFunction& state) {
    ArrayList list;
    state(list);
    return std::move(list.arrays_);
  }
  [[nodiscard]] bool restores() const noexcept override { return false; }

 private:
  ArrayList() = default;
  int enter(const std::string&, int version) override { return version; }
  void pass_numbers(const std::string&, h5::ElementType, std::vector<std::byte>&) override { refuse(); }
  void pass_text(const std::string&, std::string&) override { refuse(); }
  void pass_rows(const std::string&, checkpoint::RowSet&) override { refuse(); }
  void pass_items(const std::string&, checkpoint::ItemSet&) override { refuse(); }
  void pass_field(const std::string& name, const checkpoint::FieldState& field) override {
    if (field.read) return add_copy(name, field);
    arrays_.push_back({.name = name,
                       .data = field.data,
                       .type = field.type,
                       .box = field.box,
                       .stride_y = field.stride_y,
                       .stride_z = field.stride_z});
  }
  void add_copy(const std::string& name, const checkpoint::FieldState& field) {
    auto array = StateArray::copy_of(name, field.type, field.box);
    field.read(field.box, *array.copy);
    array.put_back = [copy = array.copy, box = field.box, write = field.write] { write(box, *copy); };
    arrays_.push_back(std::move(array));
  }
  [[noreturn]] static void refuse() {
    throw Error(ErrorKind::internal, "k-Wave's checkpoint files hold arrays only");
  }

  std::vector<StateArray> arrays_;
};

}  // namespace tailrace::ultrasound
