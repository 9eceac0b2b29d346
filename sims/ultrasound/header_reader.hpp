// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "h5/file.hpp"
#include "tailrace/error.hpp"

namespace tailrace::ultrasound {

/// Reads scalars, lists and texts of an input file and keeps the list of what is wrong. Whatever could not be
/// read or is not accepted is marked there and absent from the result. @local
class HeaderReader {
 public:
  static constexpr std::int64_t any_integer = std::numeric_limits<std::int64_t>::max();

  /// Both have to outlive the reader.
  HeaderReader(const h5::File& file, Problems& problems) : file_(file), problems_(problems) {}

  [[nodiscard]] bool has(const std::string& name) const { return file_.look_up(name) != h5::Found::nothing; }

  /// The shape of a dataset that is there, of this type, with the attributes that k-Wave's own reader checks,
  /// and whose values really lie in the file.
  std::optional<h5::Shape> shape(const std::string& name, h5::ElementType type);

  /// A number within limits; `values` says in a message what is accepted, instead of the limits.
  std::optional<std::int64_t> integer(const std::string& name, std::int64_t least, std::int64_t most,
                                      const std::string& values = {});
  /// A number that must be finite and at least (or, if `open`, above) `least`.
  std::optional<double> real(const std::string& name, double least, bool open);
  /// A flag of something that this program does not compute; it has to be 0 or, if `optional`, absent.
  void must_be_zero(const std::string& name, const std::string& reason, bool optional);
  /// A list of integers in any shape. `item` is what it lists, for a message.
  std::optional<std::vector<std::uint64_t>> list(const std::string& name, const char* item);

  /// A text attribute of the root without spaces at its end; `wanted` is what a missing one should be.
  std::optional<std::string> text(const std::string& name, const std::string& wanted = {});
  /// A text attribute of the root that has to have this value.
  void must_be(const std::string& name, const std::string& wanted);

  void add(const std::string& what, const std::string& fix) { problems_.add(what, fix); }
  [[nodiscard]] std::size_t problems() const { return problems_.size(); }

 private:
  bool is_dataset(const std::string& name);
  bool has_good_attributes(const std::string& name, h5::ElementType type);
  bool is_stored(const std::string& name, const h5::Shape& shape, h5::ElementType type);
  bool is_scalar(const std::string& name, h5::ElementType type);
  /// What HDF5 cannot do in a damaged file becomes a problem; returns whether it could.
  bool attempt(const std::function<void()>& action);

  const h5::File& file_;
  Problems& problems_;
};

/// A text of a file for a message: in quotes, its start only if it is long, without what no terminal shows.
std::string quoted(const std::string& text);

/// Returns how many entries lie outside 1..most and where the first one is, for a message; nothing if none
/// does.
std::optional<std::string> entries_outside(const std::vector<std::uint64_t>& values, std::uint64_t most);

}  // namespace tailrace::ultrasound
