// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "fragments/fragment.hpp"
#include "tailrace/fragments/body.h"

/// One execution of a body: its inputs and outputs.
struct tailrace_call {
  struct Parameter {
    tailrace::fragments::ParameterType type = tailrace::fragments::ParameterType::value;
    tailrace::fragments::Value value;  ///< of an output, once it is set
    std::string name;                  ///< made when it is asked for
    const tailrace::fragments::Name* data = nullptr;
    [[nodiscard]] bool is_output() const noexcept { return type == tailrace::fragments::ParameterType::name; }
  };
  const tailrace::fragments::Image* image = nullptr;
  const tailrace::fragments::Subroutine* subroutine = nullptr;
  std::vector<Parameter> parameters;
};

namespace tailrace::fragments {

/// Runs a body.
using Body = std::function<void(tailrace_call&)>;
/// Bodies by the symbol that the program calls them by.
using Bodies = std::map<std::string, Body>;

/// The functions of a body in a shared object.
const tailrace_body_interface& body_interface() noexcept;

/// A parameter; throws with the body's name if there is none of this number.
tailrace_call::Parameter& parameter_of(tailrace_call& call, int number);
/// Sets an output; throws if the parameter is none.
void set_output(tailrace_call& call, int number, Value value);
/// A value that is set and, unless `type` is unset, of this type; throws with its name otherwise.
const Value& value_of(tailrace_call& call, int number, Type type);

}  // namespace tailrace::fragments
