// SPDX-License-Identifier: BSD-3-Clause
#include "header_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tailrace::ultrasound {

namespace {

/// Without spaces at the end, with which Fortran programs fill their texts.
std::string trimmed(std::string text) {
  text.resize(text.find_last_not_of(' ') + 1);
  return text;
}

}  // namespace

std::string quoted(const std::string& text) {
  constexpr std::size_t longest = 60;
  std::string shown = text.substr(0, longest);
  for (auto& letter : shown)
    if (letter < ' ' || letter > '~') letter = '?';
  return fmt::format("\"{}{}\"", shown, text.size() > longest ? "..." : "");
}

bool HeaderReader::attempt(const std::function<void()>& action) {
  try {
    action();
    return true;
  } catch (const Error& error) {
    if (error.info().kind != ErrorKind::io) throw;
    const std::string prefix = file_.path() + ": ", &message = error.info().message;
    problems_.add(message.starts_with(prefix) ? message.substr(prefix.size()) : message,
                  "copy or generate the file again");
    return false;
  }
}

bool HeaderReader::is_dataset(const std::string& name) {
  switch (file_.look_up(name)) {
    case h5::Found::dataset:
      return true;
    case h5::Found::nothing:
      add(fmt::format("dataset {} is missing", name),
          "write it, or regenerate the input with k-Wave's own tools");
      return false;
    case h5::Found::other_object:
      add(fmt::format("{} is no dataset", name), "put a dataset of this name in the root group");
      return false;
    case h5::Found::other_file:
      add(fmt::format("dataset {} is a link into another file", name), "copy the dataset into this file");
      return false;
  }
  return false;
}

bool HeaderReader::has_good_attributes(const std::string& name, h5::ElementType type) {
  const std::string wanted = type == h5::ElementType::uint64 ? "long" : "float";
  const auto data_type = trimmed(file_.text_attribute(name, "data_type").value_or(wanted)),
             domain_type = trimmed(file_.text_attribute(name, "domain_type").value_or("real"));
  if (data_type == wanted && domain_type == "real") return true;
  add(fmt::format("dataset {} has attributes data_type = {}, domain_type = {}", name, quoted(data_type),
                  quoted(domain_type)),
      fmt::format("data_type = \"{}\" and domain_type = \"real\"", wanted));
  return false;
}

bool HeaderReader::is_stored(const std::string& name, const h5::Shape& shape, h5::ElementType type) {
  // Unwritten parts of a dataset read as its fill value. A few megabytes of those may be meant, but a shape
  // far beyond what even compressed values could take comes from a program that did not end well.
  constexpr std::uint64_t believed_bytes = 64 << 20, densest = 4096;
  const auto storage = file_.storage(name);
  if (storage.in_other_files) {
    add(fmt::format("the values of dataset {} lie in other files", name), "copy them into this file");
    return false;
  }
  const auto values = h5::element_count(shape);
  if (values <= (believed_bytes + densest * storage.bytes) / h5::size_bytes(type)) return true;
  add(fmt::format("dataset {} has shape {}, but the file holds only {} bytes of it", name,
                  h5::to_string(shape), storage.bytes),
      "write all its values, or give it the shape that they have");
  return false;
}

std::optional<h5::Shape> HeaderReader::shape(const std::string& name, h5::ElementType type) {
  std::optional<h5::Shape> result;
  attempt([&] {
    if (!is_dataset(name)) return;
    if (file_.type(name) != type) {
      add(fmt::format("dataset {} holds {}", name, file_.type_text(name)),
          fmt::format("store it as {}", h5::to_string(type)));
      return;
    }
    const auto found = file_.shape(name);
    if (found != h5::Shape{1, 1, 1} && !has_good_attributes(name, type)) return;
    if (is_stored(name, found, type)) result = found;
  });
  return result;
}

bool HeaderReader::is_scalar(const std::string& name, h5::ElementType type) {
  const auto found = shape(name, type);
  if (!found) return false;
  if (h5::element_count(*found) == 1) return true;
  add(fmt::format("dataset {} has shape {}", name, h5::to_string(*found)), "one value, shape (1, 1, 1)");
  return false;
}

std::optional<std::int64_t> HeaderReader::integer(const std::string& name, std::int64_t least,
                                                  std::int64_t most, const std::string& values) {
  std::uint64_t value = 0;
  if (!is_scalar(name, h5::ElementType::uint64)) return {};
  if (!attempt([&] { file_.read<std::uint64_t>(name, std::span(&value, 1)); })) return {};
  if (value <= static_cast<std::uint64_t>(any_integer)) {
    const auto signed_value = static_cast<std::int64_t>(value);
    if (signed_value >= least && signed_value <= most) return signed_value;
  }
  add(fmt::format("{} = {}", name, value), !values.empty() ? values
                                           : most == any_integer
                                               ? fmt::format("at least {}", least)
                                               : fmt::format("a value from {} to {}", least, most));
  return {};
}

std::optional<double> HeaderReader::real(const std::string& name, double least, bool open) {
  float value = 0;
  if (!is_scalar(name, h5::ElementType::float32)) return {};
  if (!attempt([&] { file_.read<float>(name, std::span(&value, 1)); })) return {};
  if (std::isfinite(value) && (open ? value > least : value >= least)) return value;
  add(fmt::format("{} = {}", name, value),
      fmt::format("a finite number {} {}", open ? "above" : "of at least", least));
  return {};
}

void HeaderReader::must_be_zero(const std::string& name, const std::string& reason, bool optional) {
  std::uint64_t value = 0;
  if (optional && !has(name)) return;
  if (!is_scalar(name, h5::ElementType::uint64)) return;
  attempt([&] { file_.read<std::uint64_t>(name, std::span(&value, 1)); });
  if (value != 0) add(fmt::format("{} = {}: {}", name, value, reason), "set it to 0");
}

std::optional<std::vector<std::uint64_t>> HeaderReader::list(const std::string& name, const char* item) {
  const auto found = shape(name, h5::ElementType::uint64);
  if (!found) return {};
  std::vector<std::uint64_t> values(h5::element_count(*found));
  if (values.empty()) {
    add(fmt::format("dataset {} is empty", name), fmt::format("name at least one {}", item));
    return {};
  }
  if (!attempt([&] { file_.read<std::uint64_t>(name, values); })) return {};
  return values;
}

std::optional<std::string> HeaderReader::text(const std::string& name, const std::string& wanted) {
  std::optional<std::string> value;
  if (!attempt([&] { value = file_.text_attribute("/", name); })) return {};
  if (!value)
    add(fmt::format("root attribute {} is missing or no text", name),
        wanted.empty() ? "add it as a text" : fmt::format("{} = \"{}\"", name, wanted));
  else
    value = trimmed(*value);
  return value;
}

void HeaderReader::must_be(const std::string& name, const std::string& wanted) {
  const auto value = text(name, wanted);
  if (value && *value != wanted)
    add(fmt::format("root attribute {} = {}", name, quoted(*value)),
        fmt::format("{} = \"{}\"", name, wanted));
}

std::optional<std::string> entries_outside(const std::vector<std::uint64_t>& values, std::uint64_t most) {
  const auto is_outside = [&](std::uint64_t value) { return value < 1 || value > most; };
  const auto first = std::find_if(values.begin(), values.end(), is_outside);
  if (first == values.end()) return {};
  return fmt::format("{} of {} entries lie outside, first {} at position {}",
                     std::count_if(first, values.end(), is_outside), values.size(), *first,
                     first - values.begin() + 1);
}

}  // namespace tailrace::ultrasound
