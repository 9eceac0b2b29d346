// SPDX-License-Identifier: BSD-3-Clause
#include "arguments.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "tailrace/error.hpp"

namespace tailrace::ultrasound {

namespace {

Error missing_value(const std::string& option) {
  return {ErrorKind::usage, fmt::format("{}: the value is missing", option)};
}

/// The option that a long name or a prefix of it means; null if there is none.
const OptionForm* find_long(const std::string& name, const std::vector<OptionForm>& options) {
  std::vector<const OptionForm*> candidates;
  for (const auto& option : options) {
    if (option.long_name.empty() || !option.long_name.starts_with(name)) continue;
    if (option.long_name == name) return &option;
    candidates.push_back(&option);
  }
  if (candidates.empty()) return nullptr;
  if (candidates.size() == 1) return candidates.front();
  std::vector<std::string> names;
  for (const auto* option : candidates) names.push_back("--" + option->long_name);
  throw Error(ErrorKind::usage,
              fmt::format("--{} is ambiguous. Fix: write one of {}", name, fmt::join(names, ", ")));
}

/// Returns whether the value of the last option in a group of short ones, such as "-pt", is the next
/// argument.
bool value_follows(const std::string& group, const std::vector<OptionForm>& options) {
  for (std::size_t i = 1; i < group.size(); ++i) {
    const auto found = std::find_if(options.begin(), options.end(), [&](const OptionForm& option) {
      return option.short_name == group.substr(i, 1);
    });
    if (found == options.end()) return false;
    if (found->takes_value) return i + 1 == group.size();
  }
  return false;
}

/// Reads arguments one after the other.
class Resolver {
 public:
  Resolver(const std::vector<std::string>& arguments, const std::vector<OptionForm>& options)
      : arguments_(arguments), options_(options) {}

  std::vector<std::string> resolve() {
    while (at_ < arguments_.size()) {
      const auto& argument = arguments_[at_++];
      if (argument == "--") {
        resolved_.insert(resolved_.end(), arguments_.begin() + static_cast<std::ptrdiff_t>(at_) - 1,
                         arguments_.end());
        break;
      }
      if (argument.starts_with("--"))
        take_long(argument.substr(2));
      else
        take_short(argument);
    }
    return std::move(resolved_);
  }

 private:
  void take_long(const std::string& text) {
    const auto equals = text.find('=');
    const auto* option = find_long(text.substr(0, equals), options_);
    if (option == nullptr) {
      resolved_.push_back("--" + text);
      return;
    }
    const std::string name = "--" + option->long_name;
    if (!option->takes_value) {
      if (equals != std::string::npos)
        throw Error(ErrorKind::usage, fmt::format("{} takes no value. Fix: write {} alone", name, name));
      resolved_.push_back(name);
    } else {
      const auto value = equals != std::string::npos ? text.substr(equals + 1) : next_value(name);
      if (value.empty()) throw missing_value(name);
      resolved_.push_back(fmt::format("{}={}", name, value));
    }
  }

  void take_short(const std::string& argument) {
    resolved_.push_back(argument);
    if (argument.size() > 1 && argument[0] == '-' && value_follows(argument, options_))
      resolved_.back() += next_value(argument);
  }

  const std::string& next_value(const std::string& option) {
    if (at_ == arguments_.size() || arguments_[at_].empty()) throw missing_value(option);
    return arguments_[at_++];
  }

  const std::vector<std::string>& arguments_;
  const std::vector<OptionForm>& options_;
  std::vector<std::string> resolved_;
  std::size_t at_ = 0;
};

}  // namespace

std::vector<std::string> resolve_arguments(const std::vector<std::string>& arguments,
                                           const std::vector<OptionForm>& options) {
  return Resolver(arguments, options).resolve();
}

}  // namespace tailrace::ultrasound
