// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>

#include "fragments/compiler.hpp"

/// Recommendations.
namespace tailrace::fragments {

void Compiler::rules(Rules& rules, const Json& list, const Node& node, Statement* call) {
  for (const auto& json : list) rule(rules, node.below(json), call);
}

void Compiler::rule(Rules& rules, const Node& node, Statement* call) {
  const auto type = node.text("ruletype"), property = node.text("property");
  node.allow({"ruletype", "property", "expr", "ref", "refs", "indices", "to"});
  if (type == "indexed") return indexed_rule(rules, node);
  if (type == "map" && property == "nfparam") return nfargument(node, call);
  if (type == "map" && (property == "locator_cyclic" || property == "locator_replicating"))
    return;  // `home_rules`
  if (type == "expr" && property == "locator_cyclic") {
    rules.rank = expressions().expression(node.list("expr"), node.at(), true);
  } else if (type == "assign" && property == "req_count") {
    rules.counts.push_back({expressions().reference(node.list("ref"), node.at()),
                            expressions().expression(node.list("expr"), node.at(), true), node.at()});
    if (!find_output(rules.counts.back(), call)) rules.counts_are_plain = false;
  } else if (type == "afterpush" && property == "afterpush") {
    rules.pushes.push_back({expressions().reference(node.list("ref"), node.at()),
                            expressions().reference(node.list("to"), node.at(), true)});
    rules.pushes.back().label = declaration_of(rules.pushes.back().to);
  } else if (type == "flags" && property == "stealable") {
    rules.stealable = true;
  } else if (type == "flags" && property == "unroll_at_once") {
    rules.at_once = true;
  } else {
    warn(node.at(), fmt::format("unknown recommendation '{}' ({})", property, type));
  }
}

/// Whether two expressions are written in the same way.
static bool same(const Image& image, const Code& a, const Code& b) {
  return std::ranges::equal(a.tokens, b.tokens, [&](const Token& x, const Token& y) {
    if (x.kind != y.kind || x.op != y.op || x.indices != y.indices) return false;
    return x.number == y.number ||
           (x.kind == Token::Kind::constant && image.constants[x.number] == image.constants[y.number]);
  });
}

/// Finds the output of a body that a use count is of. Returns whether it is one and its count reads no data
/// fragments.
bool Compiler::find_output(CountRule& rule, const Statement* call) const {
  if (call == nullptr || call->callee == nullptr || !call->callee->external) return false;
  const auto& parameters = call->callee->parameters;
  std::int32_t output = 0;
  for (std::size_t i = 0; i < std::min(parameters.size(), call->arguments.size()); ++i) {
    if (parameters[i].type != ParameterType::name) continue;
    if (rule.output < 0 && same(image_, call->arguments[i], rule.name)) rule.output = output;
    ++output;
  }
  return rule.output >= 0 && std::ranges::none_of(rule.count.tokens, [](const Token& token) {
           return token.kind == Token::Kind::name;
         });
}

void Compiler::indexed_rule(Rules& rules, const Node& node) {
  const auto property = node.text("property");
  std::vector<Code> names;
  for (const auto& json : node.list("refs")) names.push_back(expressions().reference(json, node.at()));
  if (property == "request")
    rules.requests.insert(rules.requests.end(), names.begin(), names.end());
  else if (property == "wait")
    rules.waits.insert(rules.waits.end(), names.begin(), names.end());
  else if (property == "delete")
    rules.deletes.insert(rules.deletes.end(), names.begin(), names.end());
  else if (property != "req_unlimited")
    warn(node.at(), fmt::format("unknown recommendation '{}' (indexed)", property));
}

/// The declaration of a label of the subroutine that is being compiled, or -1.
std::int32_t Compiler::declaration_of(const Code& label) const {
  if (label.empty()) return -1;
  for (auto number = image_.declarations.size(); number > first_declaration_; --number)
    if (image_.declarations[number - 1].slot == label.tokens.back().number)
      return static_cast<std::int32_t>(number - 1);
  return -1;
}

void Compiler::nfargument(const Node& node, Statement* call) {
  if (call == nullptr || call->callee == nullptr)
    return node.problem("nfparam with a value belongs to a call");
  const auto& known = call->callee->nfparams;
  const auto found = std::ranges::find(known, node.text("ref"));
  if (found == known.end())
    return node.problem(fmt::format("{} has no nfparam '{}'", call->callee->name, node.text("ref")));
  call->nfarguments[static_cast<std::size_t>(found - known.begin())] =
      expressions().expression(node.list("expr"), node.at(), true);
}

void Compiler::home_rules(const Json& list, const Node& node) {
  for (const auto& json : list) {
    const auto rule = node.below(json);
    if (!rule.has("ruletype") || rule.text("ruletype") != "map") continue;
    const auto property = rule.text("property");
    if (property == "locator_cyclic" || property == "locator_replicating") home_rule(rule);
  }
}

void Compiler::home_rule(const Node& node) {
  const auto name = node.text("ref");
  const auto* const symbol = scopes_->find(name);
  if (symbol == nullptr) return node.problem(fmt::format("unknown name '{}'", name));
  const auto* const own = scopes_->find_innermost(name);
  if (own == nullptr || own->declaration < 0) return;  // a wish
  const auto declaration = static_cast<std::size_t>(own->declaration);
  const auto rule = indexed_code(node);
  std::vector<std::uint32_t> captured;
  bool reads = false;
  for (const auto& token : rule.code.tokens) {
    reads = reads || token.kind == Token::Kind::name;
    const bool index = token.number >= rule.first_index && token.number < rule.first_index + rule.index_count;
    if (token.kind == Token::Kind::slot && !index) captured.push_back(token.number);
  }
  if (reads) return warn(node.at(), "a locator that reads data fragments has no effect");
  auto& number = image_.declarations[declaration].home;
  if (number < 0) {
    number = static_cast<std::int32_t>(image_.homes.size());
    image_.homes.emplace_back();
  }
  auto& home = image_.homes[static_cast<std::size_t>(number)];
  (node.text("property") == "locator_cyclic" ? home.rank : home.copies) = rule;
  home.captured.insert(home.captured.end(), captured.begin(), captured.end());
  std::ranges::sort(home.captured);
  home.captured.erase(std::ranges::unique(home.captured).begin(), home.captured.end());
}

/// The expression of a locator, whose indices are new names; `all` is every rank.
IndexedCode Compiler::indexed_code(const Node& node) {
  IndexedCode rule;
  scopes_->open();
  rule.first_index = scopes_->slots();
  for (const auto& json : node.list("indices")) {
    declare(json.is_string() ? json.get<std::string>() : "", node.at(),
            {Symbol::Kind::value, scopes_->new_slot(), -1, {}});
    ++rule.index_count;
  }
  const bool all = node.text("property") == "locator_replicating" && node.is("expr", {{"s", "all"}});
  rule.code = expressions().expression(all ? Json::array({1}) : node.list("expr"), node.at(), true);
  scopes_->close();
  return rule;
}

}  // namespace tailrace::fragments
