// SPDX-License-Identifier: BSD-3-Clause
#include "fragments/shared_object.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "tailrace/error.hpp"

namespace tailrace::fragments {

namespace {

std::string read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file || !text)
    throw Error({.kind = ErrorKind::input,
                 .message = fmt::format("{} cannot be read", path),
                 .path = path,
                 .hint = {}});
  return text.str();
}

void* open_object(const std::string& path) {
  // With a directory in its name, so that the system's paths are not searched.
  const auto full = std::filesystem::absolute(path).string();
  void* const object = ::dlopen(full.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (object == nullptr)
    throw Error({.kind = ErrorKind::input,
                 .message = fmt::format("{} cannot be loaded: {}", path, ::dlerror()),
                 .path = path,
                 .hint = {}});
  return object;
}

std::string document_in(void* object, const std::string& path) {
  const auto* const text = static_cast<const char*>(::dlsym(object, "tailrace_fragments_program"));
  const auto* const size =
      static_cast<const unsigned long long*>(::dlsym(object, "tailrace_fragments_program_size"));
  if (text == nullptr || size == nullptr)
    throw Error({.kind = ErrorKind::input,
                 .message = fmt::format("{} holds no program: it has no tailrace_fragments_program and "
                                        "tailrace_fragments_program_size",
                                        path),
                 .path = path,
                 .hint = "make it with tailrace compile, or give it as --bodies of a .json"});
  return {text, *size};
}

/// Lets an object that needs a text begin.
void begin(void* object, const std::string& argument) {
  const auto function =
      reinterpret_cast<tailrace_bodies_begin_function>(::dlsym(object, "tailrace_bodies_begin"));
  if (function == nullptr) return;
  const char* const wrong = function(argument.c_str());
  if (wrong != nullptr) throw Error({.kind = ErrorKind::input, .message = wrong, .path = {}, .hint = {}});
}

/// The bodies of all external subroutines that the object has; `Machine` names those that are missing.
Bodies bodies_in(void* object, const Image& image) {
  Bodies bodies;
  for (const auto& [name, subroutine] : image.subroutines) {
    if (!subroutine.external) continue;
    const auto body = reinterpret_cast<tailrace_body>(::dlsym(object, subroutine.code.c_str()));
    if (body != nullptr)
      bodies[subroutine.code] = [body](tailrace_call& call) { body(&body_interface(), &call); };
  }
  return bodies;
}

}  // namespace

Loaded load_program(const std::string& path, const std::string& bodies, const std::string& argument) {
  Loaded loaded;
  if (path.ends_with(".json")) {
    loaded.image = compile(read_text(path), path);
    if (bodies.empty()) return loaded;
    void* const object = open_object(bodies);
    begin(object, argument);
    loaded.bodies = bodies_in(object, *loaded.image);
    return loaded;
  }
  void* const object = open_object(path);
  loaded.image = compile(document_in(object, path), path);
  loaded.bodies = bodies_in(object, *loaded.image);
  return loaded;
}

}  // namespace tailrace::fragments
