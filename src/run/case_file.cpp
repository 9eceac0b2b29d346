// SPDX-License-Identifier: BSD-3-Clause
#include "tailrace/run/case_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <toml++/toml.h>
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

namespace tailrace::run {

struct CaseFile::State {
  std::string path;  // of the case file; for native inputs the input
  bool is_file = true, allows_outside = false;
  toml::table table;
  const CaseSchema* schema = nullptr;
  std::set<std::string> known;
  std::map<std::string, std::string> defaults;  // TOML values
  Problems problems{""};
};

namespace {

/// Number of letters to change to get from a to b.
std::size_t distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j < row.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0]++;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t changed = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({changed, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row.back();
}

/// The table at a name, such as "time", or "output[1]" for one of a list; made if it is a plain name.
toml::table* inner_table(toml::table& table, const std::string& name) {
  if (name.ends_with("]")) {
    const auto node = table.at_path(name);
    if (auto* listed = node.as_table()) return listed;
    throw Error(ErrorKind::usage, fmt::format("--set {}: the case has no such table", name));
  }
  if (auto* inner = table.get_as<toml::table>(name)) return inner;
  return table.insert_or_assign(name, toml::table{}).first->second.as_table();
}

/// Puts a value at a dotted key, making the tables on the way.
void put(toml::table& root, const std::string& key, const toml::node& value) {
  toml::table* table = &root;
  std::size_t start = 0;
  for (auto dot = key.find('.'); dot != std::string::npos; start = dot + 1, dot = key.find('.', start))
    table = inner_table(*table, key.substr(start, dot - start));
  value.visit([&](const auto& node) { table->insert_or_assign(key.substr(start), node); });
}

/// Puts "value" at a key: read as TOML, or taken as text if it is none.
void put_text(toml::table& root, const std::string& key, const std::string& value) {
  try {
    const auto parsed = toml::parse("value = " + value);
    put(root, key, *parsed.get("value"));
  } catch (const toml::parse_error&) {
    const toml::value<std::string> text{value};
    put(root, key, text);
  }
}

void apply(toml::table& root, const std::vector<std::string>& overrides) {
  for (const auto& item : overrides) {
    const auto equals = item.find('=');
    if (equals == std::string::npos || equals == 0)
      throw Error(ErrorKind::usage,
                  fmt::format("--set {}: no value. Fix: write --set KEY=VALUE, such as time.steps=50", item));
    put_text(root, item.substr(0, equals), item.substr(equals + 1));
  }
}

void list_keys(const toml::table& table, const std::string& prefix, std::vector<std::string>& keys) {
  for (const auto& [name, node] : table) {
    const std::string key = prefix + std::string(name.str());
    const auto* list = node.as_array();
    if (const auto* inner = node.as_table()) {
      list_keys(*inner, key + ".", keys);
    } else if (list != nullptr && list->is_array_of_tables()) {
      for (std::size_t i = 0; i < list->size(); ++i)
        list_keys(*list->get(i)->as_table(), fmt::format("{}[{}].", key, i), keys);
    } else {
      keys.push_back(key);
    }
  }
}

/// Removes the value at a dotted key.
void remove(toml::table& root, const std::string& key) {
  const auto dot = key.rfind('.');
  if (auto* table = root.at_path(key.substr(0, dot)).as_table()) table->erase(key.substr(dot + 1));
}

/// Moves values at older names of keys to the names of today. One that is there under both is a problem.
void rename_older(toml::table& root, const CaseSchema& schema, Problems& problems) {
  for (const Key& key : schema.keys) {
    if (key.now.empty() || !root.at_path(key.name)) continue;
    if (root.at_path(key.now))
      problems.add(fmt::format("{}: is the older name of {}, which is there too", key.name, key.now),
                   "remove it");
    else
      put(root, key.now, *root.at_path(key.name).node());
    remove(root, key.name);
  }
}

bool holds(const Limits& limits, double value) noexcept {
  return value >= limits.least && value <= limits.most;
}

std::optional<std::int64_t> integer_of(const toml::node& node, const Limits& limits) {
  const auto value = node.value_exact<std::int64_t>();
  return value && holds(limits, static_cast<double>(*value)) ? value : std::nullopt;
}

std::optional<double> real_of(const toml::node& node, const Limits& limits) {
  const auto value = node.is_number() ? node.value<double>() : std::nullopt;
  return value && holds(limits, *value) ? value : std::nullopt;
}

/// The integers of a list, or nothing if it is no list or holds anything else.
std::optional<std::vector<std::int64_t>> integers_of(const toml::node& node) {
  const auto* list = node.as_array();
  if (list == nullptr) return {};
  std::vector<std::int64_t> values;
  for (const auto& item : *list) {
    const auto value = item.value_exact<std::int64_t>();
    if (!value) return {};
    values.push_back(*value);
  }
  return values;
}

std::optional<std::vector<double>> reals_of(const toml::node& node, const Limits& limits) {
  const auto* list = node.as_array();
  if (list == nullptr) return {};
  std::vector<double> values;
  for (const auto& item : *list) {
    const auto value = real_of(item, limits);
    if (!value) return {};
    values.push_back(*value);
  }
  return values;
}

std::optional<std::vector<std::string>> texts_of(const toml::node& node) {
  const auto* list = node.as_array();
  if (list == nullptr) return {};
  std::vector<std::string> values;
  for (const auto& item : *list) {
    auto value = item.value_exact<std::string>();
    if (!value) return {};
    values.push_back(std::move(*value));
  }
  return values;
}

std::optional<std::vector<std::vector<std::int64_t>>> integer_lists_of(const toml::node& node) {
  const auto* list = node.as_array();
  if (list == nullptr) return {};
  std::vector<std::vector<std::int64_t>> lists;
  for (const auto& item : *list) {
    auto values = integers_of(item);
    if (!values) return {};
    lists.push_back(std::move(*values));
  }
  return lists;
}

nlohmann::json to_json(const toml::node& node) {
  if (const auto* table = node.as_table()) {
    auto json = nlohmann::json::object();
    for (const auto& [name, inner] : *table) json[std::string(name.str())] = to_json(inner);
    return json;
  }
  if (const auto* array = node.as_array()) {
    auto json = nlohmann::json::array();
    for (const auto& inner : *array) json.push_back(to_json(inner));
    return json;
  }
  if (const auto value = node.value_exact<std::string>()) return *value;
  if (const auto value = node.value_exact<bool>()) return *value;
  if (const auto value = node.value_exact<std::int64_t>()) return *value;
  if (const auto value = node.value_exact<double>()) return *value;
  return nullptr;
}

/// A value as the user wrote it, in one line. JSON has no NaN and no infinity.
std::string shown(const toml::node& node) {
  if (const auto* number = node.as_floating_point(); number != nullptr && !std::isfinite(number->get()))
    return fmt::format("{}", number->get());
  const auto* list = node.as_array();
  if (list == nullptr) return to_json(node).dump();
  std::vector<std::string> items;
  for (const auto& item : *list) items.push_back(shown(item));
  return fmt::format("[{}]", fmt::join(items, ","));
}

/// "an integer from 1 to 1000".
template <class T>
std::string limits_text(const char* kind, const Limits& limits) {
  const auto least = static_cast<T>(limits.least);
  if (limits.most == std::numeric_limits<double>::max()) return fmt::format("{} of at least {}", kind, least);
  return fmt::format("{} from {} to {}", kind, least, static_cast<T>(limits.most));
}

}  // namespace

CaseFile::CaseFile(std::unique_ptr<State> state) : state_(std::move(state)) {}
CaseFile::CaseFile(CaseFile&&) noexcept = default;
CaseFile& CaseFile::operator=(CaseFile&&) noexcept = default;
CaseFile::~CaseFile() = default;

CaseFile CaseFile::read(const std::string& path, const std::vector<std::string>& overrides,
                        const CaseSchema& schema) {
  auto state = std::make_unique<State>();
  state->schema = &schema;
  state->path = path;
  state->problems = Problems(path);
  if (!std::filesystem::is_regular_file(path))
    throw Error(ErrorInfo{.kind = ErrorKind::input,
                          .message = fmt::format("{}: no such case file", path),
                          .path = path,
                          .hint = "check the path"});
  try {
    state->table = toml::parse_file(path);
  } catch (const toml::parse_error& error) {
    const auto& at = error.source().begin;
    throw Error(
        ErrorInfo{.kind = ErrorKind::input,
                  .message = fmt::format("{}:{}:{}: {}", path, at.line, at.column, error.description()),
                  .path = path,
                  .hint = "correct the TOML syntax there"});
  }
  apply(state->table, overrides);
  rename_older(state->table, schema, state->problems);
  return CaseFile(std::move(state));
}

CaseFile CaseFile::from_overrides(const std::string& subject, const std::vector<std::string>& overrides,
                                  const CaseSchema& schema) {
  auto state = std::make_unique<State>();
  state->schema = &schema;
  state->path = subject;
  state->is_file = false;
  state->problems = Problems(subject);
  apply(state->table, overrides);
  rename_older(state->table, schema, state->problems);
  return CaseFile(std::move(state));
}

void CaseFile::add_problem(const std::string& key, const std::string& what, const std::string& fix) {
  state_->problems.add(key.empty() ? what : fmt::format("{}: {}", key, what), fix);
}

/// Describes what `take` makes of the key's value or default; a value of which it makes nothing becomes a
/// problem, with `what` behind it.
template <class T, class Take>
std::optional<T> CaseFile::value(const std::string& key, const Take& take, const std::string& what,
                                 const std::string& fix) {
  const Key& row = state_->schema->at(key);
  state_->known.insert(key);
  if (const auto node = state_->table.at_path(key)) {
    if (auto found = take(*node.node())) return found;
    add_problem(key, fmt::format("{} {}", shown(*node.node()), what), fix);
  } else if (row.required) {
    add_problem(key, "is missing", row.fix);
  } else if (!row.fallback.empty()) {
    set_default(key, row.toml_fallback());
  }
  if (row.fallback.empty()) return {};
  const auto fallback = toml::parse("value = " + row.toml_fallback());
  return take(*fallback.get("value"));
}

std::optional<bool> CaseFile::boolean(const std::string& key) {
  return value<bool>(
      key, [](const toml::node& node) { return node.value_exact<bool>(); }, "is not true or false",
      "write true or false");
}

std::optional<std::int64_t> CaseFile::integer(const std::string& key) {
  const auto& limits = state_->schema->at(key).limits;
  return value<std::int64_t>(
      key, [&](const toml::node& node) { return integer_of(node, limits); }, "is not accepted",
      limits_text<std::int64_t>("an integer", limits));
}

std::optional<double> CaseFile::real(const std::string& key) {
  const auto& limits = state_->schema->at(key).limits;
  return value<double>(
      key, [&](const toml::node& node) { return real_of(node, limits); }, "is not accepted",
      limits_text<double>("a number", limits));
}

std::optional<std::string> CaseFile::text(const std::string& key) {
  const auto take = [](const toml::node& node) {
    auto found = node.value_exact<std::string>();
    return found && !found->empty() ? found : std::nullopt;
  };
  const bool empty = state_->table.at_path(key).value_exact<std::string>() == "";
  return value<std::string>(
      key, take, empty ? "is empty" : "is not a text",
      empty ? "write a text between the quotes, or leave the key out" : "write it in quotes");
}

std::optional<std::vector<std::string>> CaseFile::texts(const std::string& key) {
  return value<std::vector<std::string>>(key, texts_of, "is not a list of texts",
                                         "write them as [\"one\", \"two\"]");
}

std::optional<std::vector<std::int64_t>> CaseFile::integers(const std::string& key) {
  return value<std::vector<std::int64_t>>(key, integers_of, "is not a list of integers",
                                          "write them as [10, 20]");
}

std::optional<std::vector<double>> CaseFile::reals(const std::string& key) {
  const auto& limits = state_->schema->at(key).limits;
  const bool open = limits.least == std::numeric_limits<double>::lowest();
  return value<std::vector<double>>(
      key, [&](const toml::node& node) { return reals_of(node, limits); },
      fmt::format("is not a list of numbers{}", open ? "" : fmt::format(" of at least {}", limits.least)),
      "write them as [1.5, 20]");
}

std::optional<std::vector<std::vector<std::int64_t>>> CaseFile::integer_lists(const std::string& key) {
  return value<std::vector<std::vector<std::int64_t>>>(
      key, integer_lists_of, "is not a list of lists of integers", "write them as [[1, 2, 3], [4, 5, 6]]");
}

std::optional<std::string> CaseFile::file_name(const std::string& key) {
  auto name = text(key);
  if (name) name = resolve_file_name(*name);
  return name;
}

std::optional<std::vector<std::string>> CaseFile::file_names(const std::string& key) {
  auto names = texts(key);
  if (names)
    for (auto& name : *names) name = resolve_file_name(name);
  return names;
}

std::optional<std::string> CaseFile::output_name(const std::string& key) {
  auto name = text(key);
  if (!name || state_->allows_outside) return name;
  const auto place = std::filesystem::path(*name).lexically_normal();
  if (place.is_absolute() || *place.begin() == "..")
    add_problem(key, fmt::format("\"{}\" leads out of the run directory", *name),
                "a name below it, or add --allow-outside");
  return name;
}

void CaseFile::allow_outside() noexcept {
  state_->allows_outside = true;
}

std::optional<Index3> CaseFile::grid(const std::string& key, const std::vector<std::int64_t>& points) {
  constexpr std::int64_t most = std::int64_t{1} << 40;
  bool good = points.size() == 3;
  std::int64_t room = most;
  for (const auto n : points) {
    good = good && n >= 1 && n <= room;
    if (good) room /= n;
  }
  if (good) return Index3{points[0], points[1], points[2]};
  add_problem(
      key, fmt::format("[{}] is no grid", fmt::join(points, ", ")),
      fmt::format("points along x, y, z, each 1 or more, and {} at most together: [120, 96, 80]", most));
  return {};
}

std::size_t CaseFile::choice(const std::string& key) {
  const auto given = text(key);
  const auto& words = state_->schema->at(key).words;
  const auto found = std::find(words.begin(), words.end(), given.value_or(words.front()));
  if (found != words.end()) return static_cast<std::size_t>(found - words.begin());
  add_problem(key, fmt::format("\"{}\" is not accepted", *given),
              fmt::format("one of {}", fmt::join(words, ", ")));
  return 0;
}

bool CaseFile::refuse(const std::string& key, const std::string& what, const std::string& fix) {
  static_cast<void>(state_->schema->at(key));
  state_->known.insert(key);
  if (has(key)) add_problem(key, what, fix);
  return has(key);
}

std::size_t CaseFile::tables(const std::string& key) {
  const auto node = state_->table.at_path(key);
  if (!node) return 0;
  const auto* list = node.as_array();
  if (list != nullptr && list->is_array_of_tables()) return list->size();
  state_->known.insert(key);
  if (list == nullptr || !list->empty())
    add_problem(key, "is not a list of tables", fmt::format("head each of them with [[{}]]", key));
  return 0;
}

std::vector<std::string> CaseFile::names(const std::string& key) const {
  std::vector<std::string> names;
  const auto node = state_->table.at_path(key);
  if (const auto* table = node.as_table())
    for (const auto& [name, value] : *table) names.emplace_back(name.str());
  return names;
}

bool CaseFile::has(const std::string& key) const {
  return static_cast<bool>(state_->table.at_path(key));
}

bool CaseFile::is_text(const std::string& key) const {
  return state_->table.at_path(key).is_string();
}

std::string CaseFile::resolve_file_name(const std::string& name) const {
  if (!state_->is_file) return name;
  return (std::filesystem::path(state_->path).parent_path() / name).string();
}

StepIndex CaseFile::steps(const std::string& end_key, const char* dt_name, double dt) {
  const auto steps = integer("time.steps");
  const auto end = real(end_key);
  if (has("time.steps") == has(end_key))
    add_problem("time.steps",
                fmt::format("steps or {} says how long to compute", end_key.substr(end_key.find('.') + 1)),
                "give one of them");
  if (!end) return steps.value_or(1);
  constexpr double rounding = 1e-9;
  constexpr std::int64_t max_steps = std::int64_t{1} << 40;
  const double count = std::max(0.0, std::ceil(*end / dt - rounding));
  if (count >= 1 && count <= static_cast<double>(max_steps)) return static_cast<StepIndex>(count);
  add_problem(end_key, fmt::format("makes {} steps", count),
              fmt::format("1 to {} steps of {}", max_steps, dt_name));
  return steps.value_or(1);
}

void CaseFile::set_default(const std::string& key, const std::string& toml_value) {
  state_->known.insert(key);
  state_->defaults[key] = toml_value;
}

void CaseFile::finish() {
  std::vector<std::string> keys;
  list_keys(state_->table, "", keys);
  for (const auto& key : keys)
    if (!state_->known.contains(key)) add_unknown_key(key);
  state_->problems.throw_if_any(ErrorKind::input);
  for (const auto& [key, value] : state_->defaults)
    if (!state_->table.at_path(key)) put_text(state_->table, key, value);
}

/// A key that nobody asked for: a value in the place of a table, a key that others exclude, a misspelt one,
/// or something else.
void CaseFile::add_unknown_key(const std::string& key) {
  const auto inside = state_->known.lower_bound(key + ".");
  if (inside != state_->known.end() && inside->starts_with(key + ".")) {
    const auto value = state_->table.at_path(key);
    return add_problem(key, fmt::format("{} is not a table", shown(*value.node())),
                       fmt::format("set keys of the table, such as {}", *inside));
  }
  if (state_->schema->find(key) != nullptr)
    return add_problem(key, "has no effect beside the other keys of this case",
                       "remove it, or the key that excludes it");
  const auto nearest =
      std::min_element(state_->known.begin(), state_->known.end(),
                       [&](const auto& a, const auto& b) { return distance(a, key) < distance(b, key); });
  const bool close =
      nearest != state_->known.end() && distance(*nearest, key) <= std::max<std::size_t>(2, key.size() / 4);
  add_problem(key, "unknown key", close ? fmt::format("did you mean {}?", *nearest) : "remove it");
}

nlohmann::json CaseFile::resolved() const {
  return to_json(state_->table);
}

}  // namespace tailrace::run
