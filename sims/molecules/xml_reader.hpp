// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <pugixml.hpp>
#include <set>
#include <string>
#include <vector>

#include "tailrace/error.hpp"

namespace tailrace::molecules {

/// An XML file that is read element by element: what is asked for counts as known, and all the rest can be
/// named in the end. Elements `include` are replaced by what they name in other files.
class XmlReader {
 public:
  /// Errors (input): no XML, or a file that is included and cannot be read.
  XmlReader(const std::string& text, const std::string& path);

  [[nodiscard]] pugi::xml_node root() const { return document_; }
  [[nodiscard]] Problems& problems() noexcept { return problems_; }

  /// The element below `node` at a path such as "run/production"; empty if there is none.
  pugi::xml_node find(pugi::xml_node node, const std::string& path);
  /// All elements of this name.
  std::vector<pugi::xml_node> find_all(pugi::xml_node node, const char* name);
  /// The text of an element without blanks around it; nothing if it is not there.
  std::optional<std::string> text(pugi::xml_node node, const std::string& path);
  /// The number of an element; a problem if it is none, or not in reduced units.
  template <class T = double>
  std::optional<T> number(pugi::xml_node node, const std::string& path);
  /// The same, where it has to be.
  template <class T = double>
  T needed(pugi::xml_node node, const std::string& path);
  /// What an element says, `otherwise` if it is not there; a problem if it is neither true nor false.
  bool truth(pugi::xml_node node, const std::string& path, bool otherwise);
  /// The same of an attribute.
  bool truth_of_attribute(pugi::xml_node node, const char* name, bool otherwise);
  /// Counts an element with all that it holds as known.
  void pass_over(pugi::xml_node node);

  void problem(pugi::xml_node node, const std::string& what, const std::string& fix = {});
  /// A line for each element that nobody asked for.
  [[nodiscard]] std::vector<std::string> unknown() const;
  /// "line 12: simulation/run"; without a line in what was included.
  [[nodiscard]] std::string place_of(pugi::xml_node node) const;

 private:
  void include(pugi::xml_node node, const std::string& path, int depth);
  bool checked_truth(pugi::xml_node node, const std::string& text);
  void mark_unknown(pugi::xml_node node, std::vector<std::string>& lines) const;

  std::string path_, text_;
  pugi::xml_document document_;
  std::set<pugi::xml_node> known_;
  Problems problems_;
};

}  // namespace tailrace::molecules
