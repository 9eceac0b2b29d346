// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "tailrace/box.hpp"
#include "tailrace/error.hpp"

namespace tailrace::run {

enum class Status { finished, stopped, failed };
const char* to_string(Status status) noexcept;

/// Describes what the whole run has in common.
struct RunAccount {
  std::string title, simulation, program;
  std::string case_file;   ///< absolute; empty if there was none
  std::string input_file;  ///< absolute; empty if the simulation reads none
  std::string command;     ///< the native command line
  std::string started;     ///< ISO 8601
  double start_s = 0;      ///< by `monotonic_s`
  nlohmann::json config;
  nlohmann::json versions;
  nlohmann::json outputs = nlohmann::json::array();
  Index3 grid;
  StepIndex steps_planned = 0;
  StepIndex resumed_from = 0;  ///< the checkpoint that the run resumed from; 0: none
  double restore_s = 0;        ///< reading it
  int threads = 1;
  std::string strategy, sink;
  nlohmann::json plan{{"mode", "fixed"}};             ///< see `describe_plan`
  nlohmann::json results = nlohmann::json::object();  ///< what the simulation found out, by its own names
  nlohmann::json exchange = nullptr;  ///< see `describe_exchange`; null: the simulation has no access maps
  std::vector<std::string> warnings;
};

/// Describes how it ended.
struct RunEnd {
  Status status = Status::finished;
  std::string reason;
  std::optional<ErrorInfo> error;
  StepIndex steps_done = 0;
};

}  // namespace tailrace::run
