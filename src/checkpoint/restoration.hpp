// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/files.hpp"
#include "contents.hpp"
#include "manifest.hpp"
#include "tailrace/checkpoint.hpp"

namespace tailrace::checkpoint {

/// The archive that restores, on one rank: without a word to the others.
class Restoration final : public StateArchive {
 public:
  /// Describes what this rank took of a set.
  struct Taken {
    std::uint64_t count = 0, sum = 0;
  };

  Restoration(const Contents& contents, const std::string& path) : contents_(contents), file_(path, remedy) {}

  [[nodiscard]] bool restores() const noexcept override { return true; }
  [[nodiscard]] bool has(const std::string& component) const override {
    return contents_.components.contains(component);
  }
  [[nodiscard]] const std::map<std::string, Taken>& taken() const noexcept { return taken_; }
  /// The parts of the checkpoint that nobody asked for.
  [[nodiscard]] std::vector<std::string> left() const;

 private:
  int enter(const std::string& component, int version) override;
  void pass_numbers(const std::string& name, h5::ElementType type, std::vector<std::byte>& bytes) override;
  void pass_text(const std::string& name, std::string& text) override;
  void pass_field(const std::string& name, const FieldState& field) override;
  void pass_rows(const std::string& name, RowSet& rows) override;
  void pass_items(const std::string& name, ItemSet& items) override;
  /// Finds a part of the state by its name. Errors (input): it is missing.
  template <class T>
  const T& find(const std::map<std::string, T>& parts, const std::string& name, std::string& path);
  [[noreturn]] void refuse(const std::string& path, const std::string& what) const;

  const Contents& contents_;
  InputFile file_;
  std::string component_;
  std::set<std::string> asked_;
  std::map<std::string, Taken> taken_;
};

}  // namespace tailrace::checkpoint
