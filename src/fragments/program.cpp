// SPDX-License-Identifier: BSD-3-Clause
#include "tailrace/fragments/program.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>

#include "am/launch.hpp"
#include "fragments/runtime.hpp"
#include "fragments/same_program.hpp"
#include "fragments/saved_program.hpp"

namespace tailrace::fragments {

using Json = nlohmann::json;

namespace detail {

/// The parts of the document while it is being described.
struct Description {
  std::string name;
  std::vector<std::string> files;
  std::map<std::string, int> names;
  Json subs = Json::object();
  Json main = Json::object();
  std::vector<std::shared_ptr<Item>> items;
  std::shared_ptr<const Image> image;  ///< of what has been described
  std::vector<std::pair<std::string, std::function<void(tailrace_call&)>>> bodies;

  std::string unique(const std::string& wanted) {
    const int number = ++names[wanted];
    return number == 1 ? wanted : fmt::format("{}#{}", wanted, number);
  }
  Json place(const std::source_location& at) {
    const auto found = std::ranges::find(files, at.file_name());
    const auto file = found - files.begin();
    if (found == files.end()) files.emplace_back(at.file_name());
    return Json::array({file, at.line(), at.column()});
  }
};

std::string constant(int value) {
  return fmt::format("{}", value);
}
std::string constant(double value) {
  return Json(value).dump();
}
std::string constant(std::string_view text) {
  return Json{{"s", text}}.dump();
}
std::string name_tokens(const std::string& indices, const std::string& name, int count) {
  return indices + Json{{"id", name}, {"n", count}}.dump();
}
std::string operation(std::string_view op, const std::string& operands) {
  return operands + "," + Json{{"op", op}}.dump();
}

const Value& input(tailrace_call& call, int number, bool block) {
  return value_of(call, number, block ? Type::block : Type::unset);
}
void output(tailrace_call& call, int number, Value value) {
  set_output(call, number, std::move(value));
}

/// A statement and all below it, as JSON.
static Json to_json(const Item& item) {
  auto json = Json::parse("{" + item.fields + "}");
  json["rules"] = Json::array();
  for (const auto& rule : item.rules) json["rules"].push_back(Json::parse(rule));
  if (item.call) {
    json["args"] = Json::array();
    for (const auto& argument : item.arguments) json["args"].push_back(Json::parse("[" + argument + "]"));
  } else {
    json["body"] = Json::array();
    for (const auto& inner : item.body) json["body"].push_back(to_json(*inner));
  }
  if (json["type"] == "dfs") json.erase("rules"), json.erase("body");
  return json;
}

}  // namespace detail

std::shared_ptr<detail::Item> Scope::add(const std::string& type, const std::string& fields,
                                         const std::source_location& at) {
  auto item = std::make_shared<detail::Item>();
  item->fields = fmt::format(R"("type":"{}","at":{},{})", type, description_->place(at).dump(), fields);
  items_->push_back(item);
  return item;
}

std::shared_ptr<detail::Item> Scope::add_call(const std::string& body, const std::source_location& at) {
  auto item = add("exec", fmt::format(R"("code":{})", Json(body).dump()), at);
  item->call = true;
  return item;
}

std::string Scope::declare(const std::string& name, const std::source_location& at) {
  auto unique = description_->unique(name);
  add("dfs", fmt::format(R"("names":[{{"id":{}}}])", Json(unique).dump()), at);
  std::ranges::rotate(*items_, items_->end() - 1);  // declarations come first
  return unique;
}

std::string Scope::new_variable() {
  return description_->unique("i");
}

Program::Program(const std::string& name) : description_(std::make_unique<detail::Description>()) {
  description_->name = name;
}
Program::Program(Program&&) noexcept = default;
Program& Program::operator=(Program&&) noexcept = default;
Program::~Program() = default;

void Program::add_body(const std::string& name, const std::vector<std::string>& types,
                       std::function<void(tailrace_call&)> body, const std::source_location& at) {
  Json args = Json::array();
  for (const auto& type : types)
    args.push_back({{"type", type}, {"id", fmt::format("parameter {}", args.size() + 1)}});
  description_->subs[name] = {
      {"type", "extern"}, {"code", name}, {"args", args}, {"at", description_->place(at)}};
  description_->bodies.emplace_back(name, std::move(body));
  description_->image.reset();
}

std::vector<std::string> Program::begin_main(const std::vector<std::string>& types,
                                             const std::source_location& at) {
  std::vector<std::string> names;
  Json args = Json::array();
  for (const auto& type : types) {
    names.push_back(description_->unique(fmt::format("argument {}", names.size() + 1)));
    args.push_back({{"type", type}, {"id", names.back()}});
  }
  description_->main = {{"type", "struct"}, {"args", args}, {"at", description_->place(at)}};
  description_->image.reset();
  return names;
}

Scope Program::main_scope() {
  return {*description_, description_->items};
}

std::string Program::document() const {
  auto subs = description_->subs;
  subs["main"] = description_->main;
  subs["main"]["body"] = Json::array();
  for (const auto& item : description_->items) subs["main"]["body"].push_back(detail::to_json(*item));
  Json files = Json::array();
  for (const auto& file : description_->files) files.push_back({{"name", file}});
  return Json{{"tailrace_fragments", 1}, {"name", description_->name}, {"files", files}, {"subs", subs}}
      .dump();
}

const std::vector<std::pair<std::string, std::function<void(tailrace_call&)>>>& Program::bodies() const {
  return description_->bodies;
}

std::shared_ptr<const Image> Program::image() const {
  if (!description_->image) description_->image = compile(document(), "the program");
  return description_->image;
}

std::string to_string(const std::vector<std::int64_t>& executed) {
  const auto all = std::accumulate(executed.begin(), executed.end(), std::int64_t{0});
  std::vector<std::string> parts;
  for (std::size_t rank = 0; rank < executed.size(); ++rank)
    parts.push_back(fmt::format("rank {}: {}", rank, executed[rank]));
  return fmt::format("{} fragments: {}", all, fmt::join(parts, ", "));
}

Outcome run(mpi::CommView comm, const Program& program, const std::vector<std::string>& words,
            const Options& options) {
  const Bodies bodies(program.bodies().begin(), program.bodies().end());
  require_same_program(comm, *program.image());
  Outcome outcome;
  SavedProgram saved(comm, program.image()->name, options.checkpoints);
  auto* const checkpoints = options.checkpoints.directory.empty() ? nullptr : &saved;
  am::launch(comm, {}, [&](am::Endpoint& endpoint) {
    auto ending = run(endpoint, program.image(), bodies, words, {options, nullptr, true, checkpoints});
    outcome = {std::move(ending.errors), {ending.executed}, ending.stopped, std::move(ending.notes)};
  });
  std::vector<std::int64_t> executed(static_cast<std::size_t>(comm.size()));
  executed[static_cast<std::size_t>(comm.rank())] = outcome.executed.front();
  outcome.executed = mpi::sum(comm, executed);
  return outcome;
}

Outcome run_alone(const Program& program, const std::vector<std::string>& words) {
  const Bodies bodies(program.bodies().begin(), program.bodies().end());
  auto ending = interpret(program.image(), bodies, words);
  return {std::move(ending.errors), {ending.executed}, false, std::move(ending.notes)};
}

}  // namespace tailrace::fragments
