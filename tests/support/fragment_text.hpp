// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cctype>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

namespace tailrace::test {

/// Makes the serialised form of a fragment program from a text like LuNA's, for tests: no preprocessor, no
/// C++ bodies, `import name(type id, ...);` for each body, whose symbol is its name. Throws at anything else.
class FragmentText {
 public:
  using Json = nlohmann::json;

  static std::string document(const std::string& text) { return FragmentText(text).program().dump(); }

 private:
  struct Word {
    std::string text;
    int line = 1, column = 1;
    bool is_string = false;
  };

  explicit FragmentText(std::string text) : text_(std::move(text)) { split(); }

  void split() {
    static const std::vector<std::string> marks{"-->", ">>", "=>", "==", "!=", "<=", ">=", "&&", "||", ".."};
    int line = 1;
    std::size_t line_start = 0;
    for (std::size_t i = 0; i < text_.size();) {
      const auto c = static_cast<unsigned char>(text_[i]);
      if (c == '\n') ++line, line_start = i + 1;
      if (std::isspace(c) != 0) {
        ++i;
        continue;
      }
      std::size_t end = i + 1;
      if (c == '"')
        end = text_.find('"', end) + 1;
      else if (std::isdigit(c) != 0)
        end = number_end(i);
      else if (std::isalpha(c) != 0 || c == '_')
        while (end < text_.size() &&
               (std::isalnum(static_cast<unsigned char>(text_[end])) != 0 || text_[end] == '_'))
          ++end;
      else
        for (const auto& mark : marks)
          if (text_.compare(i, mark.size(), mark) == 0 && i + mark.size() > end) end = i + mark.size();
      words_.push_back({text_.substr(i, end - i), line, static_cast<int>(i - line_start) + 1, c == '"'});
      i = end;
    }
    words_.push_back({"", line, 1, false});
  }
  [[nodiscard]] std::size_t number_end(std::size_t i) const {
    while (i < text_.size() && (std::isdigit(static_cast<unsigned char>(text_[i])) != 0 ||
                                (text_[i] == '.' && text_[i + 1] != '.')))
      ++i;
    return i;
  }

  [[nodiscard]] const Word& next() const { return words_[at_]; }
  [[nodiscard]] bool is(const std::string& text) const { return next().text == text && !next().is_string; }
  bool take(const std::string& text) { return is(text) && ++at_ != 0; }
  std::string take() { return words_[at_++].text; }
  void expect(const std::string& text) {
    if (!take(text)) throw std::runtime_error("expected " + text + ", got " + next().text);
  }
  [[nodiscard]] Json place() const { return Json::array({0, next().line, next().column}); }

  Json program() {
    Json subs = Json::object();
    while (!is("")) {
      const bool external = take("import");
      if (!external) expect("sub");
      const auto at = place();
      const auto name = take();
      Json sub{{"type", external ? "extern" : "struct"}, {"args", parameters()}, {"at", at}};
      if (external) {
        sub["code"] = name;
        expect(";");
      } else {
        labels_.clear();
        block(sub);
        sub["body"].insert(sub["body"].begin(),
                           Json{{"type", "dfs"}, {"names", Json::array()}, {"labels", labels_}});
        for (const auto& nfparam : nfparams_) sub["nfparams"].push_back(nfparam);
        nfparams_.clear();
      }
      subs[name] = std::move(sub);
    }
    const Json file{{"name", "test.fa"}, {"text", text_}};
    return {{"tailrace_fragments", 1}, {"name", "test"}, {"files", Json::array({file})}, {"subs", subs}};
  }

  Json parameters() {
    Json list = Json::array();
    expect("(");
    while (!take(")")) {
      auto type = take();
      if (take("&")) type += "&";
      list.push_back({{"type", type}, {"at", place()}, {"id", take()}});
      take(",");
    }
    return list;
  }

  void block(Json& owner) {
    Json body = Json::array();
    if (take("{")) {
      if (take("df")) {
        Json names = Json::array();
        do names.push_back({{"at", place()}, {"id", take()}});
        while (take(","));
        expect(";");
        body.push_back({{"type", "dfs"}, {"names", names}});
      }
      while (!take("}")) body.push_back(statement());
      owner["rules"] = rules();
    } else {
      body.push_back(statement());
    }
    owner["body"] = std::move(body);
  }

