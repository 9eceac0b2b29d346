// SPDX-License-Identifier: BSD-3-Clause
#include "fragments/document.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tailrace::fragments {

void DocumentProblems::add(const Place& at, const std::string& text) {
  if (at.file < 0)
    problems_.add(text);
  else
    problems_.add(fmt::format("{}:{}:{}: {}", image_->files[static_cast<std::size_t>(at.file)].name, at.line,
                              at.column, text));
}

static std::optional<Place> place_of(const Json& json) {
  const auto is_number = [](const Json& entry) { return entry.is_number_integer(); };
  if (!json.is_array() || json.size() != 3 || !std::ranges::all_of(json, is_number)) return {};
  return Place{json[0].get<int>(), json[1].get<int>(), json[2].get<int>()};
}

Node::Node(const Json& json, Place around, DocumentProblems& problems)
    : json_(&json), at_(around), problems_(&problems) {
  if (!json.is_object()) problem(fmt::format("an object is expected, not {}", json.dump()));
  if (!has("at")) return;
  if (const auto place = place_of(json["at"]))
    at_ = *place;
  else
    problem("at is no list of file, line and column");
}

std::string Node::text(const char* key) const {
  if (has(key) && (*json_)[key].is_string()) return (*json_)[key].get<std::string>();
  problem(fmt::format("the text '{}' is missing", key));
  return {};
}

std::string Node::text(const char* key, const std::string& missing) const {
  return has(key) ? text(key) : missing;
}

int Node::number(const char* key, int missing) const {
  if (!has(key)) return missing;
  if ((*json_)[key].is_number_integer()) return (*json_)[key].get<int>();
  problem(fmt::format("'{}' is no integer", key));
  return missing;
}

const Json& Node::list(const char* key) const {
  static const Json empty = Json::array();
  if (!has(key)) return empty;
  if ((*json_)[key].is_array()) return (*json_)[key];
  problem(fmt::format("'{}' is no list", key));
  return empty;
}

void Node::allow(std::initializer_list<std::string_view> fields) const {
  if (!json_->is_object()) return;
  for (const auto& entry : json_->items())
    if (entry.key() != "at" && std::ranges::find(fields, entry.key()) == fields.end())
      problem(fmt::format("unknown field '{}'", entry.key()));
}

}  // namespace tailrace::fragments
