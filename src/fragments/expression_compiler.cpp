// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <array>
#include <limits>

#include "fragments/compiler.hpp"

namespace tailrace::fragments {

namespace {

struct Operator {
  const char* text;
  const char* shown;
  int operands;
};
/// In the order of `Op`.
constexpr std::array<Operator, 18> operators{{{"+", "+", 2},
                                              {"-", "-", 2},
                                              {"*", "*", 2},
                                              {"/", "/", 2},
                                              {"%", "%", 2},
                                              {"<", "<", 2},
                                              {"<=", "<=", 2},
                                              {">", ">", 2},
                                              {">=", ">=", 2},
                                              {"==", "==", 2},
                                              {"!=", "!=", 2},
                                              {"&&", "&&", 2},
                                              {"||", "||", 2},
                                              {"neg", "-", 1},
                                              {"int", "int", 1},
                                              {"real", "real", 1},
                                              {"string", "string", 1},
                                              {"?:", "?:", 3}}};

}  // namespace

int operand_count(const Token& token) noexcept {
  if (token.kind == Token::Kind::op) return operators[static_cast<std::size_t>(token.op)].operands;
  return token.kind == Token::Kind::name ? token.indices : 0;
}

const char* to_string(Op op) noexcept {
  return operators[static_cast<std::size_t>(op)].shown;
}

Code ExpressionCompiler::expression(const Json& json, const Place& around, bool nfparams) {
  Code code;
  code.at = around;
  if (!json.is_array()) {
    problems_.add(around, fmt::format("an expression is a list, not {}", json.dump()));
    return code;
  }
  for (const auto& element : json) append(code, element, nfparams);
  check_stack(code);
  if (!code.empty() && code.tokens.back().at.file >= 0) code.at = code.tokens.back().at;
  return code;
}

Code ExpressionCompiler::reference(const Json& json, const Place& around, bool labels) {
  auto code = expression(json, around);
  if (!code.is_name()) problems_.add(code.at, "a name of a data fragment is expected here, not a value");
  if (labels && json.is_array() && !json.empty() && json.back().is_object()) {
    const auto* const symbol = scopes_.find(json.back().value("id", ""));
    if (symbol == nullptr || symbol->kind != Symbol::Kind::label)
      problems_.add(code.at, "a label is expected here");
  }
  return code;
}

void ExpressionCompiler::append(Code& code, const Json& element, bool nfparams) {
  if (element.is_number_integer()) {
    const auto number = element.get<std::int64_t>();
    if (number < std::numeric_limits<std::int32_t>::min() ||
        number > std::numeric_limits<std::int32_t>::max())
      problems_.add(code.at, fmt::format("{} is beyond the range of int", element.dump()));
    return append_constant(code, Value(static_cast<std::int32_t>(number)));
  }
  if (element.is_number()) return append_constant(code, Value(element.get<double>()));
  const Node node(element, code.at, problems_);
  if (node.has("s")) return node.allow({"s"}), append_constant(code, Value(std::string_view(node.text("s"))));
  if (node.has("op")) return append_op(code, node);
  append_id(code, node, nfparams);
}

void ExpressionCompiler::append_constant(Code& code, Value value) {
  Token token;
  token.number = static_cast<std::uint32_t>(image_.constants.size());
  token.at = code.at;
  image_.constants.push_back(std::move(value));
  code.tokens.push_back(token);
}

void ExpressionCompiler::append_id(Code& code, const Node& node, bool nfparams) {
  node.allow({"id", "n"});
  const auto id = node.text("id");
  const int indices = node.number("n", 0);
  const auto* const symbol = scopes_.find(id);
  if (symbol == nullptr) return node.problem(fmt::format("unknown name '{}'", id));
  const bool named = symbol->kind == Symbol::Kind::name || symbol->kind == Symbol::Kind::label;
  if (indices < 0 || indices > std::numeric_limits<std::uint16_t>::max() || (indices > 0 && !named))
    return node.problem(fmt::format("'{}' takes no {} indices", id, indices));
  if (symbol->kind == Symbol::Kind::nfparam && !nfparams)
    return node.problem(fmt::format("'{}' is for recommendations only", id));
  if (symbol->kind == Symbol::Kind::let) {
    code.tokens.insert(code.tokens.end(), symbol->code.tokens.begin(), symbol->code.tokens.end());
    return;
  }
  Token token;
  token.kind = named ? Token::Kind::name : Token::Kind::slot;
  token.indices = static_cast<std::uint16_t>(indices);
  token.number = symbol->slot;
  token.at = node.at();
  code.tokens.push_back(token);
}

void ExpressionCompiler::append_op(Code& code, const Node& node) {
  node.allow({"op"});
  const auto text = node.text("op");
  Token token;
  token.kind = Token::Kind::op;
  token.at = node.at();
  for (std::size_t i = 0; i < operators.size(); ++i)
    if (text == operators[i].text) return token.op = static_cast<Op>(i), code.tokens.push_back(token);
  node.problem(fmt::format("unknown operator '{}'", text));
}

void ExpressionCompiler::check_stack(const Code& code) {
  std::size_t depth = 0;
  for (const auto& token : code.tokens) {
    const auto taken = static_cast<std::size_t>(operand_count(token));
    if (taken > depth)
      return problems_.add(token.at, "an operator or name of this expression has too few operands");
    depth = depth - taken + 1;
  }
  if (depth != 1) problems_.add(code.at, fmt::format("an expression leaves one result, not {}", depth));
}

}  // namespace tailrace::fragments
