// SPDX-License-Identifier: BSD-3-Clause
#include "fragments/known_uses.hpp"

#include <algorithm>
#include <span>
#include <utility>

namespace tailrace::fragments {

namespace {

/// How fragments of a statement use a name.
enum class Use { none, read, written, unknown };

Use together(Use a, Use b) {
  if (a == Use::none || a == b) return b;
  return b == Use::none ? a : Use::unknown;
}

/// How the name of a slot is used.
class Uses {
 public:
  explicit Uses(std::uint32_t slot) : slot_(slot) {}

  [[nodiscard]] Use of(const Statement& statement) const {
    if (!std::ranges::binary_search(statement.captured, slot_)) return Use::none;
    for (const auto* inner : statement.block.statements)
      if (std::ranges::binary_search(inner->captured, slot_)) return Use::unknown;
    if (statement.kind == Kind::repeat) return of_repeat(statement);
    auto found = arguments(statement);
    for (const auto* code : {&statement.first, &statement.last, &statement.condition, &statement.label})
      found = together(found, read(*code));
    for (const auto& code : statement.nfarguments) found = together(found, read(code));
    return together(found, rules(statement.rules));
  }

 private:
  /// Of a loop whose conditions, which are those of some fragments, do not read it.
  [[nodiscard]] Use of_repeat(const Statement& statement) const {
    const auto& out = statement.out.tokens;
    const bool writes = out.size() == 1 && is_it(out.front());
    const auto others =
        together(together(read(statement.start), read(statement.condition)), rules(statement.rules));
    return writes && others == Use::none ? Use::written : Use::unknown;
  }
  [[nodiscard]] bool is_it(const Token& token) const {
    return token.kind == Token::Kind::name && token.number == slot_;
  }
  [[nodiscard]] bool in(const Code& code) const {
    return std::ranges::any_of(code.tokens, [this](const Token& token) { return is_it(token); });
  }
  [[nodiscard]] Use read(std::span<const Token> tokens) const {
    auto found = Use::none;
    for (const auto& token : tokens)
      if (is_it(token)) found = together(found, token.indices == 0 ? Use::read : Use::unknown);
    return found;
  }
  [[nodiscard]] Use read(const Code& code) const { return read(std::span(code.tokens)); }

  [[nodiscard]] Use arguments(const Statement& statement) const {
    auto found = Use::none;
    for (std::size_t i = 0; i < statement.arguments.size(); ++i) {
      const auto& code = statement.arguments[i];
      if (statement.callee->parameters[i].type != ParameterType::name) {
        found = together(found, read(code));
        continue;
      }
      found = together(found, read(std::span(code.tokens).first(code.tokens.size() - 1)));
      const auto& last = code.tokens.back();
      if (!is_it(last)) continue;
      const bool whole = statement.callee->external && last.indices == 0 && found != Use::written;
      found = together(found, whole ? Use::written : Use::unknown);
    }
    return found;
  }
  [[nodiscard]] Use rules(const Rules& rules) const {
    auto found = read(rules.rank);
    for (const auto& code : rules.requests) found = together(found, read(code));
    for (const auto* list : {&rules.deletes, &rules.sets, &rules.waits})
      for (const auto& code : *list)
        if (in(code)) return Use::unknown;
    for (const auto& count : rules.counts)
      if (in(count.name) || in(count.count)) return Use::unknown;
    for (const auto& push : rules.pushes)
      if (in(push.name) || in(push.to)) return Use::unknown;
    return found;
  }

  std::uint32_t slot_;
};

/// The number of the output of a body that is the whole name of a slot.
std::int32_t output_of(const Statement& writer, std::uint32_t slot, Code& name) {
  std::int32_t output = 0;
  for (std::size_t i = 0; i < writer.arguments.size(); ++i) {
    if (writer.callee->parameters[i].type != ParameterType::name) continue;
    name = writer.arguments[i];
    if (name.tokens.back().number == slot && name.tokens.size() == 1) return output;
    ++output;
  }
  return -1;
}

void count(Image& image, Statement& writer, std::uint32_t slot, std::int32_t uses) {
  CountRule rule{writer.out, {}, writer.at, -1};
  if (writer.kind == Kind::execute) rule.output = output_of(writer, slot, rule.name);
  Token constant;
  constant.number = static_cast<std::uint32_t>(image.constants.size()), constant.at = writer.at;
  image.constants.emplace_back(uses);
  rule.count = {{constant}, writer.at};
  writer.rules.counts.push_back(std::move(rule));
}

void count_uses_in(Image& image, const Statements& block) {
  for (const auto number : block.declarations) {
    const auto& declaration = image.declarations[number];
    if (declaration.home >= 0 && !image.homes[static_cast<std::size_t>(declaration.home)].copies.code.empty())
      continue;
    const Statement* writer = nullptr;
    std::int32_t reads = 0;
    bool known = true;
    for (const auto* statement : block.statements) {
      const auto use = Uses(declaration.slot).of(*statement);
      known = known && use != Use::unknown && (use != Use::written || writer == nullptr);
      if (use == Use::written) writer = statement;
      if (use == Use::read) ++reads;
    }
    if (known && writer != nullptr) count(image, image.statements[writer->number], declaration.slot, reads);
  }
}

}  // namespace

void count_known_uses(Image& image) {
  for (auto& [name, subroutine] : image.subroutines) count_uses_in(image, subroutine.block);
  for (const auto& statement : image.statements) count_uses_in(image, statement.block);
}

}  // namespace tailrace::fragments
