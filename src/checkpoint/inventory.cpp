// SPDX-License-Identifier: BSD-3-Clause
#include "inventory.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.hpp"

namespace tailrace::checkpoint {

namespace {

std::vector<std::byte> bytes_of(std::uint64_t number) {
  const auto bytes = std::as_bytes(std::span(&number, 1));
  return {bytes.begin(), bytes.end()};
}

bool is_name(const std::string& name) {
  return !name.empty() && name.find('/') == std::string::npos && name.front() != '.';
}

}  // namespace

std::string Inventory::path_of(const std::string& name) {
  TAILRACE_CHECK(!component_.empty(), "state is named inside a component");
  TAILRACE_CHECK(is_name(name), "the name of a part of the state is a word");
  auto path = fmt::format("{}/{}", component_, name);
  TAILRACE_CHECK(std::find(paths_.begin(), paths_.end(), path) == paths_.end(),
                 "the names of a component differ");
  paths_.push_back(path);
  return path;
}

int Inventory::enter(const std::string& component, int version) {
  TAILRACE_CHECK(is_name(component), "the name of a component is a word");
  component_ = component;
  head_.datasets.push_back({{fmt::format("/components/{}", component), {1}, h5::ElementType::int64, {}},
                            bytes_of(static_cast<std::uint64_t>(version))});
  return version;
}

void Inventory::pass_numbers(const std::string& name, h5::ElementType type, std::vector<std::byte>& bytes) {
  head_.datasets.push_back(
      {{fmt::format("/values/{}", path_of(name)), {bytes.size() / h5::size_bytes(type)}, type, {}}, bytes});
}

void Inventory::pass_text(const std::string& name, std::string& text) {
  constexpr std::size_t longest = 60000;  // an attribute in an object header holds 64 KiB
  TAILRACE_CHECK(text.size() <= longest, "a text of the state has at most 60 000 bytes");
  head_.datasets.push_back({{fmt::format("/texts/{}", path_of(name)),
                             {1},
                             h5::ElementType::uint64,
                             {{.name = "text", .value = text}}},
                            bytes_of(text.size())});
}

void Inventory::pass_field(const std::string& name, const FieldState& field) {
  fields_.emplace_back(path_of(name), field);
}

void Inventory::pass_rows(const std::string& name, RowSet& rows) {
  row_sets_.emplace_back(path_of(name), &rows);
}

void Inventory::pass_items(const std::string& name, ItemSet& items) {
  item_sets_.emplace_back(path_of(name), &items);
}

}  // namespace tailrace::checkpoint
