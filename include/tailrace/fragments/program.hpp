// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <source_location>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "tailrace/comm.hpp"
#include "tailrace/fragments/body.h"
#include "tailrace/fragments/expression.hpp"
#include "tailrace/fragments/options.hpp"

/// Fragment programs written in C++: bodies are functions of their inputs that return their outputs;
/// structure is described once, with symbols for what is known only when the program runs. How to use it:
/// docs/howto/fragments.md.
namespace tailrace::fragments {

struct Image;

namespace detail {
/// A statement of the program that is being described; texts are those of the serialised form.
struct Item {
  std::string fields;  ///< all but the following
  std::vector<std::string> arguments, rules;
  std::vector<std::shared_ptr<Item>> body;
  bool call = false;
};
struct Description;

/// The recommendation to move to a rank that has nothing to do.
inline constexpr const char* stealable_rule = R"({"ruletype":"flags","property":"stealable"})";
/// The recommendation to run on a rank.
inline std::string rank_rule(const std::string& rank_tokens) {
  return R"({"ruletype":"expr","property":"locator_cyclic","expr":[)" + rank_tokens + "]}";
}

template <class T>
struct TypeWord;
template <>
struct TypeWord<int> {
  static constexpr const char* text = "int";
  static int from(const Value& value) { return value.integer(); }
};
template <>
struct TypeWord<double> {
  static constexpr const char* text = "real";
  static double from(const Value& value) { return value.real(); }
};
template <>
struct TypeWord<std::string> {
  static constexpr const char* text = "string";
  static std::string from(const Value& value) { return std::string(value.text()); }
};
template <class T>
struct TypeWord<Block<T>> {
  static constexpr const char* text = "value";
  static Block<T> from(const Value& value) { return Block<T>(value.buffer()); }
};

inline Value to_value(int value) {
  return Value(std::int32_t{value});
}
inline Value to_value(double value) {
  return Value(value);
}
inline Value to_value(const std::string& value) {
  return Value(std::string_view(value));
}
template <class T>
Value to_value(const Block<T>& value) {
  return Value(value.buffer());
}

/// The value of an input; a value that is no block where one is wanted throws with its name.
const Value& input(tailrace_call& call, int number, bool block);
void output(tailrace_call& call, int number, Value value);

template <class T>
struct Outputs {
  using Tuple = std::tuple<T>;
};
template <>
struct Outputs<void> {
  using Tuple = std::tuple<>;
};
template <class... T>
struct Outputs<std::tuple<T...>> {
  using Tuple = std::tuple<T...>;
};
template <class F>
struct Signature : Signature<decltype(&F::operator())> {};
template <class F, class Result, class... In>
struct Signature<Result (F::*)(In...) const> {
  using Ins = std::tuple<std::decay_t<In>...>;
  using Outs = typename Outputs<Result>::Tuple;
  static constexpr bool returns_nothing = std::is_void_v<Result>;
};
}  // namespace detail

/// A body of a program, by the types of its inputs and outputs.
template <class Ins, class Outs>
struct Atomic {
  std::string name;
};

/// A computation fragment that is being described.
template <class Ins, class Outs>
class Call;
template <class... In, class... Out>
class Call<std::tuple<In...>, std::tuple<Out...>> {
 public:
  explicit Call(std::shared_ptr<detail::Item> item) : item_(std::move(item)) {}
  /// Its inputs: values, expressions, or names of data fragments. Once, before `into`.
  Call& with(const std::conditional_t<std::is_class_v<In> && !std::is_same_v<In, std::string>, Data<In>,
                                      Expression<In>>&... inputs) {
    (item_->arguments.push_back(inputs.tokens()), ...);
    return *this;
  }
  /// The data fragments that it writes.
  Call& into(const Data<Out>&... outputs) {
    (item_->arguments.push_back(outputs.tokens()), ...);
    return *this;
  }
  /// Runs on this rank, modulo the number of ranks.
  Call& on(const Int& rank) {
    item_->rules.push_back(detail::rank_rule(rank.tokens()));
    return *this;
  }
  /// Moves, although `on` places it, to a rank without work if `Options::balance` says so. @local
  Call& stealable() {
    item_->rules.emplace_back(detail::stealable_rule);
    return *this;
  }
  /// An output has so many uses; its memory is released after the last.
  template <class T>
  Call& reads(const Data<T>& output, const Int& uses) {
    item_->rules.push_back(R"({"ruletype":"assign","property":"req_count","ref":[)" + output.tokens() +
                           R"(],"expr":[)" + uses.tokens() + "]}");
    return *this;
  }
  /// Deletes a data fragment when it has run.
  template <class T>
  Call& then_delete(const Data<T>& data) {
    item_->rules.push_back(R"({"ruletype":"indexed","property":"delete","refs":[[)" + data.tokens() + "]]}");
    return *this;
  }

