// SPDX-License-Identifier: BSD-3-Clause
#include "xml_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "configuration.hpp"
#include "words.hpp"

namespace tailrace::molecules {

namespace {

std::string trimmed(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return std::string(text);
}

Error include_error(const std::string& path, const std::string& what) {
  return Error(ErrorInfo{.kind = ErrorKind::input,
                         .message = fmt::format("{}: include: {}", path, what),
                         .path = path,
                         .hint = "<include query=\"XPATH\">FILE</include>"});
}

}  // namespace

XmlReader::XmlReader(const std::string& text, const std::string& path)
    : path_(path), text_(text), problems_(path) {
  const auto result = document_.load_buffer(text_.data(), text_.size());
  if (!result) {
    const auto end = text_.begin() + std::min<std::ptrdiff_t>(result.offset, std::ssize(text_));
    throw Error(
        ErrorInfo{.kind = ErrorKind::input,
                  .message = fmt::format("{}: line {}: no XML: {}", path,
                                         1 + std::count(text_.begin(), end, '\n'), result.description()),
                  .path = path,
                  .offset = result.offset,
                  .hint = "a whole, well-formed file"});
  }
  include(document_, path, 0);
}

void XmlReader::include(pugi::xml_node node, const std::string& path, int depth) {
  constexpr int max_depth = 16;
  if (depth > max_depth) throw include_error(path, "files include each other without end");
  for (auto child = node.first_child(); child;) {
    const auto next = child.next_sibling();
    if (std::string_view(child.name()) != "include") {
      include(child, path, depth);
      child = next;
      continue;
    }
    const auto file = beside(path, trimmed(child.child_value()));
    const std::string query = child.attribute("query").value();
    pugi::xml_document other;
    if (const auto result = other.load_file(file.c_str()); !result)
      throw include_error(path, fmt::format("{}: {}", file, result.description()));
    include(other, file, depth + 1);
    try {
      for (const auto& found : other.select_nodes(query.empty() ? "/*" : query.c_str()))
        node.insert_copy_before(found.node(), child);
    } catch (const pugi::xpath_exception& error) {
      throw include_error(path, fmt::format("query {}: {}", query, error.what()));
    }
    node.remove_child(child);
    child = next;
  }
}

pugi::xml_node XmlReader::find(pugi::xml_node node, const std::string& path) {
  for (std::size_t begin = 0; node && begin <= path.size();) {
    const auto end = std::min(path.find('/', begin), path.size());
    node = node.child(path.substr(begin, end - begin).c_str());
    if (node) known_.insert(node);
    begin = end + 1;
  }
  return node;
}

std::vector<pugi::xml_node> XmlReader::find_all(pugi::xml_node node, const char* name) {
  const auto range = node.children(name);
  std::vector<pugi::xml_node> found(range.begin(), range.end());
  known_.insert(found.begin(), found.end());
  return found;
}

std::optional<std::string> XmlReader::text(pugi::xml_node node, const std::string& path) {
  const auto element = find(node, path);
  if (!element) return {};
  return trimmed(element.child_value());
}

template <class T>
std::optional<T> XmlReader::number(pugi::xml_node node, const std::string& path) {
  const auto element = find(node, path);
  if (!element) return {};
  const auto text = trimmed(element.child_value());
  const auto value = number_in<T>(text);
  if (!value) {
    problem(element, fmt::format("\"{}\" is no number", text));
    return T{};
  }
  const std::string unit = element.attribute("unit").value();
  if (!unit.empty() && unit != "reduced")
    problem(element, fmt::format("its unit is {}", unit), "numbers in reduced units");
  return value;
}
template std::optional<double> XmlReader::number(pugi::xml_node, const std::string&);
template std::optional<std::int64_t> XmlReader::number(pugi::xml_node, const std::string&);
template std::optional<int> XmlReader::number(pugi::xml_node, const std::string&);

template <class T>
T XmlReader::needed(pugi::xml_node node, const std::string& path) {
  const auto value = number<T>(node, path);
  if (!value) problem(node, fmt::format("{} is missing", path));
  return value.value_or(T{});
}
template double XmlReader::needed(pugi::xml_node, const std::string&);
template std::int64_t XmlReader::needed(pugi::xml_node, const std::string&);

bool XmlReader::checked_truth(pugi::xml_node node, const std::string& text) {
  const auto value = truth_in(text);
  if (!value) problem(node, fmt::format("\"{}\" is neither true nor false", text), "true or false");
  return value.value_or(false);
}

bool XmlReader::truth(pugi::xml_node node, const std::string& path, bool otherwise) {
  const auto element = find(node, path);
  return element ? checked_truth(element, trimmed(element.child_value())) : otherwise;
}

bool XmlReader::truth_of_attribute(pugi::xml_node node, const char* name, bool otherwise) {
  const auto attribute = node.attribute(name);
  return attribute ? checked_truth(node, trimmed(attribute.value())) : otherwise;
}

void XmlReader::pass_over(pugi::xml_node node) {
  known_.insert(node);
  for (const auto child : node.children()) pass_over(child);
}

void XmlReader::problem(pugi::xml_node node, const std::string& what, const std::string& fix) {
  problems_.add(fmt::format("{}: {}", place_of(node), what), fix);
}

std::vector<std::string> XmlReader::unknown() const {
  std::vector<std::string> lines;
  mark_unknown(document_, lines);
  return lines;
}

void XmlReader::mark_unknown(pugi::xml_node node, std::vector<std::string>& lines) const {
  for (const auto child : node.children()) {
    if (child.type() != pugi::node_element) continue;
    if (known_.contains(child))
      mark_unknown(child, lines);
    else
      lines.push_back(fmt::format("{}: {} is not known here, and has no effect", path_, place_of(child)));
  }
}

std::string XmlReader::place_of(pugi::xml_node node) const {
  std::string path;
  for (auto at = node; at.type() == pugi::node_element; at = at.parent())
    path = path.empty() ? at.name() : fmt::format("{}/{}", at.name(), path);
  const auto offset = node.offset_debug();
  if (offset < 0) return path;
  const auto end = text_.begin() + std::min<std::ptrdiff_t>(offset, std::ssize(text_));
  return fmt::format("line {}: {}", 1 + std::count(text_.begin(), end, '\n'), path);
}

}  // namespace tailrace::molecules
