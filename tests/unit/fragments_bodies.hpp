// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <mutex>
#include <string>
#include <vector>

#include "fragment_text.hpp"
#include "fragments/code.hpp"
#include "fragments/evaluation.hpp"
#include "fragments/interpreter.hpp"

namespace tailrace::test {

/// What bodies printed, in any order.
class Printed {
 public:
  void add(std::string line) {
    const std::scoped_lock lock(mutex_);
    lines_.push_back(std::move(line));
  }
  /// The lines in alphabetical order, separated by "; ".
  [[nodiscard]] std::string sorted() const {
    auto lines = lines_;
    std::ranges::sort(lines);
    return fmt::format("{}", fmt::join(lines, "; "));
  }

 private:
  std::mutex mutex_;
  std::vector<std::string> lines_;
};

/// The imports of all test programs.
inline const std::string test_imports =
    "import set(int v, name r); import setr(real v, name r); import sets(string v, name r);\n"
    "import add(int a, int b, name r); import show(string what, value v); import nothing();\n"
    "import block(int n, name r); import copy(value v, name r); import half(value v, name r);\n"
    "import two(int v, name a, name b); import unset(name r); import fails(int v, name r);\n"
    "import change(value & v, name r); import takes(int i, real x, string s); import join(value a, value b, "
    "name r);\n";

inline void show_parameters(tailrace_call& call, Printed& printed, std::size_t from) {
  std::string line;
  for (std::size_t i = from; i < call.parameters.size(); ++i)
    line += (i > from ? " " : "") + fragments::text_of(call.parameters[i].value);
  printed.add(line);
}

/// The bodies of all test programs.
inline fragments::Bodies test_bodies(Printed& printed) {
  using fragments::set_output;
  using fragments::Value;
  const auto integer = [](tailrace_call& call, int i) {
    return call.parameters[static_cast<std::size_t>(i)].value.integer();
  };
  const auto forward = [](tailrace_call& call) { set_output(call, 1, call.parameters[0].value); };
  return {
      {"set", forward},
      {"setr", forward},
      {"sets", forward},
      {"copy", forward},
      {"add", [=](tailrace_call& call) { set_output(call, 2, Value(integer(call, 0) + integer(call, 1))); }},
      {"show",
       [&](tailrace_call& call) {
         printed.add(
             fmt::format("{} {}", call.parameters[0].value.text(), text_of(call.parameters[1].value)));
       }},
      {"nothing", [&](tailrace_call&) { printed.add("nothing"); }},
      {"block",
       [=](tailrace_call& call) {
         set_output(call, 1, Value(fragments::Buffer(static_cast<std::size_t>(integer(call, 0)))));
       }},
      {"half", [=](tailrace_call& call) { set_output(call, 1, Value(integer(call, 0) / 2)); }},
      {"two",
       [=](tailrace_call& call) {
         set_output(call, 1, Value(integer(call, 0))), set_output(call, 2, Value(-integer(call, 0)));
       }},
      {"unset", [](tailrace_call&) {}},
      {"fails", [](tailrace_call&) { throw std::runtime_error("no luck"); }},
      {"change",
       [](tailrace_call& call) {
         unsigned long long size = 0;
         auto* const bytes = static_cast<char*>(fragments::body_interface().change_bytes(&call, 0, &size));
         if (size > 0) bytes[0] = 'c';
         fragments::body_interface().share(&call, 1, 0);
       }},
      {"takes", [&](tailrace_call& call) { show_parameters(call, printed, 0); }},
      {"join", [](tailrace_call& call) {
         const auto both =
             fragments::combine(fragments::Op::add, call.parameters[0].value, call.parameters[1].value);
         set_output(call, 2, both.value);
       }}};
}

/// The image of a program that may use the test bodies.
inline std::shared_ptr<const fragments::Image> test_image(const std::string& program) {
  return fragments::compile(FragmentText::document(program + "\n" + test_imports), "test");
}

}  // namespace tailrace::test
