// SPDX-License-Identifier: BSD-3-Clause
#include "tailrace/run/case_schema.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "tailrace/error.hpp"

namespace tailrace::run {

namespace {

std::string quoted(const std::string& text) {
  return nlohmann::json(text).dump();  // TOML writes it alike
}

/// "output[0].every" as the tables have it: "output[].every".
std::string pattern_of(const std::string& key) {
  std::string pattern;
  for (const char c : key)
    if (pattern.empty() || pattern.back() != '[' || c == ']') pattern += c;
  return pattern;
}

bool is_text(KeyType type) {
  return type == KeyType::text || type == KeyType::file;
}

/// The table of a key and its name there: "output[]" and "every".
std::pair<std::string, std::string> parts_of(const std::string& name) {
  const auto dot = name.rfind('.');
  return {name.substr(0, dot), name.substr(dot + 1)};
}

/// Markdown without links and marks of code, for plain text.
std::string plain(const std::string& markdown) {
  std::string text;
  for (std::size_t i = 0; i < markdown.size(); ++i) {
    const auto close = markdown[i] == '[' ? markdown.find("](", i) : std::string::npos;
    if (close != std::string::npos && markdown.find(']', i) == close) {
      text += plain(markdown.substr(i + 1, close - i - 1));
      i = markdown.find(')', close);
    } else if (markdown[i] != '`') {
      text += markdown[i];
    }
  }
  return text;
}

/// A value for the template: the default, or the one that the fix shows.
std::string sample_of(const Key& key) {
  if (const auto fallback = key.toml_fallback(); !fallback.empty()) return fallback;
  const auto [table, name] = parts_of(key.name);
  if (key.fix.starts_with(name + " = ")) {
    const auto value = key.fix.substr(name.size() + 3);
    int depth = 0;
    bool in_text = false;
    for (std::size_t i = 0; i < value.size(); ++i) {
      const char c = value[i];
      if (c == '"') in_text = !in_text;
      if (in_text) continue;
      if (c == '[' || c == '{') ++depth;
      if (c == ']' || c == '}') --depth;
      if (depth == 0 && (c == ',' || c == ' ')) return value.substr(0, i);
    }
    return value;
  }
  if (!key.words.empty()) return quoted(key.words.front());
  static const std::map<KeyType, std::string> samples{
      {KeyType::boolean, "false"},       {KeyType::integer, "1"},     {KeyType::real, "1.0"},
      {KeyType::text, "\"\""},           {KeyType::file, "\"FILE\""}, {KeyType::texts, "[\"\"]"},
      {KeyType::files, "[\"FILE\"]"},    {KeyType::integers, "[1]"},  {KeyType::reals, "[1.0]"},
      {KeyType::integer_lists, "[[1]]"}, {KeyType::any, "\"\""}};
  return samples.at(key.type);
}

nlohmann::ordered_json number_schema(const char* type, const Key& key) {
  nlohmann::ordered_json json{{"type", type}};
  const auto put = [&](const char* name, double limit) {
    if (key.type == KeyType::integer || key.type == KeyType::integers)
      json[name] = static_cast<std::int64_t>(limit);
    else
      json[name] = limit;
  };
  if (key.limits.least > std::numeric_limits<double>::lowest()) put("minimum", key.limits.least);
  if (key.limits.most < std::numeric_limits<double>::max()) put("maximum", key.limits.most);
  return json;
}

nlohmann::ordered_json text_schema(const Key& key) {
  nlohmann::ordered_json json{{"type", "string"}};
  if (!key.words.empty()) json["enum"] = key.words;
  return json;
}

nlohmann::ordered_json list_of(const nlohmann::ordered_json& items) {
  return {{"type", "array"}, {"items", items}};
}

nlohmann::ordered_json value_schema(const Key& key) {
  switch (key.type) {
    case KeyType::boolean:
      return {{"type", "boolean"}};
    case KeyType::integer:
      return number_schema("integer", key);
    case KeyType::real:
      return number_schema("number", key);
    case KeyType::text:
    case KeyType::file:
      return text_schema(key);
    case KeyType::texts:
    case KeyType::files:
      return list_of(text_schema(key));
    case KeyType::integers:
      return list_of(number_schema("integer", key));
    case KeyType::reals:
      return list_of(number_schema("number", key));
    case KeyType::integer_lists:
      return list_of(list_of(number_schema("integer", key)));
    case KeyType::any:
      break;
  }
  return nlohmann::ordered_json::object();
}

nlohmann::ordered_json default_of(const Key& key) {
  return is_text(key.type) ? nlohmann::ordered_json(key.fallback)
                           : nlohmann::ordered_json::parse(key.fallback);
}

/// The schema of the table that holds a key, made on the way; its name is left in `name`.
nlohmann::ordered_json& table_of(nlohmann::ordered_json& root, std::string& name) {
  const auto dot = name.find('.');
  if (dot == std::string::npos) return root;
  const auto first = name.substr(0, dot);
  name = name.substr(dot + 1);
  const bool list = first.ends_with("[]");
  auto& place = root["properties"][list ? first.substr(0, first.size() - 2) : first];
  if (list) place["type"] = "array";
  auto& table = list ? place["items"] : place;
  if (!table.contains("properties")) {
    if (!table.contains("x-meaning")) table["type"] = "object";  // else it is a key too, with other values
    table["additionalProperties"] = false;
    table["properties"] = nlohmann::ordered_json::object();
  }
  return table_of(table, name);
}

void add_key(nlohmann::ordered_json& root, const Key& key) {
  auto name = key.name;
  auto& table = table_of(root, name);
  auto value = value_schema(key);
  value["description"] = plain(key.meaning);
  if (!key.fallback.empty()) value["default"] = default_of(key);
  value["x-meaning"] = key.meaning;
  if (!key.otherwise.empty()) value["x-default"] = key.otherwise;
  if (!key.now.empty()) value["deprecated"] = true;
  if (key.required) table["required"].push_back(name);
  table["properties"][name] = std::move(value);
}

}  // namespace

std::string Key::toml_fallback() const {
  return fallback.empty() || !is_text(type) ? fallback : quoted(fallback);
}

const Key* CaseSchema::find(const std::string& key) const {
  const auto pattern = pattern_of(key);
  const auto found = std::find_if(keys.begin(), keys.end(), [&](const Key& k) { return k.name == pattern; });
  return found != keys.end() ? &*found : nullptr;
}

const Key& CaseSchema::at(const std::string& key) const {
  if (const Key* const found = find(key)) return *found;
  throw Error(ErrorKind::internal,
              fmt::format("no schema of {} has the key {}", simulation, pattern_of(key)));
}

std::string case_template(const CaseSchema& schema) {
  auto text = fmt::format("# A case of {}. Keys that are commented out have the value shown, or none.\n",
                          schema.simulation);
  std::string last;
  for (const auto& key : schema.keys) {
    auto [table, name] = parts_of(key.name);
    const auto inner = table.find("].");  // a list in a table of a list: written as one value
    if (inner != std::string::npos || !key.now.empty()) continue;
    if (table != last) {
      const bool list = table.ends_with("[]");
      const bool used = std::any_of(schema.keys.begin(), schema.keys.end(), [&, at = table](const Key& k) {
        return k.required && parts_of(k.name).first == at;
      });
      const auto head =
          list ? fmt::format("[[{}]]", table.substr(0, table.size() - 2)) : fmt::format("[{}]", table);
      text += fmt::format("\n{}{}\n", list || !used ? "# " : "", head);
      last = table;
    }
    const bool commented = !key.required || table.ends_with("[]");
    const auto mark = key.required            ? " (required)"
                      : key.otherwise.empty() ? ""
                                              : " (default: " + plain(key.otherwise) + ")";
    text += fmt::format("# {}{}\n{}{} = {}\n", plain(key.meaning), mark, commented ? "# " : "", name,
                        sample_of(key));
  }
  return text;
}

nlohmann::ordered_json json_schema(const CaseSchema& schema) {
  nlohmann::ordered_json root{{"$schema", "http://json-schema.org/draft-07/schema#"},
                              {"title", "Tailrace case of " + schema.simulation},
                              {"type", "object"},
                              {"additionalProperties", false},
                              {"properties", nlohmann::ordered_json::object()}};
  for (const auto& key : schema.keys) add_key(root, key);
  return root;
}

}  // namespace tailrace::run
