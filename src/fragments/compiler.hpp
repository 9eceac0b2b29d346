// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <set>

#include "fragments/document.hpp"
#include "fragments/scope.hpp"

namespace tailrace::fragments {

/// Turns expressions of a document into code, within the scopes of one subroutine.
class ExpressionCompiler {
 public:
  ExpressionCompiler(Image& image, Scopes& scopes, DocumentProblems& problems)
      : image_(image), scopes_(scopes), problems_(problems) {}

  /// An expression. Parameters for recommendations are known only where `nfparams` is true.
  Code expression(const Json& json, const Place& around, bool nfparams = false);
  /// An expression that is a name of data fragments, or with `labels` a label.
  Code reference(const Json& json, const Place& around, bool labels = false);

 private:
  void append(Code& code, const Json& element, bool nfparams);
  void append_id(Code& code, const Node& node, bool nfparams);
  void append_op(Code& code, const Node& node);
  void append_constant(Code& code, Value value);
  void check_stack(const Code& code);

  Image& image_;
  Scopes& scopes_;
  DocumentProblems& problems_;
};

/// Turns subroutines of a document into statements.
class Compiler {
 public:
  Compiler(Image& image, DocumentProblems& problems) : image_(image), problems_(problems) {}
  void subroutine(Subroutine& subroutine, const Node& node);

 private:
  void block(Statements& block, const Node& node);
  void items(Statements& block, const Json& list, const Node& node);
  void item(Statements& block, const Node& node);
  void declarations(Statements& block, const Node& node);
  void declare_name(Statements& block, const std::string& name, const Place& at, Symbol::Kind kind);
  void let(Statements& block, const Node& node);
  void execute(Statement& statement, const Node& node);
  void arguments(Statement& statement, const Node& node);
  void loop(Statement& statement, const Node& node);
  void repeat(Statement& statement, const Node& node);
  void condition(Statement& statement, const Node& node);
  void variable(Statement& statement, const Node& node);
  void rules(Rules& rules, const Json& list, const Node& node, Statement* call);
  void rule(Rules& rules, const Node& node, Statement* call);
  bool find_output(CountRule& rule, const Statement* call) const;
  void indexed_rule(Rules& rules, const Node& node);
  [[nodiscard]] std::int32_t declaration_of(const Code& label) const;
  void nfargument(const Node& node, Statement* call);
  void home_rules(const Json& list, const Node& node);
  void home_rule(const Node& node);
  IndexedCode indexed_code(const Node& node);
  void finish(Statement& statement, std::uint32_t slots_before);
  ExpressionCompiler expressions() { return {image_, *scopes_, problems_}; }
  void declare(const std::string& name, const Place& at, Symbol symbol);
  void warn(const Place& at, const std::string& text);

  Image& image_;
  DocumentProblems& problems_;
  Subroutine* current_ = nullptr;
  Scopes* scopes_ = nullptr;
  std::size_t first_declaration_ = 0;  ///< of `current_`
};

/// `FILE:LINE:COLUMN`.
std::string text_of(const Image& image, const Place& place);

}  // namespace tailrace::fragments