 private:
  std::shared_ptr<detail::Item> item_;
};

/// A structured fragment that is being described.
class Structure {
 public:
  explicit Structure(std::shared_ptr<detail::Item> item) : item_(std::move(item)) {}
  /// Unfolds on this rank, modulo the number of ranks; elsewhere it unfolds where it was created.
  Structure& on(const Int& rank) {
    item_->rules.push_back(detail::rank_rule(rank.tokens()));
    return *this;
  }
  /// Moves, although `on` places it, to a rank that has nothing to do, where `Options::balance` says so; what
  /// it creates has rules of its own. @local
  Structure& stealable() {
    item_->rules.emplace_back(detail::stealable_rule);
    return *this;
  }

 private:
  std::shared_ptr<detail::Item> item_;
};

/// What a structured fragment creates. Its functions describe, they execute nothing. All are @local.
class Scope {
 public:
  Scope(detail::Description& description, std::vector<std::shared_ptr<detail::Item>>& items)
      : description_(&description), items_(&items) {}

  /// New data fragments each time the scope is created.
  template <class T>
  Data<T> data(const std::string& name, std::source_location at = std::source_location::current()) {
    return Data<T>(declare(name, at));
  }
  /// A fragment that runs a body.
  template <class Ins, class Outs>
  Call<Ins, Outs> call(const Atomic<Ins, Outs>& body,
                       std::source_location at = std::source_location::current()) {
    return Call<Ins, Outs>(add_call(body.name, at));
  }
  /// Fragments for all i from `first` to `last`, both included.
  template <class Describe>
  Structure for_each(const Int& first, const Int& last, const Describe& describe,
                     std::source_location at = std::source_location::current()) {
    const auto name = new_variable();
    auto item = add(
        "for",
        R"("var":")" + name + R"(","first":[)" + first.tokens() + R"(],"last":[)" + last.tokens() + "]", at);
    Scope inner(*description_, item->body);
    describe(inner, variable(name));
    return Structure(std::move(item));
  }
  /// Fragments for k = `start` and on, while condition(k) is not 0; `out` becomes the first k without.
  template <class Condition, class Describe>
  Structure repeat_while(const Data<int>& out, const Int& start, const Condition& condition,
                         const Describe& describe,
                         std::source_location at = std::source_location::current()) {
    const auto name = new_variable();
    const Int holds = condition(variable(name));
    auto item = add("while",
                    R"("var":")" + name + R"(","start":[)" + start.tokens() + R"(],"cond":[)" +
                        holds.tokens() + R"(],"wout":[)" + out.tokens() + "]",
                    at);
    Scope inner(*description_, item->body);
    describe(inner, variable(name));
    return Structure(std::move(item));
  }
  /// Fragments if the condition is not 0.
  template <class Describe>
  Structure when(const Int& condition, const Describe& describe,
                 std::source_location at = std::source_location::current()) {
    auto item = add("if", R"("cond":[)" + condition.tokens() + "]", at);
    Scope inner(*description_, item->body);
    describe(inner);
    return Structure(std::move(item));
  }

 private:
  std::string declare(const std::string& name, const std::source_location& at);
  std::string new_variable();
  static Int variable(const std::string& name) { return Int::of(detail::name_tokens("", name, 0)); }
  std::shared_ptr<detail::Item> add_call(const std::string& body, const std::source_location& at);
  std::shared_ptr<detail::Item> add(const std::string& type, const std::string& fields,
                                    const std::source_location& at);

  detail::Description* description_;
  std::vector<std::shared_ptr<detail::Item>>* items_;
};

/// A program: bodies, and what `main` creates. The same on all ranks.
class Program {
 public:
  explicit Program(const std::string& name);
  Program(Program&&) noexcept;
  Program& operator=(Program&&) noexcept;
  ~Program();

