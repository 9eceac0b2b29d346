// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tailrace/checkpoint.hpp"
#include "tailrace/file_content.hpp"

namespace tailrace::checkpoint {

/// The archive that saves: it collects what there is; fields, rows and items stay where they are.
class Inventory final : public StateArchive {
 public:
  [[nodiscard]] bool restores() const noexcept override { return false; }

  /// Numbers, texts and versions as datasets of the file.
  [[nodiscard]] const output::FileHead& head() const noexcept { return head_; }
  /// By path, such as "solver/p".
  [[nodiscard]] const std::vector<std::pair<std::string, FieldState>>& fields() const noexcept {
    return fields_;
  }
  [[nodiscard]] const std::vector<std::pair<std::string, RowSet*>>& row_sets() const noexcept {
    return row_sets_;
  }
  [[nodiscard]] const std::vector<std::pair<std::string, ItemSet*>>& item_sets() const noexcept {
    return item_sets_;
  }

 private:
  int enter(const std::string& component, int version) override;
  void pass_numbers(const std::string& name, h5::ElementType type, std::vector<std::byte>& bytes) override;
  void pass_text(const std::string& name, std::string& text) override;
  void pass_field(const std::string& name, const FieldState& field) override;
  void pass_rows(const std::string& name, RowSet& rows) override;
  void pass_items(const std::string& name, ItemSet& items) override;
  /// The path of a name, which is new.
  std::string path_of(const std::string& name);

  std::string component_;
  std::vector<std::string> paths_;
  output::FileHead head_;
  std::vector<std::pair<std::string, FieldState>> fields_;
  std::vector<std::pair<std::string, RowSet*>> row_sets_;
  std::vector<std::pair<std::string, ItemSet*>> item_sets_;
};

}  // namespace tailrace::checkpoint
