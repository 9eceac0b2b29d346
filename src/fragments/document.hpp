// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "fragments/code.hpp"
#include "tailrace/error.hpp"

namespace tailrace::fragments {

using Json = nlohmann::json;

/// Collects what is wrong with a document, each problem with its place in the source as far as it is known.
class DocumentProblems {
 public:
  DocumentProblems(const std::string& path, const Image& image) : problems_(path), image_(&image) {}
  void add(const Place& at, const std::string& text);
  void throw_if_any() const { problems_.throw_if_any(ErrorKind::input); }

 private:
  Problems problems_;
  const Image* image_;
};

/// One object of the document, which must have no other fields than those that it is asked about.
class Node {
 public:
  Node(const Json& json, Place around, DocumentProblems& problems);
  [[nodiscard]] const Place& at() const noexcept { return at_; }
  [[nodiscard]] std::string text(const char* key) const;
  [[nodiscard]] std::string text(const char* key, const std::string& missing) const;
  [[nodiscard]] int number(const char* key, int missing) const;
  [[nodiscard]] bool has(const char* key) const { return json_->is_object() && json_->contains(key); }
  [[nodiscard]] bool is(const char* key, const Json& value) const {
    return has(key) && (*json_)[key] == value;
  }
  /// The list of this name; an empty one if there is none.
  [[nodiscard]] const Json& list(const char* key) const;
  void allow(std::initializer_list<std::string_view> fields) const;
  void problem(const std::string& text) const { problems_->add(at_, text); }
  /// An object below this one.
  [[nodiscard]] Node below(const Json& json) const { return {json, at_, *problems_}; }

 private:
  const Json* json_;
  Place at_;
  DocumentProblems* problems_;
};

}  // namespace tailrace::fragments
