// SPDX-License-Identifier: BSD-3-Clause
#include "fragments/compiler.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "fragments/block_ends.hpp"
#include "fragments/known_uses.hpp"

namespace tailrace::fragments {

namespace {

constexpr std::size_t max_depth = 1000;

constexpr std::array<std::pair<const char*, ParameterType>, 6> parameter_types{
    {{"int", ParameterType::integer},
     {"real", ParameterType::real},
     {"string", ParameterType::string},
     {"value", ParameterType::value},
     {"value&", ParameterType::changeable},
     {"name", ParameterType::name}}};

void insert_sorted(std::vector<std::uint32_t>& slots, std::uint32_t slot) {
  const auto place = std::ranges::lower_bound(slots, slot);
  if (place == slots.end() || *place != slot) slots.insert(place, slot);
}

void collect(std::vector<std::uint32_t>& slots, const Code& code) {
  for (const auto& token : code.tokens)
    if (token.kind == Token::Kind::slot || token.kind == Token::Kind::name)
      insert_sorted(slots, token.number);
}
void collect(std::vector<std::uint32_t>& slots, const std::vector<Code>& codes) {
  for (const auto& code : codes) collect(slots, code);
}
void collect(std::vector<std::uint32_t>& slots, const Rules& rules) {
  for (const auto& count : rules.counts) collect(slots, count.name), collect(slots, count.count);
  for (const auto& push : rules.pushes) collect(slots, push.name), collect(slots, push.to);
  for (const auto* list : {&rules.requests, &rules.waits, &rules.deletes, &rules.sets}) collect(slots, *list);
  collect(slots, rules.rank);
}

/// The names to which a statement itself writes, as far as is known of the subroutines that it calls.
void collect_written(Statement& statement) {
  statement.written.clear();
  if (!statement.out.empty()) statement.written.push_back(&statement.out);
  for (const auto& name : statement.rules.sets) statement.written.push_back(&name);
  if (statement.callee != nullptr)
    for (std::size_t i = 0; i < statement.arguments.size(); ++i)
      if (statement.callee->writes[i]) statement.written.push_back(&statement.arguments[i]);
  for (const auto* inner : statement.block.statements)
    statement.written.insert(statement.written.end(), inner->written.begin(), inner->written.end());
}

/// Has the parameters to which the statements of a block write marked. Returns whether one is new.
bool mark_written(Subroutine& subroutine) {
  bool changed = false;
  for (const auto* statement : subroutine.block.statements)
    for (const auto* name : statement->written) {
      const auto slot = name->tokens.back().number;
      if (slot >= subroutine.writes.size() || subroutine.writes[slot]) continue;
      subroutine.writes[slot] = true;
      changed = true;
    }
  return changed;
}

/// Finds which parameters subroutines write, through calls of each other.
void find_written(Image& image) {
  for (auto& [name, subroutine] : image.subroutines) {
    subroutine.writes.assign(subroutine.parameters.size(), false);
    for (std::size_t i = 0; i < subroutine.parameters.size() && subroutine.external; ++i)
      subroutine.writes[i] = subroutine.parameters[i].type == ParameterType::name;
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (auto statement = image.statements.rbegin(); statement != image.statements.rend(); ++statement)
      collect_written(*statement);  // inner ones come after those around them
    for (auto& [name, subroutine] : image.subroutines) changed = mark_written(subroutine) || changed;
  }
}

/// Finds which labelled fragments wait for what is pushed to them, and which run at the home of their label:
/// those, and where it has a locator, unless a locator of their own says otherwise.
void find_labelled(Image& image) {
  std::set<std::int32_t> pushed;
  for (const auto& statement : image.statements)
    for (const auto& push : statement.rules.pushes) pushed.insert(push.label);
  for (auto& statement : image.statements) {
    if (statement.label_declaration < 0) continue;
    auto& label = image.declarations[static_cast<std::size_t>(statement.label_declaration)];
    const bool waits = !statement.rules.waits.empty() || !statement.callee->rules.waits.empty();
    statement.awaits = waits && pushed.contains(statement.label_declaration);
    label.awaits = label.awaits || statement.awaits;
    const bool located =
        label.home >= 0 && !image.homes[static_cast<std::size_t>(label.home)].rank.code.empty();
    statement.placed_by_label = statement.rules.rank.empty() && (located || statement.awaits);
  }
}

}  // namespace

std::string text_of(const Image& image, const Place& place) {
  if (place.file < 0 || static_cast<std::size_t>(place.file) >= image.files.size()) return image.name;
  return fmt::format("{}:{}:{}", image.files[static_cast<std::size_t>(place.file)].name, place.line,
                     place.column);
}

void Compiler::warn(const Place& at, const std::string& text) {
  image_.warnings.push_back(fmt::format("{}: warning: {}", text_of(image_, at), text));
}

void Compiler::declare(const std::string& name, const Place& at, Symbol symbol) {
  if (!scopes_->declare(name, std::move(symbol)))
    problems_.add(at, fmt::format("'{}' is declared twice in this scope", name));
}

/// The parameters of a subroutine.
static std::vector<Parameter> read_parameters(const Node& node) {
  std::vector<Parameter> parameters;
  for (const auto& json : node.list("args")) {
    const auto entry = node.below(json);
    entry.allow({"type", "id"});
    const auto type = entry.text("type");
    const auto* const found =
        std::ranges::find_if(parameter_types, [&](const auto& known) { return type == known.first; });
    if (found == parameter_types.end()) entry.problem(fmt::format("unknown type '{}' of a parameter", type));
    parameters.push_back({found == parameter_types.end() ? ParameterType::value : found->second,
                          entry.text("id", ""), entry.at()});
  }
  return parameters;
}

/// The head of a subroutine: all are known before the first is compiled, since one may call those behind it.
static Subroutine read_head(const Node& node, const std::string& name, std::uint32_t number) {
  Subroutine head;
  head.name = name, head.number = number, head.at = node.at();
  const auto type = node.text("type");
  head.external = type == "extern";
  if (!head.external && type != "struct")
    node.problem(fmt::format("unknown type '{}' of a subroutine", type));
  if (head.external) {
    node.allow({"type", "args", "code"});
    head.code = node.text("code");
  } else {
    node.allow({"type", "args", "nfparams", "body", "rules"});
  }
  head.parameters = read_parameters(node);
  for (const auto& json : node.list("nfparams"))
    head.nfparams.push_back(json.is_string() ? json.get<std::string>() : "");
  return head;
}

void Compiler::subroutine(Subroutine& subroutine, const Node& node) {
  Scopes scopes;
  scopes_ = &scopes, current_ = &subroutine, first_declaration_ = image_.declarations.size();
  scopes.open();
  for (const auto& parameter : subroutine.parameters) {
    const auto kind = parameter.type == ParameterType::name ? Symbol::Kind::name : Symbol::Kind::value;
    declare(parameter.id, parameter.at, {kind, scopes.new_slot(), -1, {}});
  }
  for (const auto& name : subroutine.nfparams)
    declare(name, subroutine.at, {Symbol::Kind::nfparam, scopes.new_slot(), -1, {}});
  rules(subroutine.rules, node.list("rules"), node, nullptr);
  subroutine.block.slots = scopes.slots();
  block(subroutine.block, node);
  subroutine.slots = scopes.slots();
}

void Compiler::block(Statements& block, const Node& node) {
  scopes_->open();
  if (scopes_->depth() > max_depth)
    node.problem(fmt::format("blocks are nested more than {} deep", max_depth));
  else
    items(block, node.list("body"), node);
  home_rules(node.list("rules"), node);
  scopes_->close();
}

void Compiler::items(Statements& block, const Json& list, const Node& node) {
  for (const auto& json : list) item(block, node.below(json));
}

void Compiler::item(Statements& block, const Node& node) {
  const auto type = node.text("type");
  if (type == "dfs") return declarations(block, node);
  if (type == "let") return let(block, node);
  constexpr std::array<std::pair<const char*, void (Compiler::*)(Statement&, const Node&)>, 4> kinds{
      {{"exec", &Compiler::execute},
       {"for", &Compiler::loop},
       {"while", &Compiler::repeat},
       {"if", &Compiler::condition}}};
  for (const auto& [name, make] : kinds) {
    if (type != name) continue;
    auto& statement = image_.statements.emplace_back();
    statement.number = static_cast<std::uint32_t>(image_.statements.size() - 1);
    statement.at = node.at(), statement.caller = current_;
    const auto slots_before = scopes_->slots();
    (this->*make)(statement, node);
    finish(statement, slots_before);
    block.statements.push_back(&statement);
    return;
  }
  node.problem(fmt::format("unknown type '{}' of an item", type));
}

void Compiler::declarations(Statements& block, const Node& node) {
  node.allow({"type", "names", "labels"});
  for (const auto& json : node.list("names")) {
    const auto entry = node.below(json);
    entry.allow({"id"});
    declare_name(block, entry.text("id"), entry.at(), Symbol::Kind::name);
  }
  for (const auto& json : node.list("labels"))
    declare_name(block, json.is_string() ? json.get<std::string>() : "", node.at(), Symbol::Kind::label);
}

void Compiler::declare_name(Statements& block, const std::string& name, const Place& at, Symbol::Kind kind) {
  const auto number = static_cast<std::uint32_t>(image_.declarations.size());
  image_.declarations.push_back({name, at, scopes_->new_slot(), -1});
  block.declarations.push_back(number);
  block.slots = scopes_->slots() - block.first_slot;
  declare(name, at, {kind, image_.declarations.back().slot, static_cast<std::int32_t>(number), {}});
}

void Compiler::let(Statements& block, const Node& node) {
  node.allow({"type", "names", "body", "rules"});
  scopes_->open();
  for (const auto& json : node.list("names")) {
    const auto entry = node.below(json);
    entry.allow({"id", "expr"});
    Symbol symbol{Symbol::Kind::let, 0, -1,
                  entry.has("expr") ? expressions().expression(json["expr"], entry.at()) : Code{}};
    declare(entry.text("id"), entry.at(), std::move(symbol));
    scopes_->open();  // so that a later name of this `let` may hide an earlier one
  }
  items(block, node.list("body"), node);
  home_rules(node.list("rules"), node);
  for (std::size_t i = 0; i <= node.list("names").size(); ++i) scopes_->close();
}

void Compiler::execute(Statement& statement, const Node& node) {
  node.allow({"type", "code", "args", "id", "set", "delete", "rules"});
  statement.kind = Kind::execute;
  const auto name = node.text("code");
  const auto found = image_.subroutines.find(name);
  if (found == image_.subroutines.end()) return node.problem(fmt::format("unknown subroutine '{}'", name));
  statement.callee = &found->second;
  statement.nfarguments.resize(statement.callee->nfparams.size());
  arguments(statement, node);
  if (!node.list("id").empty()) statement.label = expressions().reference(node.list("id"), node.at(), true);
  statement.label_declaration = declaration_of(statement.label);
  for (const auto& json : node.list("set"))
    statement.rules.sets.push_back(expressions().reference(json, node.at()));
  for (const auto& json : node.list("delete"))
    statement.rules.deletes.push_back(expressions().reference(json, node.at()));
  rules(statement.rules, node.list("rules"), node, &statement);
  for (std::size_t i = 0; i < statement.nfarguments.size(); ++i)
    if (statement.nfarguments[i].empty())
      node.problem(fmt::format("the parameter '{}' of {} is not given", statement.callee->nfparams[i], name));
}

void Compiler::arguments(Statement& statement, const Node& node) {
  const auto& list = node.list("args");
  const auto& wanted = statement.callee->parameters;
  if (list.size() != wanted.size())
    return node.problem(
        fmt::format("{} takes {} arguments, got {}", statement.callee->name, wanted.size(), list.size()));
  for (std::size_t i = 0; i < list.size(); ++i)
    statement.arguments.push_back(wanted[i].type == ParameterType::name
                                      ? expressions().reference(list[i], node.at())
                                      : expressions().expression(list[i], node.at()));
}

/// The variable of a loop, which is the first slot of its block.
void Compiler::variable(Statement& statement, const Node& node) {
  statement.variable = statement.block.first_slot = scopes_->new_slot();
  statement.block.slots = 1;
  statement.variable_name = node.text("var");
  declare(statement.variable_name, node.at(), {Symbol::Kind::value, statement.variable, -1, {}});
}

void Compiler::loop(Statement& statement, const Node& node) {
  node.allow({"type", "var", "first", "last", "body", "rules"});
  statement.kind = Kind::loop;
  statement.first = expressions().expression(node.list("first"), node.at());
  statement.last = expressions().expression(node.list("last"), node.at());
  rules(statement.rules, node.list("rules"), node, nullptr);
  scopes_->open();
  variable(statement, node);
  block(statement.block, node);
  scopes_->close();
}

void Compiler::repeat(Statement& statement, const Node& node) {
  node.allow({"type", "var", "cond", "start", "wout", "body", "rules"});
  statement.kind = Kind::repeat;
  statement.start = expressions().expression(node.list("start"), node.at());
  statement.out = expressions().reference(node.list("wout"), node.at());
  rules(statement.rules, node.list("rules"), node, nullptr);
  scopes_->open();
  variable(statement, node);
  statement.condition = expressions().expression(node.list("cond"), node.at());
  block(statement.block, node);
  scopes_->close();
}

void Compiler::condition(Statement& statement, const Node& node) {
  node.allow({"type", "cond", "body", "rules"});
  statement.kind = Kind::condition;
  statement.condition = expressions().expression(node.list("cond"), node.at());
  rules(statement.rules, node.list("rules"), node, nullptr);
  statement.block.first_slot = scopes_->slots();
  block(statement.block, node);
}

void Compiler::finish(Statement& statement, std::uint32_t slots_before) {
  auto& slots = statement.captured;
  for (const auto* list : {&statement.arguments, &statement.nfarguments}) collect(slots, *list);
  for (const auto* code : {&statement.label, &statement.first, &statement.last, &statement.condition,
                           &statement.start, &statement.out})
    collect(slots, *code);
  collect(slots, statement.rules);
  for (const auto number : statement.block.declarations)
    if (const int home = image_.declarations[number].home; home >= 0)
      for (const auto slot : image_.homes[static_cast<std::size_t>(home)].captured)
        insert_sorted(slots, slot);
  for (const auto* inner : statement.block.statements)
    for (const auto slot : inner->captured) insert_sorted(slots, slot);
  std::erase_if(slots, [&](std::uint32_t slot) { return slot >= slots_before; });
}

/// The statement that calls `main`: its arguments are in its frame.
static Statement call_of(const Subroutine& main) {
  Statement statement;
  statement.at = main.at, statement.callee = statement.caller = &main, statement.number = main_call_number;
  for (std::uint32_t i = 0; i < main.parameters.size(); ++i) {
    Token token;
    token.kind = Token::Kind::slot, token.number = i;
    statement.arguments.push_back({{token}, main.at});
    statement.captured.push_back(i);
  }
  return statement;
}

/// The options of a program, each with its value: those that do not say where anything is.
static std::vector<std::string> read_options(const Node& root) {
  static const std::vector<std::string> known{
      "--balance=", "--live-fragments=", "--live-bytes=", "--depth=", "--checks="};
  std::vector<std::string> options;
  for (const auto& entry : root.list("options")) {
    const std::string word = entry.is_string() ? entry.get<std::string>() : entry.dump();
    if (std::ranges::none_of(known, [&](const auto& name) { return word.starts_with(name); }))
      root.problem(fmt::format("'options' has {}, known are {}", word, fmt::join(known, ", ")));
    options.push_back(word);
  }
  return options;
}

std::shared_ptr<const Image> compile(const std::string& document, const std::string& path) {
  auto image = std::make_shared<Image>();
  DocumentProblems problems(path, *image);
  Json json;
  try {
    json = Json::parse(document);
  } catch (const Json::exception& error) {
    throw Error({.kind = ErrorKind::input,
                 .message = fmt::format("{} is no fragment program: {}", path, error.what()),
                 .path = path,
                 .hint = {}});
  }
  const Node root(json, {}, problems);
  root.allow({"tailrace_fragments", "name", "files", "subs", "main", "options"});
  if (const int version = root.number("tailrace_fragments", 0); version != 1)
    root.problem(fmt::format("tailrace_fragments is {}, known is version 1", version));
  problems.throw_if_any();
  image->name = root.text("name", path);
  for (const auto& entry : root.list("files"))
    image->files.push_back({root.below(entry).text("name"), root.below(entry).text("text", "")});
  image->options = read_options(root);
  if (!root.has("subs") || !json["subs"].is_object()) root.problem("the object 'subs' is missing");
  problems.throw_if_any();
  for (const auto& entry : json["subs"].items())
    image->subroutines[entry.key()] = read_head(root.below(entry.value()), entry.key(),
                                                static_cast<std::uint32_t>(image->subroutines.size()));
  Compiler compiler(*image, problems);
  for (auto& [name, subroutine] : image->subroutines)
    if (!subroutine.external) compiler.subroutine(subroutine, root.below(json["subs"][name]));
  const auto main = image->subroutines.find(root.text("main", "main"));
  if (main == image->subroutines.end())
    root.problem("there is no subroutine 'main'");
  else
    image->main = &main->second;
  problems.throw_if_any();
  find_written(*image);
  find_labelled(*image);
  count_known_uses(*image);
  find_block_ends(*image);
  image->main_call = call_of(*image->main);
  image->digest = std::hash<std::string>{}(document);
  return image;
}

}  // namespace tailrace::fragments
