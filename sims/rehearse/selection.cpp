// SPDX-License-Identifier: BSD-3-Clause
#include "selection.hpp"

#include <fmt/format.h>

#include <array>
#include <limits>

#include "base/text.hpp"
#include "numbers.hpp"
#include "tailrace/error.hpp"

namespace tailrace::rehearse {

namespace {

constexpr auto most = std::numeric_limits<std::int32_t>::max();
constexpr std::size_t corner_numbers = 6;

Error bad(const std::string& text, const std::string& what) {
  return Error(ErrorInfo{.kind = ErrorKind::usage,
                         .message = fmt::format("\"{}\" {}", text, what),
                         .path = {},
                         .hint = fmt::format("one of {}", selection_forms)});
}

std::int64_t number(const std::string& whole, const std::string& text, std::int64_t least) {
  const auto value = parse_number<std::int64_t>(text, least, most);
  if (!value) throw bad(whole, fmt::format("has \"{}\" where a number from {} on belongs", text, least));
  return *value;
}

Selection::Share parse_share(const std::string& whole, const std::string& text) {
  if (text == "even") return Selection::Share::even;
  if (text == "uneven") return Selection::Share::uneven;
  if (text == "one") return Selection::Share::one;
  throw bad(whole, fmt::format("has an unknown share \"{}\"", text));
}

Index3 parse_size(const std::string& whole, const std::string& text) {
  const auto parts = split_text(text, 'x');
  if (parts.size() != 3) throw bad(whole, fmt::format("has \"{}\" where a size such as 8x8x4 belongs", text));
  return {number(whole, parts[0], 1), number(whole, parts[1], 1), number(whole, parts[2], 1)};
}

/// KEY=VALUE behind the number of boxes or points.
void set_key(Selection& selection, const std::string& pair) {
  const auto& whole = selection.text;
  const auto equals = pair.find('=');
  const auto key = pair.substr(0, equals);
  const auto value = equals == std::string::npos ? "" : pair.substr(equals + 1);
  if (key == "size" && selection.kind == Selection::Kind::boxes)
    selection.size = parse_size(whole, value);
  else if (key == "share")
    selection.share = parse_share(whole, value);
  else if (key == "rank")
    selection.owner = static_cast<int>(number(whole, value, 0));
  else if (key == "seed")
    selection.seed = static_cast<std::uint64_t>(number(whole, value, 0));
  else
    throw bad(whole, fmt::format("has an unknown key \"{}\"", key));
}

void parse_many(Selection& selection, const std::string& list) {
  const auto parts = split_text(list, ',');
  selection.count = number(selection.text, parts[0], 1);
  for (std::size_t i = 1; i < parts.size(); ++i) set_key(selection, parts[i]);
  if (selection.owner >= 0 && selection.share != Selection::Share::one)
    throw bad(selection.text, "names a rank, which needs share=one");
}

void parse_box(Selection& selection, const std::string& list) {
  const auto parts = split_text(list, ',');
  if (parts.size() != corner_numbers) throw bad(selection.text, "has not six numbers");
  std::array<std::int64_t, corner_numbers> n{};
  for (std::size_t i = 0; i < n.size(); ++i) n[i] = number(selection.text, parts[i], 0);
  selection.box = {{n[0], n[1], n[2]}, {n[3] + 1, n[4] + 1, n[5] + 1}};
  if (selection.box.empty()) throw bad(selection.text, "is empty: the low corner comes first");
}

}  // namespace

Selection parse_selection(const std::string& text) {
  using Kind = Selection::Kind;
  Selection selection;
  selection.text = text;
  const std::array axes{"x", "y", "z"};
  for (std::size_t axis = 0; axis < axes.size(); ++axis) {
    const std::string name = axes[axis];
    if (text != name && !text.starts_with(name + "=")) continue;
    selection.kind = Kind::cut;
    selection.axis = axis;
    if (text != name) selection.index = number(text, text.substr(2), 0);
    return selection;
  }
  const auto colon = text.find(':');
  const auto kind = text.substr(0, colon);
  const auto list = colon == std::string::npos ? "" : text.substr(colon + 1);
  if (text == "whole" || text == "none") {
    selection.kind = text == "whole" ? Kind::whole : Kind::none;
  } else if (text == "varying") {
    selection.kind = Kind::varying;
  } else if (kind == "box") {
    selection.kind = Kind::box;
    parse_box(selection, list);
  } else if (kind == "boxes" || kind == "points") {
    selection.kind = kind == "boxes" ? Kind::boxes : Kind::points;
    parse_many(selection, list);
  } else {
    throw bad(text, "is no selection");
  }
  return selection;
}

}  // namespace tailrace::rehearse
