// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "base/text.hpp"
#include "fragments/evaluation.hpp"

/// Operators, casts and conversions.
namespace tailrace::fragments {

namespace {

constexpr const char* divisor_fix = "create what divides only where the divisor is not 0, with if";
constexpr const char* value_fix = "only a body can look into a value, as a parameter of type value";

Computed failure(std::string problem, std::string code, std::string fix) {
  return {{}, std::move(problem), std::move(code), std::move(fix)};
}
Computed truth(bool value) {
  return {Value(std::int32_t{value}), {}, {}};
}
double number(const Value& value) {
  return value.type() == Type::integer ? value.integer() : value.real();
}
std::string digits(const Value& value) {
  if (value.type() == Type::string) return std::string(value.text());
  return value.type() == Type::integer ? fmt::format("{}", value.integer())
                                       : fmt::format("{:f}", value.real());
}

template <class T>
std::optional<bool> compare(Op op, const T& a, const T& b) {
  switch (op) {
    case Op::less:
      return a < b;
    case Op::less_equal:
      return a <= b;
    case Op::greater:
      return a > b;
    case Op::greater_equal:
      return a >= b;
    case Op::equal:
      return a == b;
    case Op::not_equal:
      return a != b;
    default:
      return {};
  }
}

std::optional<std::int32_t> divide(Op op, std::int32_t a, std::int32_t b) {
  if (b == 0 || (a == std::numeric_limits<std::int32_t>::min() && b == -1)) return {};
  return op == Op::divide ? a / b : a % b;
}

Computed integers(Op op, std::int32_t a, std::int32_t b) {
  if (const auto result = combine(op, a, b)) return {Value(*result), {}, {}};
  const bool divides = op == Op::divide || op == Op::remainder;
  if (divides && b == 0) return failure("division by zero", "", divisor_fix);
  return failure("int overflow", "", "ints have 32 bits; real(...) of an operand makes it a real");
}

Computed reals(Op op, double a, double b) {
  if (const auto answer = compare(op, a, b)) return truth(*answer);
  if (op == Op::remainder) return failure("invalid operation on reals: %", "SEM1", "int(...)");
  if (op == Op::divide && b == 0) return failure("division by zero", "", divisor_fix);
  const double result = op == Op::add        ? a + b
                        : op == Op::subtract ? a - b
                        : op == Op::multiply ? a * b
                                             : a / b;
  return {Value(result), {}, {}};
}

Computed strings(Op op, const Value& a, const Value& b) {
  if (op == Op::add) return {Value(std::string_view(digits(a) + digits(b))), {}, {}};
  if (op == Op::equal) return truth(digits(a) == digits(b));
  if (op == Op::not_equal) return truth(digits(a) != digits(b));
  return failure(fmt::format("invalid operation on strings: {}", to_string(op)), "SEM1",
                 "strings have +, == and !=; int(...) or real(...) makes a number of one");
}

}  // namespace

std::optional<std::int32_t> combine(Op op, std::int32_t a, std::int32_t b) {
  if (const auto answer = compare(op, a, b)) return *answer;
  if (op == Op::both || op == Op::either) return op == Op::both ? a != 0 && b != 0 : a != 0 || b != 0;
  if (op == Op::divide || op == Op::remainder) return divide(op, a, b);
  std::int32_t result = 0;
  const bool overflow = op == Op::add        ? __builtin_add_overflow(a, b, &result)
                        : op == Op::subtract ? __builtin_sub_overflow(a, b, &result)
                                             : __builtin_mul_overflow(a, b, &result);
  return overflow ? std::nullopt : std::optional(result);
}

Computed combine(Op op, const Value& a, const Value& b) {
  if (a.type() == Type::block || b.type() == Type::block)
    return failure(fmt::format("invalid operation on values: {}", to_string(op)), "SEM1", value_fix);
  if (a.type() == Type::string || b.type() == Type::string) return strings(op, a, b);
  if (a.type() == Type::integer && b.type() == Type::integer) return integers(op, a.integer(), b.integer());
  if (op == Op::both) return truth(number(a) != 0 && number(b) != 0);
  if (op == Op::either) return truth(number(a) != 0 || number(b) != 0);
  return reals(op, number(a), number(b));
}

static Computed negated(const Value& value) {
  if (value.type() == Type::real) return {Value(-value.real()), {}, {}};
  if (value.type() == Type::integer) return integers(Op::subtract, 0, value.integer());
  return failure(fmt::format("invalid operation on {}s: -", to_string(value.type())), "SEM1",
                 "numbers have a minus; int(...) or real(...) makes one of a string");
}

static Computed to_integer(const Value& value) {
  if (value.type() == Type::integer) return {value, {}, {}};
  if (value.type() == Type::string) {
    const auto parsed = parse_number<int>(value.text());
    return parsed ? Computed{Value(std::int32_t{*parsed}), {}, {}}
                  : failure(fmt::format("{} is no int", text_of(value)), "",
                            "the whole text has to be an int, such as 12");
  }
  const double whole = std::trunc(value.real());
  if (!(whole >= std::numeric_limits<std::int32_t>::min() &&
        whole <= std::numeric_limits<std::int32_t>::max()))
    return failure(fmt::format("{} is out of the range of int", value.real()), "", "leave it a real");
  return {Value(static_cast<std::int32_t>(whole)), {}, {}};
}

static Computed to_real_number(const Value& value) {
  if (value.type() != Type::string) return {Value(number(value)), {}, {}};
  const auto parsed = parse_number<double>(value.text());
  return parsed ? Computed{Value(*parsed), {}, {}}
                : failure(fmt::format("{} is no real", text_of(value)), "",
                          "the whole text has to be a number, such as 1.5");
}

Computed convert(Op op, const Value& value) {
  if (value.type() == Type::block)
    return failure(fmt::format("a value cannot become {}", op == Op::negate ? "negative" : to_string(op)),
                   "SEM1", value_fix);
  if (op == Op::negate) return negated(value);
  if (op == Op::to_int) return to_integer(value);
  if (op == Op::to_real) return to_real_number(value);
  return {Value(std::string_view(digits(value))), {}, {}};
}

static Computed wrong_type(const Value& value, const char* wanted) {
  const auto fix = value.type() == Type::block ? std::string(value_fix)
                                               : fmt::format("{}(...) makes {} {} of it", wanted,
                                                             *wanted == 'i' ? "an" : "a", wanted);
  return failure(fmt::format("has type {}, wanted is {}", to_string(value.type()), wanted), "SEM1", fix);
}

Computed convert_argument(const Value& value, ParameterType type, ArgumentForm form) {
  switch (type) {
    case ParameterType::integer:
      if (value.type() == Type::real && form == ArgumentForm::formula) return to_integer(value);
      return wrong_type(value, "int");
    case ParameterType::real:
      return value.type() == Type::integer ? to_real_number(value) : wrong_type(value, "real");
    case ParameterType::string:
      if (value.type() == Type::integer || (value.type() == Type::real && form == ArgumentForm::data))
        return convert(Op::to_string, value);
      return wrong_type(value, "string");
    default:
      return {value, {}, {}};
  }
}

std::optional<Value> parse_word(const std::string& word, ParameterType type) {
  if (type == ParameterType::string) return Value(std::string_view(word));
  if (type == ParameterType::integer) {
    const auto parsed = parse_number<int>(word);
    return parsed ? std::optional(Value(std::int32_t{*parsed})) : std::nullopt;
  }
  if (type != ParameterType::real) return {};
  const auto parsed = parse_number<double>(word);
  return parsed && std::isfinite(*parsed) ? std::optional(Value(*parsed)) : std::nullopt;
}

std::string text_of(const Value& value) {
  if (value.type() == Type::integer) return fmt::format("{}", value.integer());
  if (value.type() == Type::real) return fmt::format("{}", value.real());
  if (value.type() == Type::string) return fmt::format("\"{}\"", value.text());
  return value.is_set() ? fmt::format("a value of {} bytes", value.bytes().size()) : "unset";
}

std::string text_of(const Image& image, const Name& name) {
  std::string text = image.declarations[name.declaration].name;
  for (const auto index : name.id.indices()) text += fmt::format("[{}]", index);
  return text;
}

/// Whether a name is another one with further indices, or the same.
static bool begins_with(const Id& id, const Id& first) {
  const auto all = id.indices(), some = first.indices();
  return id.base() == first.base() && some.size() <= all.size() &&
         std::ranges::equal(some, all.first(some.size()));
}

std::string name_here(const Image& image, const Fragment& fragment, const Name& name) {
  const auto& parameters = fragment.statement->caller->parameters;
  const Name* known = nullptr;
  std::size_t number = 0;
  for (const auto slot : fragment.statement->captured) {
    if (slot >= parameters.size()) break;
    const auto* const own = std::get_if<Name>(fragment.frame->find(slot));
    if (own == nullptr || !begins_with(name.id, own->id)) continue;
    const auto taken = own->id.indices().size();
    if (known == nullptr || taken > known->id.indices().size()) known = own, number = slot;
  }
  if (known == nullptr) return "";
  auto text = parameters[number].id;
  for (const auto index : name.id.indices().subspan(known->id.indices().size()))
    text += fmt::format("[{}]", index);
  return text == text_of(image, name) ? "" : fmt::format(" (here {})", text);
}

std::string text_of(const Image& image, const CallRecord& call) {
  std::string text = image.statements[call.statement].callee->name + "(";
  const char* separator = "";
  for (const auto& argument : call.arguments) {
    text += separator;
    separator = ", ";
    if (const auto* const value = std::get_if<Value>(&argument)) text += text_of(*value);
    if (const auto* const name = std::get_if<Name>(&argument)) text += text_of(image, *name);
  }
  return text + ")";
}

}  // namespace tailrace::fragments
