// SPDX-License-Identifier: BSD-3-Clause
#include "set_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "digest.hpp"
#include "stored_item.hpp"

namespace tailrace::checkpoint {

namespace {

constexpr std::size_t bytes_of_word = 8;

std::array<std::int64_t, 6> box_of(SetCheck::Words words) {
  std::array<std::int64_t, 6> box{};
  for (std::size_t i = 0; i < box.size(); ++i) box[i] = static_cast<std::int64_t>(words[i]);
  return box;
}

/// A box for people: both corners included.
std::string text_of(const std::array<std::int64_t, 6>& box) {
  return fmt::format("x {} to {}, y {} to {}, z {} to {}", box[0], box[3] - 1, box[1], box[4] - 1, box[2],
                     box[5] - 1);
}

bool is_zero(SetCheck::Words words) {
  return std::all_of(words.begin(), words.end(), [](std::uint64_t word) { return word == 0; });
}

/// Bytes of a value of numpy's name, such as "<f8"; 0 if it is none.
std::int64_t bytes_of_type(const std::string& name) {
  const bool known = name.size() == 3 && std::string("<|>").find(name[0]) != std::string::npos &&
                     std::string("fiub").find(name[1]) != std::string::npos;
  return known && std::string("1248").find(name[2]) != std::string::npos ? name[2] - '0' : 0;
}

/// The length of a row by its `row_type`, whose members must lie inside.
std::size_t row_bytes(const std::string& description) {
  using Json = nlohmann::json;
  try {
    const auto table = Json::parse(description);
    const std::int64_t bytes = table.at("bytes");
    bool fits = !table.at("members").empty();
    for (const auto& member : table.at("members")) {
      const std::int64_t offset = member.at("offset"), count = member.at("count");
      const auto each = bytes_of_type(member.at("type"));
      fits = fits && offset >= 0 && each > 0 && offset + count * each <= bytes;
    }
    if (fits) return static_cast<std::size_t>(bytes);
  } catch (const Json::exception&) {  // reported below
  }
  throw Contradiction(fmt::format("record_type is not a type of rows: {}", description.substr(0, 80)));
}

}  // namespace

void need(bool condition, const std::string& problem) {
  if (!condition) throw Contradiction(problem);
}

std::int64_t Elements::bytes_each() const {
  const auto values = shape.size() > 1 ? static_cast<std::int64_t>(shape[1]) : 1;
  return values * static_cast<std::int64_t>(h5::size_bytes(type));
}

FieldCheck::FieldCheck(const Elements& data) {
  const bool real = data.type == h5::ElementType::float32 || data.type == h5::ElementType::float64;
  need(real, fmt::format("data is {}, not float32 or float64", h5::to_string(data.type)));
  auto& [x, y, z] = extents_;
  std::istringstream(data.extents) >> x >> y >> z;
  need(fmt::format("{} {} {}", x, y, z) == data.extents,
       fmt::format("extents is \"{}\", not \"nx ny nz\"", data.extents));
  need(data.shape == h5::Shape{static_cast<std::uint64_t>(x * y * z)},
       fmt::format("data is {}, extents is {}", h5::to_string(data.shape), data.extents));
}

void FieldCheck::begin_rank(Words part, std::uint64_t cells) {
  part_ = box_of(part);
  need(cells > 0 || is_zero(part), fmt::format("a part without cells has the box {}", text_of(part_)));
}

void FieldCheck::check_cell(Words cell, std::uint64_t elements) {
  const auto box = box_of(cell);
  std::int64_t volume = 1;
  bool fits = true, inside = true;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    fits = fits && box[axis] >= 0 && box[axis] < box[axis + 3] && box[axis + 3] <= extents_[axis];
    inside = inside && box[axis] >= part_[axis] && box[axis + 3] <= part_[axis + 3];
    volume *= box[axis + 3] - box[axis];
  }
  need(fits, fmt::format("there is no box {} in the grid", text_of(box)));
  need(elements == static_cast<std::uint64_t>(volume),
       fmt::format("the box {} is said to have {} elements", text_of(box), elements));
  need(inside, fmt::format("the box {} is not in that of its part, {}", text_of(box), text_of(part_)));
  add_corners(corners_, box, 1);
}

