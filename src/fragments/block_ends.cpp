// SPDX-License-Identifier: BSD-3-Clause
#include "fragments/block_ends.hpp"

#include <algorithm>

namespace tailrace::fragments {

namespace {

/// Whether test(code) holds for an expression of a statement, but for those of the statements in it.
template <class Test>
bool any_code(const Statement& statement, Test test) {
  const auto any = [&](const std::vector<Code>& codes) { return std::ranges::any_of(codes, test); };
  const auto& rules = statement.rules;
  for (const auto* code : {&statement.label, &statement.first, &statement.last, &statement.condition,
                           &statement.start, &statement.out, &rules.rank})
    if (test(*code)) return true;
  for (const auto* codes : {&statement.arguments, &statement.nfarguments, &rules.requests, &rules.deletes,
                            &rules.sets, &rules.waits})
    if (any(*codes)) return true;
  return std::ranges::any_of(rules.counts,
                             [&](const CountRule& rule) { return test(rule.name) || test(rule.count); }) ||
         std::ranges::any_of(rules.pushes,
                             [&](const PushRule& rule) { return test(rule.name) || test(rule.to); });
}

/// Whether test(statement) holds for one of a block, or within, that uses a slot.
template <class Test>
bool any_statement(const Statements& block, std::uint32_t slot, Test test) {
  return std::ranges::any_of(block.statements, [&](const Statement* statement) {
    if (!std::ranges::binary_search(statement->captured, slot)) return false;
    return test(*statement) || any_statement(statement->block, slot, test);
  });
}

bool names(const Code& code, std::uint32_t slot) {
  return code.is_name() && code.tokens.back().number == slot;
}

/// Whether it says how long a name lives: by a use count, or by a deletion.
bool says_end(const Statement& statement, std::uint32_t slot) {
  return std::ranges::any_of(statement.rules.deletes,
                             [slot](const Code& code) { return names(code, slot); }) ||
         std::ranges::any_of(statement.rules.counts,
                             [slot](const CountRule& rule) { return names(rule.name, slot); });
}

bool writes(const Statement& statement, std::uint32_t slot) {
  return std::ranges::any_of(statement.written, [slot](const Code* name) { return names(*name, slot); });
}

/// Finds which names are used with indices, also by subroutines that they are passed to.
class IndexedNames {
 public:
  explicit IndexedNames(const Image& image) {
    parameters_.resize(image.subroutines.size());
    for (const auto& [name, subroutine] : image.subroutines)
      parameters_[subroutine.number].resize(subroutine.parameters.size());
    for (bool changed = true; changed;) {
      changed = false;
      for (const auto& [name, subroutine] : image.subroutines)
        for (std::uint32_t i = 0; i < subroutine.parameters.size(); ++i)
          if (!parameters_[subroutine.number][i] && in(subroutine.block, i))
            parameters_[subroutine.number][i] = changed = true;
    }
  }
  [[nodiscard]] bool in(const Statements& block, std::uint32_t slot) const {
    return any_statement(block, slot, [&](const Statement& statement) {
      return any_code(statement, [slot](const Code& code) { return takes_index(code, slot); }) ||
             passes_on(statement, slot);
    });
  }

 private:
  static bool takes_index(const Code& code, std::uint32_t slot) {
    return std::ranges::any_of(code.tokens, [slot](const Token& token) {
      return token.kind == Token::Kind::name && token.number == slot && token.indices > 0;
    });
  }
  [[nodiscard]] bool passes_on(const Statement& statement, std::uint32_t slot) const {
    for (std::size_t i = 0; i < statement.arguments.size(); ++i)
      if (names(statement.arguments[i], slot) && parameters_[statement.callee->number][i]) return true;
    return false;
  }

  std::vector<std::vector<bool>> parameters_;  ///< by number of the subroutine
};

void find_ends(Image& image, Statements& block, const IndexedNames& indexed) {
  for (const auto number : block.declarations) {
    auto& declaration = image.declarations[number];
    const auto slot = declaration.slot;
    const bool copied =
        declaration.home >= 0 && !image.homes[static_cast<std::size_t>(declaration.home)].copies.code.empty();
    const auto writer = [slot](const Statement& statement) { return writes(statement, slot); };
    const auto ender = [slot](const Statement& statement) { return says_end(statement, slot); };
    if (copied || !any_statement(block, slot, writer) || any_statement(block, slot, ender)) continue;
    declaration.indexed = indexed.in(block, slot);
    block.ended.push_back(number);
  }
}

}  // namespace

void find_block_ends(Image& image) {
  const IndexedNames indexed(image);
  for (auto& [name, subroutine] : image.subroutines)
    if (&subroutine != image.main) find_ends(image, subroutine.block, indexed);
  for (auto& statement : image.statements) find_ends(image, statement.block, indexed);
}

}  // namespace tailrace::fragments
