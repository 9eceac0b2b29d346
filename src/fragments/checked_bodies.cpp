// SPDX-License-Identifier: BSD-3-Clause
#include "fragments/checked_bodies.hpp"

#include <fmt/format.h>

#include <functional>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

#include "fragments/evaluation.hpp"

namespace tailrace::fragments {

/// A number that follows from the bytes of an input that may only be read; nothing for other parameters.
static std::optional<std::size_t> mark_of(const tailrace_call::Parameter& parameter) {
  if (parameter.type != ParameterType::value || !parameter.value.is_set()) return std::nullopt;
  const auto bytes = parameter.value.bytes();
  return std::hash<std::string_view>{}({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

static std::vector<std::optional<std::size_t>> marks_of(const tailrace_call& call) {
  std::vector<std::optional<std::size_t>> marks;
  for (const auto& parameter : call.parameters) marks.push_back(mark_of(parameter));
  return marks;
}

Bodies checked(Bodies bodies) {
  for (auto& [symbol, body] : bodies)
    body = [body = std::move(body)](tailrace_call& call) {
      const auto before = marks_of(call);
      body(call);
      for (std::size_t i = 0; i < before.size(); ++i)
        if (mark_of(call.parameters[i]) != before[i])
          throw std::runtime_error(fmt::format(
              "it has changed {}, an input of type value, which may only be read; value & may be changed",
              body_interface().name(&call, static_cast<int>(i))));
    };
  return bodies;
}

}  // namespace tailrace::fragments
