// SPDX-License-Identifier: BSD-3-Clause
#include "fragments/evaluation.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.hpp"

namespace tailrace::fragments {

namespace {

bool compute(Op op, IntegerStack& integers) {
  if (op == Op::to_int) return true;
  if (op == Op::to_real || op == Op::to_string) return false;
  const auto right = integers.pop();
  if (op == Op::choose) {
    const auto left = integers.pop();
    return integers.push(integers.pop() != 0 ? left : right);
  }
  const auto left = op == Op::negate ? 0 : integers.pop();
  const auto result = fragments::combine(op == Op::negate ? Op::subtract : op, left, right);
  return result && integers.push(*result);
}

}  // namespace

const Name& Evaluation::base(const Token& token) const {
  const auto* const name = std::get_if<Name>(&(*frame_)[token.number]);
  TAILRACE_CHECK(name != nullptr, "a slot that is read holds a name");
  return *name;
}

bool Evaluation::push_if_integer(const Value* value, IntegerStack& integers) {
  return value != nullptr && value->type() == Type::integer && integers.push(value->integer());
}

bool Evaluation::push_integer(const Token& token, IntegerStack& integers) {
  switch (token.kind) {
    case Token::Kind::constant:
      return push_if_integer(&image_->constants[token.number], integers);
    case Token::Kind::slot:
      if (binds_ && token.number == bound_slot_) return integers.push(bound_);
      return push_if_integer(std::get_if<Value>(&(*frame_)[token.number]), integers);
    case Token::Kind::name: {
      auto name = base(token);
      name.id.take(integers.top(token.indices));
      integers.drop(token.indices);
      return push_if_integer(need(name), integers);
    }
    case Token::Kind::op:
      return compute(token.op, integers);
  }
  return false;
}

bool Evaluation::push_integers(std::span<const Token> tokens, IntegerStack& integers) {
  return std::ranges::all_of(tokens, [&](const Token& token) { return push_integer(token, integers); });
}

/// The name that a reference has if its indices are ints and known.
std::optional<Name> Evaluation::quick_name(const Code& code) {
  IntegerStack indices;
  const std::span tokens(code.tokens);
  if (!push_integers(tokens.first(tokens.size() - 1), indices)) return {};
  std::optional<Name> name(base(tokens.back()));
  name->id.take(indices.top(tokens.back().indices));
  return name;
}

Result Evaluation::evaluate(const Code& code) {
  source_ = nullptr;
  if (code.is_name())
    if (const auto name = quick_name(code)) {
      const auto* const value = need(*name);
      return value != nullptr ? Result{Result::State::known, *value, 0} : Result{};
    }
  IntegerStack integers;
  if (!code.is_name() && push_integers(code.tokens, integers))
    return {Result::State::known, Value(integers.pop()), 0};
  return evaluate_values(code);
}

Result Evaluation::evaluate_values(const Code& code) {
  stack_.clear();
  for (const auto& token : code.tokens) push(token);
  TAILRACE_DCHECK(stack_.size() == 1, "an expression leaves one result");
  return std::move(stack_.back());
}

std::optional<Name> Evaluation::name(const Code& code) {
  auto name = quick_name(code);
  if (name) return name;
  stack_.clear();
  for (std::size_t i = 0; i + 1 < code.tokens.size(); ++i) push(code.tokens[i]);
  name = take_name(code.tokens.back());
  if (!name && !stack_.empty()) accept(stack_.back());
  return name;
}

const Value* Evaluation::need(const Name& name) {
  const auto& inputs = *inputs_;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!(inputs[i].name.id == name.id)) continue;
    if (used_ != nullptr) (*used_)[i] = true;
    source_ = &inputs[i].name;
    return inputs[i].value.is_set() ? &inputs[i].value : nullptr;
  }
  const auto is_it = [&](const Name& other) { return other.id == name.id; };
  if (std::ranges::find(exempt_, name.id) == exempt_.end() && std::ranges::none_of(missing_, is_it))
    missing_.push_back(name);
  return nullptr;
}

bool Evaluation::accept(const Result& result) {
  if (result.state == Result::State::faulty) set_fault(faults_[result.fault]);
  return result.known();
}

void Evaluation::push(const Token& token) {
  switch (token.kind) {
    case Token::Kind::constant:
      stack_.push_back({Result::State::known, image_->constants[token.number], 0});
      break;
    case Token::Kind::slot:
      push_slot(token);
      break;
    case Token::Kind::name:
      push_name(token);
      break;
    case Token::Kind::op:
      apply(token);
      break;
  }
}

void Evaluation::push_slot(const Token& token) {
  if (binds_ && token.number == bound_slot_) {
    stack_.push_back({Result::State::known, Value(bound_), 0});
    return;
  }
  const auto* const value = std::get_if<Value>(&(*frame_)[token.number]);
  TAILRACE_CHECK(value != nullptr, "a slot that is read holds a value");
  stack_.push_back({Result::State::known, *value, 0});
}