  Json statement() {
    Json item{{"at", place()}};
    if (take("for")) return loop(item);
    if (take("while")) return repeat(item);
    if (take("if")) {
      item["type"] = "if", item["cond"] = expression();
      return block(item), item;
    }
    if (take("let")) {
      item["type"] = "let";
      do {
        Json entry{{"at", place()}, {"id", take()}};
        expect("=");
        entry["expr"] = expression();
        item["names"].push_back(entry);
      } while (take(","));
      return block(item), item;
    }
    return call(item);
  }
  Json loop(Json& item) {
    item["type"] = "for", item["var"] = take();
    expect("=");
    item["first"] = expression();
    expect("..");
    item["last"] = expression();
    return block(item), item;
  }
  Json repeat(Json& item) {
    item["type"] = "while", item["cond"] = expression();
    expect(",");
    item["var"] = take();
    expect("=");
    item["start"] = expression();
    expect("..");
    expect("out");
    item["wout"] = reference();
    return block(item), item;
  }
  Json call(Json& item) {
    item["type"] = "exec";
    if (take("cf")) {
      labels_.insert(next().text);
      item["id"] = reference();
      expect(":");
      item["at"] = place();
    }
    item["code"] = take();
    item["args"] = list();
    if (take(">>")) item["set"] = list();
    if (take("-->")) item["delete"] = list();
    item["rules"] = rules();
    take(";");
    return item;
  }
  Json list() {
    Json entries = Json::array();
    expect("(");
    while (!take(")")) entries.push_back(expression()), take(",");
    return entries;
  }

  Json rules() {
    Json list = Json::array();
    if (!take("@")) return list;
    expect("{");
    while (!take("}")) {
      Json rule{{"at", place()}, {"property", take()}};
      if (take(":"))
        rule["ruletype"] = "expr", rule["expr"] = expression();
      else if (!take(";"))
        named_rule(rule);
      else
        rule["ruletype"] = "flags", --at_;
      expect(";");
      if (rule["property"] == "nfparam" && rule["ruletype"] == "indexed")
        for (const auto& name : rule["refs"]) nfparams_.push_back(name.back()["id"]);
      else
        list.push_back(rule);
    }
    return list;
  }
  void named_rule(Json& rule) {
    const auto first = at_;
    auto ref = reference();
    if (take("=")) {
      rule["ruletype"] = "assign", rule["ref"] = ref, rule["expr"] = expression();
    } else if (is("=>") && rule["property"] == "afterpush") {
      expect("=>");
      rule["ruletype"] = "afterpush", rule["ref"] = ref, rule["to"] = reference();
    } else if (is("=>")) {
      at_ = first;
      rule["ruletype"] = "map", rule["ref"] = take(), rule["indices"] = Json::array();
      while (take("[")) rule["indices"].push_back(take()), expect("]");
      expect("=>");
      rule["expr"] = take("all") ? Json{{"s", "all"}} : expression();
    } else {
      rule["ruletype"] = "indexed", rule["refs"].push_back(ref);
      while (take(",")) rule["refs"].push_back(reference());
    }
  }

  Json reference() {
    Json out = Json::array();
    return primary(out), out;
  }
  Json expression() {
    Json out = Json::array();
    return choice(out), out;
  }
  void choice(Json& out) {
    binary(out, 0);
    while (is("?")) {
      const auto at = place();
      expect("?");
      binary(out, 0);
      expect(":");
      binary(out, 0);
      out.push_back({{"op", "?:"}, {"at", at}});
    }
  }
  void binary(Json& out, std::size_t level) {
    static const std::vector<std::set<std::string>> levels{
        {"||"}, {"&&"}, {"<", "<=", ">", ">=", "==", "!="}, {"+", "-"}, {"*", "/", "%"}};
    if (level == levels.size()) return unary(out);
    binary(out, level + 1);
    while (levels[level].contains(next().text) && !next().is_string) {
      const auto at = place();
      const auto op = take();
      binary(out, level + 1);
      out.push_back({{"op", op}, {"at", at}});
    }
  }
  void unary(Json& out) {
    const auto at = place();
    if (!take("-")) return primary(out);
    unary(out);
    out.push_back({{"op", "neg"}, {"at", at}});
  }
  void primary(Json& out) {
    const auto at = place();
    if (take("(")) {
      choice(out);
      return expect(")");
    }
    const auto word = next();
    ++at_;
    if (word.is_string) return out.push_back({{"s", word.text.substr(1, word.text.size() - 2)}});
    if (std::isdigit(static_cast<unsigned char>(word.text[0])) != 0)
      return out.push_back(Json::parse(word.text));
    if (is("(")) {
      primary(out);
      return out.push_back({{"op", word.text}, {"at", at}});
    }
    int indices = 0;
    for (; take("["); ++indices) choice(out), expect("]");
    out.push_back({{"id", word.text}, {"n", indices}, {"at", at}});
  }

  std::string text_;
  std::vector<Word> words_;
  std::size_t at_ = 0;
  std::set<std::string> labels_;
  std::vector<std::string> nfparams_;
};

}  // namespace tailrace::test
