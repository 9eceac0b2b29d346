// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>
#include <type_traits>

#include "tailrace/fragments/value.hpp"

/// Symbols for what is known only when a fragment program runs. Their text is that of
/// docs/formats/fragment_program.md.
namespace tailrace::fragments {

namespace detail {
std::string constant(int value);
std::string constant(double value);
std::string constant(std::string_view text);
std::string name_tokens(const std::string& indices, const std::string& name, int count);
std::string operation(std::string_view op, const std::string& operands);
}  // namespace detail

/// An expression that has type T (int, double, std::string) when the program runs.
template <class T>
class Expression {
 public:
  Expression(T value) : tokens_(detail::constant(value)) {}  // NOLINT: constants are expressions
  /// The expression of these elements.
  static Expression of(std::string tokens) {
    Expression expression{T{}};
    expression.tokens_ = std::move(tokens);
    return expression;
  }
  [[nodiscard]] const std::string& tokens() const noexcept { return tokens_; }

 private:
  std::string tokens_;
};
using Int = Expression<int>;
using Real = Expression<double>;
using Text = Expression<std::string>;

/// A name of data fragments of type T (int, double, std::string, Block<U>), with any number of indices.
template <class T>
class Data {
 public:
  explicit Data(std::string name) : name_(std::move(name)) {}
  [[nodiscard]] Data operator[](const Int& index) const {
    Data data = *this;
    data.indices_ += index.tokens() + ",";
    ++data.count_;
    return data;
  }
  [[nodiscard]] std::string tokens() const { return detail::name_tokens(indices_, name_, count_); }
  /// The value of the data fragment.
  operator Expression<T>() const  // NOLINT: a name is its value where an expression is wanted
      requires(std::is_same_v<T, int> || std::is_same_v<T, double> || std::is_same_v<T, std::string>) {
    return Expression<T>::of(tokens());
  }

 private:
  std::string name_, indices_;
  int count_ = 0;
};

namespace detail {
template <class T>
struct Symbol {
  using Type = T;
  static constexpr bool symbolic = false;
};
template <class T>
struct Symbol<Expression<T>> {
  using Type = T;
  static constexpr bool symbolic = true;
};
template <class T>
struct Symbol<Data<T>> : Symbol<Expression<T>> {};
template <class T>
using TypeOf = typename Symbol<T>::Type;

/// Numbers of which at least one is known only when the program runs.
template <class A, class B>
concept Numbers = std::is_arithmetic_v<TypeOf<A>> && std::is_arithmetic_v<TypeOf<B>> &&
    (Symbol<A>::symbolic || Symbol<B>::symbolic);

template <class Result, class A, class B>
Expression<Result> binary(std::string_view op, const A& a, const B& b) {
  const Expression<TypeOf<A>> left(a);
  const Expression<TypeOf<B>> right(b);
  return Expression<Result>::of(operation(op, left.tokens() + "," + right.tokens()));
}
template <class A, class B>
using Common = std::common_type_t<TypeOf<A>, TypeOf<B>>;
}  // namespace detail

template <class A, class B>
requires detail::Numbers<A, B>
auto operator+(const A& a, const B& b) {
  return detail::binary<detail::Common<A, B>>("+", a, b);
}
template <class A, class B>
requires detail::Numbers<A, B>
auto operator-(const A& a, const B& b) {
  return detail::binary<detail::Common<A, B>>("-", a, b);
}
template <class A, class B>
requires detail::Numbers<A, B>
auto operator*(const A& a, const B& b) {
  return detail::binary<detail::Common<A, B>>("*", a, b);
}
template <class A, class B>
requires detail::Numbers<A, B>
auto operator/(const A& a, const B& b) {
  return detail::binary<detail::Common<A, B>>("/", a, b);
}
template <class A, class B>
requires detail::Numbers<A, B> && std::is_same_v < detail::Common<A, B>,
int > Int operator%(const A& a, const B& b) {
  return detail::binary<int>("%", a, b);
}
template <class A, class B>
requires detail::Numbers<A, B> Int operator<(const A& a, const B& b) {
  return detail::binary<int>("<", a, b);
}
template <class A, class B>
requires detail::Numbers<A, B> Int operator<=(const A& a, const B& b) {
  return detail::binary<int>("<=", a, b);
}
template <class A, class B>
requires detail::Numbers<A, B> Int operator>(const A& a, const B& b) {
  return detail::binary<int>(">", a, b);
}
template <class A, class B>
requires detail::Numbers<A, B> Int operator>=(const A& a, const B& b) {
  return detail::binary<int>(">=", a, b);
}
template <class A, class B>
requires detail::Numbers<A, B> Int operator==(const A& a, const B& b) {
  return detail::binary<int>("==", a, b);
}
template <class A, class B>
requires detail::Numbers<A, B> Int operator!=(const A& a, const B& b) {
  return detail::binary<int>("!=", a, b);
}
/// Both sides are needed, whatever the left one is.
template <class A, class B>
requires detail::Numbers<A, B> Int operator&&(const A& a, const B& b) {
  return detail::binary<int>("&&", a, b);
}
/// Both sides are needed, whatever the left one is.
template <class A, class B>
requires detail::Numbers<A, B> Int operator||(const A& a, const B& b) {
  return detail::binary<int>("||", a, b);
}

}  // namespace tailrace::fragments
