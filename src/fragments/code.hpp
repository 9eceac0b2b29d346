// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tailrace/fragments/value.hpp"

/// A program as it is executed: names are slots of frames, expressions are flat. Made from the serialised
/// form by `compile`; nothing of the text is looked at while a program runs.
namespace tailrace::fragments {

/// A place in a source.
struct Place {
  std::int32_t file = -1, line = 0, column = 0;
  friend auto operator<=>(const Place&, const Place&) = default;
};

enum class Op : std::uint8_t {
  add,
  subtract,
  multiply,
  divide,
  remainder,
  less,
  less_equal,
  greater,
  greater_equal,
  equal,
  not_equal,
  both,
  either,
  negate,
  to_int,
  to_real,
  to_string,
  choose,
};
/// How an operator is written.
const char* to_string(Op op) noexcept;

/// One element of an expression in postfix order.
struct Token {
  enum class Kind : std::uint8_t { constant, slot, name, op };
  Kind kind = Kind::constant;
  Op op = Op::add;
  std::uint16_t indices = 0;  ///< that a name takes from the stack
  std::uint32_t number = 0;   ///< of the constant, or of the slot
  Place at;
};

/// How many results of the elements before it an element takes.
int operand_count(const Token& token) noexcept;

struct Code {
  std::vector<Token> tokens;
  Place at;
  [[nodiscard]] bool empty() const noexcept { return tokens.empty(); }
  /// Whether it is a name, with or without indices.
  [[nodiscard]] bool is_name() const noexcept { return !empty() && tokens.back().kind == Token::Kind::name; }
  /// Whether it is a name or a parameter alone, and no formula.
  [[nodiscard]] bool is_single() const noexcept {
    return is_name() || (tokens.size() == 1 && tokens[0].kind == Token::Kind::slot);
  }
  /// Whether its value is not in the text itself.
  [[nodiscard]] bool is_computed() const noexcept {
    return tokens.size() > 1 || (tokens.size() == 1 && tokens[0].kind != Token::Kind::constant);
  }
};

enum class ParameterType : std::uint8_t { integer, real, string, value, changeable, name };
struct Parameter {
  ParameterType type = ParameterType::value;
  std::string id;
  Place at;
};

/// How many uses a value has, and where that is said.
struct CountRule {
  Code name, count;
  Place at;
  std::int32_t output = -1;  ///< of a body: the number of the output that it is, if it is written as this is
};
struct PushRule {
  Code name, to;
  std::int32_t label = -1;  ///< declaration of `to`
};
/// What recommendations, `>>` and `-->` ask of their fragment.
struct Rules {
  std::vector<CountRule> counts;
  std::vector<Code> requests, deletes, sets;
  std::vector<Code> waits;  ///< requests of what is pushed, if anybody pushes
  std::vector<PushRule> pushes;
  Code rank;
  bool counts_are_plain = true;  ///< they are of outputs of a body and read no data fragments
  bool stealable = false, at_once = false;
};

/// An expression of the indices of a name; empty: there is none.
struct IndexedCode {
  Code code;
  std::uint32_t first_index = 0;  ///< slot of the first index; the others follow
  std::uint32_t index_count = 0;
};
/// Where the data fragments and labelled fragments of one declaration are.
struct HomeRule {
  IndexedCode rank;                     ///< of the home
  IndexedCode copies;                   ///< how far the ranks are apart that have copies
  std::vector<std::uint32_t> captured;  ///< slots that the expressions read
};
/// A `df`, or a label.
struct Declaration {
  std::string name;
  Place at;
  std::uint32_t slot = 0;
  std::int32_t home = -1;  ///< number of the rule, if there is one
  bool awaits = false;     ///< of a label: a fragment that has it waits for what is pushed
  bool indexed = false;    ///< it goes with its block, and may be used with indices
};

struct Statement;
struct Statements {
  std::vector<std::uint32_t> declarations;
  std::vector<std::uint32_t>
      ended;  ///< declarations whose data fragments go when all that it created has run
  std::vector<const Statement*> statements;
  std::uint32_t first_slot = 0;  ///< of those of its own
  std::uint32_t slots = 0;       ///< from the first to the last of its own
};

struct Subroutine {
  std::string name;
  bool external = false;
  std::string code;
  std::uint32_t number = 0;
  std::vector<Parameter> parameters;
  std::vector<std::string> nfparams;
  Statements block;
  Rules rules;               ///< of its block; they see the parameters
  std::vector<bool> writes;  ///< by parameter: whether it may write to this name
  std::uint32_t slots = 0;
  Place at;
};

inline constexpr std::uint32_t main_call_number = ~0U;

enum class Kind : std::uint8_t { execute, loop, repeat, condition };
struct Statement {
  Kind kind = Kind::execute;
  std::uint32_t number = 0;
  Place at;
  const Subroutine* caller = nullptr;
  Rules rules;
  // execute
  const Subroutine* callee = nullptr;
  std::vector<Code> arguments;
  std::vector<Code> nfarguments;
  Code label;
  std::int32_t label_declaration = -1;
  bool awaits = false;           ///< somebody pushes to its label, and it waits for that
  bool placed_by_label = false;  ///< it runs at the home of its label
  // loop: first, last; repeat: condition, start, out; condition: condition
  Code first, last, condition, start, out;
  std::uint32_t variable = 0;
  std::string variable_name;
  Statements block;
  std::vector<std::uint32_t> captured;  ///< slots of the frame that it, and what it creates, reads
  std::vector<const Code*> written;  ///< names to which it writes; of subroutines that it calls, their bases
};

struct SourceFile {
  std::string name;
  std::string text;
};

struct Image {
  std::string name;
  std::vector<SourceFile> files;
  std::map<std::string, Subroutine> subroutines;
  const Subroutine* main = nullptr;
  Statement main_call;  ///< is nowhere in the source; its number is `main_call_number`
  std::vector<Value> constants;
  std::vector<Declaration> declarations;
  std::vector<HomeRule> homes;
  std::deque<Statement> statements;
  std::vector<std::string> warnings;
  /// Options that the program is run with unless others are given: words of `tailrace-fragments`.
  std::vector<std::string> options;
  std::uint64_t digest = 0;
};

/// Makes the image of a document (docs/formats/fragment_program.md). All problems are reported together.
/// @local. Errors (input): not of this form.
std::shared_ptr<const Image> compile(const std::string& document, const std::string& path);

}  // namespace tailrace::fragments