void Evaluation::push_name(const Token& token) {
  const auto name = take_name(token);
  if (!name) return;
  const auto* const value = need(*name);
  stack_.push_back(value != nullptr ? Result{Result::State::known, *value, 0} : Result{});
}

/// The name with the indices on the stack. Without a name, why is on the stack.
std::optional<Name> Evaluation::take_name(const Token& token) {
  const auto& of = base(token);
  const auto first = stack_.end() - token.indices;
  const auto unknown = std::find_if(first, stack_.end(), [](const Result& index) { return !index.known(); });
  const auto other = std::find_if(first, stack_.end(), [](const Result& index) {
    return index.known() && index.value.type() != Type::integer;
  });
  if (unknown == stack_.end() && other == stack_.end()) {
    std::optional<Name> name(of);
    for (auto index = first; index != stack_.end(); ++index) name->id.take(index->value.integer());
    stack_.erase(first, stack_.end());
    return name;
  }
  const Result why = unknown != stack_.end() ? *unknown : *other;
  stack_.erase(first, stack_.end());
  if (!why.known())
    stack_.push_back(why);
  else
    push_fault(token.at, {{},
                          fmt::format("an index of {} is {}, a {}, not an int", text_of(*image_, of),
                                      text_of(why.value), to_string(why.value.type())),
                          "SEM1",
                          "int(...) makes an int of a number or a text"});
  return {};
}

void Evaluation::push_fault(const Place& at, Computed outcome) {
  stack_.push_back({Result::State::faulty, {}, static_cast<std::uint32_t>(faults_.size())});
  faults_.push_back({at, std::move(outcome.problem), std::move(outcome.code), std::move(outcome.fix)});
}

void Evaluation::apply(const Token& token) {
  if (token.op == Op::choose) return choose(token);
  return token.op >= Op::negate ? convert(token) : combine(token);
}

/// An int beside a real is a real, whichever is taken.
static Value common_type(Value taken, const Result& other) {
  if (other.known() && other.value.type() == Type::real && taken.type() == Type::integer)
    return Value(static_cast<double>(taken.integer()));
  return taken;
}

static bool is_true(const Value& value) {
  return value.type() == Type::integer ? value.integer() != 0 : value.real() != 0;
}

void Evaluation::choose(const Token& token) {
  auto otherwise = std::move(stack_.back());
  stack_.pop_back();
  auto then = std::move(stack_.back());
  stack_.pop_back();
  auto& condition = stack_.back();
  using enum Result::State;
  if (!condition.known()) return;
  if (then.state == missing || otherwise.state == missing) return void(condition = Result{});
  if (condition.value.type() == Type::string || condition.value.type() == Type::block) {
    const auto* const word = to_string(condition.value.type());
    stack_.pop_back();
    return push_fault(
        token.at,
        {{}, fmt::format("a condition is an int or a real, not a {}", word), "SEM1", condition_fix});
  }
  auto& taken = is_true(condition.value) ? then : otherwise;
  const auto& other = is_true(condition.value) ? otherwise : then;
  Result chosen = std::move(taken);
  if (chosen.known()) chosen.value = common_type(std::move(chosen.value), other);
  condition = std::move(chosen);
}

/// Whether the left side of `&&` or `||` decides alone.
static bool decides(Op op, const Result& left) {
  const bool number = left.known() && (left.value.type() == Type::integer || left.value.type() == Type::real);
  return number && ((op == Op::both && !is_true(left.value)) || (op == Op::either && is_true(left.value)));
}

void Evaluation::combine(const Token& token) {
  const auto right = std::move(stack_.back());
  stack_.pop_back();
  const auto left = std::move(stack_.back());
  stack_.pop_back();
  using enum Result::State;
  if (left.state == missing || right.state == missing) return stack_.push_back({});
  if (left.state == faulty) return stack_.push_back(left);
  if (right.state == faulty && decides(token.op, left))
    return stack_.push_back({known, Value(std::int32_t{token.op == Op::either}), 0});
  if (right.state == faulty) return stack_.push_back(right);
  auto outcome = fragments::combine(token.op, left.value, right.value);
  if (!outcome.problem.empty()) return push_fault(token.at, std::move(outcome));
  stack_.push_back({known, std::move(outcome.value), 0});
}

void Evaluation::convert(const Token& token) {
  if (!stack_.back().known()) return;
  auto outcome = fragments::convert(token.op, stack_.back().value);
  if (outcome.problem.empty()) return void(stack_.back().value = std::move(outcome.value));
  stack_.pop_back();
  push_fault(token.at, std::move(outcome));
}

}  // namespace tailrace::fragments