  /// Adds a body: a function object of int, double, std::string and Block<T> that returns one of these, a
  /// tuple of them, or nothing. Bodies have no other effect than that. @local
  template <class F>
  auto atomic(const std::string& name, F body, std::source_location at = std::source_location::current()) {
    using Signature = detail::Signature<F>;
    using Ins = typename Signature::Ins;
    using Outs = typename Signature::Outs;
    std::vector<std::string> types;
    add_types(types, static_cast<Ins*>(nullptr));
    types.insert(types.end(), std::tuple_size_v<Outs>, "name");
    add_body(
        name, types, [body](tailrace_call& call) { run_body<Signature>(body, call); }, at);
    return Atomic<Ins, Outs>{name};
  }
  /// Describes the whole: a function of a scope, and of one `Int`, `Real` or `Text` for each word of the
  /// command line. @local
  template <class... Words, class F>
  void main(F describe, std::source_location at = std::source_location::current()) {
    std::vector<std::string> types{detail::TypeWord<Words>::text...};
    const auto names = begin_main(types, at);
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      Scope scope = main_scope();
      describe(scope, Expression<Words>::of(detail::name_tokens("", names[I], 0))...);
    }
    (std::index_sequence_for<Words...>{});
  }

  /// The serialised form (docs/formats/fragment_program.md). @local
  [[nodiscard]] std::string document() const;
  [[nodiscard]] const std::vector<std::pair<std::string, std::function<void(tailrace_call&)>>>& bodies()
      const;
  /// The program as it is executed, compiled again only if more was described since. @local. Errors (input):
  /// it is none
  [[nodiscard]] std::shared_ptr<const Image> image() const;

 private:
  template <class... In>
  static void add_types(std::vector<std::string>& types, std::tuple<In...>* /*unused*/) {
    (types.push_back(detail::TypeWord<In>::text), ...);
  }
  template <class Signature, class F>
  static void run_body(const F& body, tailrace_call& call) {
    using Ins = typename Signature::Ins;
    constexpr int inputs = static_cast<int>(std::tuple_size_v<Ins>);
    const auto invoke = [&]<std::size_t... I>(std::index_sequence<I...>) {
      return body(read<std::tuple_element_t<I, Ins>>(call, static_cast<int>(I))...);
    };
    constexpr auto each = std::make_index_sequence<std::tuple_size_v<Ins>>{};
    if constexpr (Signature::returns_nothing)
      invoke(each);
    else
      std::apply(
          [&](const auto&... values) {
            int number = inputs;
            (detail::output(call, number++, detail::to_value(values)), ...);
          },
          typename Signature::Outs(invoke(each)));
  }
  template <class T>
  static T read(tailrace_call& call, int number) {
    return detail::TypeWord<T>::from(
        detail::input(call, number, std::string_view(detail::TypeWord<T>::text) == "value"));
  }
  void add_body(const std::string& name, const std::vector<std::string>& types,
                std::function<void(tailrace_call&)> body, const std::source_location& at);
  std::vector<std::string> begin_main(const std::vector<std::string>& types, const std::source_location& at);
  Scope main_scope();

  std::unique_ptr<detail::Description> description_;
};

/// How a run ended; the same on all ranks.
struct Outcome {
  std::vector<std::string> errors;     ///< messages of what failed or can never run, empty if all has run
  std::vector<std::int64_t> executed;  ///< fragments of each rank that ran or unfolded to their end
  /// It has not come to its end: its state is in a checkpoint, with which the same call on any number of
  /// ranks begins if `CheckpointOptions::resume` is set.
  bool stopped = false;
  std::vector<std::string> notes{};  ///< if all has run: use counts that are larger than the uses
};
/// What `executed` says, for people: "33 fragments: rank 0: 17, rank 1: 16". @local
std::string to_string(const std::vector<std::int64_t>& executed);
/// Runs a program on all ranks; `words` are for the parameters of `main`. @collective{comm}. Errors (usage,
/// input): words or options that do not fit, on all ranks; no checkpoint to resume from (input), or the last
/// one cannot be written (io)
Outcome run(mpi::CommView comm, const Program& program, const std::vector<std::string>& words,
            const Options& options = {});
/// Runs a program on this thread alone, without MPI: the same results. @local. Errors as `run`
Outcome run_alone(const Program& program, const std::vector<std::string>& words);

}  // namespace tailrace::fragments
