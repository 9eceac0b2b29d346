// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "choose.hpp"
#include "h5/file.hpp"

/// k-Wave inputs as tables that are changed before they are written.
namespace tailrace::fuzz {

/// Describes how a dataset is in the file.
enum class Form {
  // A reader sees the same values.
  plain,
  chunked,
  deflated,
  checked,  ///< shuffled and with checksums
  extendable,
  compact,
  linked_soft,
  linked_hard,
  big_endian,
  later,  ///< contiguous, allocated only when written
  // A reader gets something else, or nothing.
  double_precision,
  small_integer,
  signed_integer,
  half_integer,
  text,
  variable_text,
  compound,
  reference,
  array,
  variable_length,
  enumeration,
  opaque,
  bits,
  scalar_space,
  null_space,
  unwritten,  ///< fill values only
  filled_with_nan,
  huge,         ///< a shape far beyond what is stored
  overflowing,  ///< a shape whose product does not fit into 64 bits
  external,     ///< values in another file, which is there
  external_absent,
  external_pipe,
  virtual_source,
  dangling,
  cyclic,
  link_to_file,
  link_to_pipe,
  link_to_itself,  ///< by an external link
  group,
  named_type,
};
constexpr int forms = static_cast<int>(Form::named_type) + 1;
constexpr int harmless_forms = static_cast<int>(Form::later) + 1;
const char* name_of(Form form);

struct Item {
  h5::Shape shape;
  std::variant<std::vector<float>, std::vector<std::uint64_t>> values;
  std::map<std::string, std::string> attributes;
  Form form = Form::plain;

  [[nodiscard]] bool is_integer() const { return values.index() == 1; }
};

/// Describes how a text attribute of the root is in the file.
enum class TextForm { terminated, padded, spaces, variable, number, list, group_of_texts };

struct Text {
  std::string value;
  TextForm form = TextForm::terminated;
};

struct Case {
  std::map<std::string, Item> items;
  std::map<std::string, Text> texts;
  std::vector<std::string> options;  ///< says what to sample
};

/// A valid input with a random choice of everything that k-Wave inputs can have, small enough to run at once.
Case valid_case(Choose& choose);

/// Writes an input; helper files that some forms need come beside it.
void write_case(const Case& input, const std::string& path);

}  // namespace tailrace::fuzz
