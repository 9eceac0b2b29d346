// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>

#include "fragments/body_call.hpp"

namespace tailrace::fragments {

/// A program and the bodies that it calls.
struct Loaded {
  std::shared_ptr<const Image> image;
  Bodies bodies;
};

/// Loads a program: a document in a file `.json`, with bodies from the shared object `bodies` if that is not
/// empty, or a shared object that holds both (docs/formats/fragment_program.md). Shared objects stay loaded.
/// One that needs a text before its bodies run is given `argument`.
/// @local. Errors (input): unreadable files, missing symbols, all of them; documents of another form; what an
/// object says of its argument
Loaded load_program(const std::string& path, const std::string& bodies, const std::string& argument = "");

}  // namespace tailrace::fragments
