// SPDX-License-Identifier: BSD-3-Clause
#include "file_reader.hpp"

#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "h5/chunked.hpp"

namespace tailrace::rehearse {

namespace {

class Hdf5Reader final : public FileReader {
 public:
  explicit Hdf5Reader(const std::string& path) : file_(h5::File::open(path)) {}

  [[nodiscard]] const std::string& path() const noexcept override { return file_.path(); }
  [[nodiscard]] std::vector<std::string> groups() const override {
    std::vector<std::string> found;
    for (const auto& dataset : file_.dataset_paths())
      if (dataset.ends_with(values_name))
        found.push_back(dataset.substr(0, dataset.size() - std::strlen(values_name)));
    return found;
  }
  [[nodiscard]] std::optional<std::string> text_attribute(const std::string& group,
                                                          const std::string& name) const override {
    return file_.text_attribute(group, name);
  }
  [[nodiscard]] bool has(const std::string& dataset) const override { return file_.has_dataset(dataset); }
  [[nodiscard]] h5::ElementType type(const std::string& dataset) const override {
    return file_.type(dataset);
  }
  [[nodiscard]] bool grows(const std::string& dataset) const override {
    const auto layout = file_.chunk_layout(dataset);
    return layout && layout->grows;
  }
  [[nodiscard]] std::uint64_t count(const std::string& dataset) const override {
    return h5::element_count(file_.shape(dataset));
  }
  void read(const std::string& dataset, std::uint64_t first, std::span<double> out) override {
    file_.read_range(dataset, first, out.size(), h5::ElementType::float64, std::as_writable_bytes(out));
  }

 private:
  h5::File file_;
};

}  // namespace

std::vector<std::int64_t> FileReader::integers(const std::string& dataset) {
  std::vector<double> values(count(dataset));
  if (!values.empty()) read(dataset, 0, values);
  return {values.begin(), values.end()};
}

std::unique_ptr<FileReader> FileReader::open(const std::string& path) {
#ifdef TAILRACE_HAVE_ADIOS2
  if (std::filesystem::is_directory(path)) return open_adios(path);
#endif
  std::array<char, 3> start{};
  std::ifstream(path, std::ios::binary).read(start.data(), start.size());
  if (std::string(start.data(), start.size()) == "CDF") return open_netcdf(path);
  return std::make_unique<Hdf5Reader>(path);
}

}  // namespace tailrace::rehearse
