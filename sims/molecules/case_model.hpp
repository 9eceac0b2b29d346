// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "model.hpp"
#include "tailrace/run/case_file.hpp"

namespace tailrace::molecules {

/// Reads [[component]], [[mixing]] and [model] of a case. What is wrong becomes problems of the file. @local
Model read_model(run::CaseFile& file);

/// As many numbers as the vector has, or nothing. What is wrong becomes a problem of the file. @local
std::optional<Vec3> read_vec3(run::CaseFile& file, const std::string& key, const char* fix);

}  // namespace tailrace::molecules