void FieldCheck::add_corners(std::map<Corner, int>& corners, const std::array<std::int64_t, 6>& box,
                             int sign) {
  for (std::size_t which = 0; which < 8; ++which) {
    const std::size_t x = which & 1U, y = which >> 1U & 1U, z = which >> 2U;
    const Corner corner{box[2 + 3 * z], box[1 + 3 * y], box[3 * x]};
    auto& count = corners[corner];
    count += (x + y + z) % 2 == 0 ? sign : -sign;
    if (count == 0) corners.erase(corner);
  }
}

void FieldCheck::add(std::span<const std::byte> /*data*/, std::uint64_t digest) {
  sum_ += digest;
}

void FieldCheck::end() const {
  auto corners = corners_;
  add_corners(corners, {0, 0, 0, extents_[0], extents_[1], extents_[2]}, -1);
  if (corners.empty()) return;
  const auto& [z, y, x] = corners.begin()->first;
  throw Contradiction(
      fmt::format("the boxes do not cover the grid once: first wrong at x {}, y {}, z {}", x, y, z));
}

std::string FieldCheck::name_of(Words cell) const {
  return text_of(box_of(cell));
}

RowsCheck::RowsCheck(const Elements& data) : KeyedCheck(false) {
  need(data.type == h5::ElementType::uint64 && data.shape.size() == 2,
       fmt::format("data is {} {}", h5::to_string(data.type), h5::to_string(data.shape)));
  row_bytes_ = row_bytes(data.row_type);
  padded_bytes_ = static_cast<std::size_t>(data.bytes_each());
  need(padded_bytes_ == (row_bytes_ + bytes_of_word - 1) / bytes_of_word * bytes_of_word,
       fmt::format("rows of {} bytes have {} words", row_bytes_, padded_bytes_ / bytes_of_word));
}

void KeyedCheck::begin_rank(Words part, std::uint64_t cells) {
  lowest_ = part[0];
  highest_ = part[1];
  has_last_ = false;
  need(cells > 0 || is_zero(part),
       fmt::format("a part without cells has the keys {} to {}", lowest_, highest_));
}

void KeyedCheck::check_cell(Words cell, std::uint64_t elements) {
  const auto key = cell[0];
  need(elements > 0, fmt::format("the cell with key {} is empty", key));
  need(has_last_ || key == lowest_, fmt::format("the lowest key is {}, the part says {}", key, lowest_));
  need(!has_last_ || key > last_ || (repeat_ && key == last_),
       fmt::format("key {} follows key {}", key, last_));
  last_ = key;
  has_last_ = true;
}

void KeyedCheck::end_rank() {
  need(!has_last_ || last_ == highest_, fmt::format("the highest key is {}, not {}", last_, highest_));
}

void RowsCheck::add(std::span<const std::byte> data, std::uint64_t /*digest*/) {
  for (std::size_t at = 0; at + padded_bytes_ <= data.size(); at += padded_bytes_) {
    const auto row = data.subspan(at, padded_bytes_);
    sum_ += digest_of(row);
    note_filling(row.subspan(row_bytes_));
  }
}

ItemsCheck::ItemsCheck(const Elements& data) : KeyedCheck(true) {
  need(data.type == h5::ElementType::uint64 && data.shape.size() == 1,
       fmt::format("data is {} {}", h5::to_string(data.type), h5::to_string(data.shape)));
}

void ItemsCheck::add(std::span<const std::byte> data, std::uint64_t /*digest*/) {
  while (!data.empty()) {
    const auto item = take_item(data);
    need(item.has_value(), "an item is longer than its cell");
    sum_ += digest_of(item->stored);
    note_filling(item->stored.subspan(bytes_of_word + item->bytes.size()));
  }
}

void KeyedCheck::note_filling(std::span<const std::byte> filling) {
  filled_ = filled_ || std::ranges::any_of(filling, [](std::byte byte) { return byte != std::byte{0}; });
}

void KeyedCheck::end() const {
  need(!filled_, "bytes that fill the last word of a row or item are not zero");
}

std::string KeyedCheck::name_of(Words cell) const {
  return fmt::format("with key {}", cell[0]);
}

}  // namespace tailrace::checkpoint
