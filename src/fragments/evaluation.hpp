// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fragments/fragment.hpp"

namespace tailrace::fragments {

/// What is wrong in a program at run time: a place, a sentence, a code, and what can be done.
struct Fault {
  Place at;
  std::string text;
  std::string code;
  std::string fix;
  std::optional<Name> about{};  ///< the data fragment whose type it is
  std::string note{};           ///< behind the caret
};

/// The result of an expression: a value, or that values are missing, or a fault.
struct Result {
  enum class State { known, missing, faulty };
  State state = State::missing;
  Value value;
  std::uint32_t fault = 0;  ///< number in `Evaluation::faults`
  [[nodiscard]] bool known() const noexcept { return state == State::known; }
};

/// The ints of an expression that has nothing else, as indices, bounds and ranks are.
class IntegerStack {
 public:
  /// Returns false if there is no place for it.
  bool push(std::int32_t number) noexcept {
    if (size_ == numbers_.size()) return false;
    numbers_[size_++] = number;
    return true;
  }
  std::int32_t pop() noexcept { return numbers_[--size_]; }
  /// The topmost numbers, the first of which was pushed first.
  [[nodiscard]] std::span<const std::int32_t> top(std::size_t count) const noexcept {
    return {numbers_.data() + size_ - count, count};
  }
  void drop(std::size_t count) noexcept { size_ -= count; }

 private:
  std::array<std::int32_t, 16> numbers_;  // what has not been pushed is not read
  std::size_t size_ = 0;
};

struct Computed;

/// Evaluates the expressions of one fragment, and finds what it needs.
class Evaluation {
 public:
  Evaluation(const Image& image, const Frame& frame, const std::vector<Input>& inputs)
      : image_(&image), frame_(&frame), inputs_(&inputs) {}

  /// Most expressions are of ints and are evaluated without memory; all else, and whatever is missing or
  /// wrong, is left to values.
  Result evaluate(const Code& code);
  /// The input that the reference evaluated last is, or null. Valid as long as the inputs are.
  [[nodiscard]] const Name* source() const noexcept { return source_; }
  /// The data fragment that a reference names; nothing if an index is not known.
  std::optional<Name> name(const Code& code);
  /// Adds a data fragment to those that the fragment needs. Returns its value if it is there.
  const Value* need(const Name& name);
  /// Data fragments that need not be there: the fragment's own outputs.
  void exempt(const Id& id) { exempt_.push_back(id); }
  /// The value of a variable that is not in the frame: of the condition of a `while`.
  void bind(std::uint32_t slot, std::int32_t value) { bound_slot_ = slot, bound_ = value, binds_ = true; }

  [[nodiscard]] std::vector<Name>& missing() noexcept { return missing_; }
  [[nodiscard]] const std::vector<Fault>& faults() const noexcept { return faults_; }
  [[nodiscard]] bool faulty() const noexcept { return fault_.has_value(); }
  /// The first fault that counts.
  [[nodiscard]] const Fault& fault() const { return *fault_; }
  void set_fault(Fault fault) {
    if (!fault_) fault_ = std::move(fault);
  }
  /// Has the fault of a result count. Returns whether the value is known.
  bool accept(const Result& result);
  /// Has the inputs that are used from now on marked, in the order of the inputs.
  void mark_used(std::vector<bool>& used) {
    used_ = &used;
    used_->resize(inputs_->size());
  }

  [[nodiscard]] const Image& image() const noexcept { return *image_; }
  [[nodiscard]] const Frame& frame() const noexcept { return *frame_; }

 private:
  bool push_integers(std::span<const Token> tokens, IntegerStack& integers);
  bool push_integer(const Token& token, IntegerStack& integers);
  bool push_if_integer(const Value* value, IntegerStack& integers);
  [[nodiscard]] const Name& base(const Token& token) const;
  std::optional<Name> quick_name(const Code& code);
  Result evaluate_values(const Code& code);
  void push(const Token& token);
  void push_slot(const Token& token);
  void push_name(const Token& token);
  std::optional<Name> take_name(const Token& token);
  void push_fault(const Place& at, Computed outcome);
  void apply(const Token& token);
  void choose(const Token& token);
  void combine(const Token& token);
  void convert(const Token& token);

  const Image* image_;
  const Frame* frame_;
  const std::vector<Input>* inputs_;
  std::vector<Result> stack_;
  std::vector<Name> missing_;
  std::vector<Id> exempt_;
  std::vector<Fault> faults_;
  std::optional<Fault> fault_;
  std::vector<bool>* used_ = nullptr;
  const Name* source_ = nullptr;
  std::uint32_t bound_slot_ = 0;
  std::int32_t bound_ = 0;
  bool binds_ = false;
};

inline constexpr const char* condition_fix = "compare it with something, or give a number";

/// An operator on two values, or a cast of one: the value, or why there is none.
struct Computed {
  Value value;
  std::string problem{};
  std::string code{};
  std::string fix{};
};
Computed combine(Op op, const Value& a, const Value& b);
/// The same of two ints; nothing if the result is none.
std::optional<std::int32_t> combine(Op op, std::int32_t a, std::int32_t b);
Computed convert(Op op, const Value& value);

/// Whether a value is an argument for a parameter as it is.
inline bool fits(const Value& value, ParameterType type) noexcept {
  if (type == ParameterType::integer) return value.type() == Type::integer;
  if (type == ParameterType::real) return value.type() == Type::real;
  return type != ParameterType::string || value.type() == Type::string;
}
/// The value of an argument for a parameter that it does not fit. Whether it may be converted depends on what
/// it is: a formula, a parameter or a data fragment.
enum class ArgumentForm { formula, parameter, data };
Computed convert_argument(const Value& value, ParameterType type, ArgumentForm form);
/// Converts a word of the command line for a parameter of `main`.
std::optional<Value> parse_word(const std::string& word, ParameterType type);

/// `grid[4][1]`, by the name that it was declared with.
std::string text_of(const Image& image, const Name& name);
/// ` (here line[1])`, if a statement knows it by a parameter with another name; else nothing.
std::string name_here(const Image& image, const Fragment& fragment, const Name& name);
/// A value in a message: numbers, strings in quotes, blocks by their size.
std::string text_of(const Value& value);
/// `powers(x, 3)`.
std::string text_of(const Image& image, const CallRecord& call);

}  // namespace tailrace::fragments
