#include <array>

#include "library.hpp"
#include "tailrace/base/error.hpp"
#include "tailrace/h5/file.hpp"

namespace tailrace::h5 {

void File::create_external_dataset(const DatasetSpec& spec, std::span<const ExternalPart> parts) {
  const LibraryLock lock;
  const auto operation = about("creating dataset " + spec.path);
  const Handle layout(H5Pcreate(H5P_DATASET_CREATE), H5Pclose, operation);
  check(H5Pset_layout(layout.get(), H5D_CONTIGUOUS), operation);
  check(H5Pset_fill_time(layout.get(), H5D_FILL_TIME_NEVER), operation);
  for (const auto& part : parts)
    check(H5Pset_external(layout.get(), part.file.c_str(), static_cast<off_t>(part.offset),
                          hsize_t{part.bytes}),
          operation);
  create_with(spec, layout);
}

std::vector<ExternalPart> File::external_parts(const std::string& dataset) const {
  constexpr std::size_t longest_name = 8192;  // longer ones are cut, and then not found
  const LibraryLock lock;
  const auto operation = about("places of dataset " + dataset);
  const Handle set = open_dataset(dataset);
  const Handle layout(H5Dget_create_plist(set.get()), H5Pclose, operation);
  const int count = H5Pget_external_count(layout.get());
  std::vector<ExternalPart> parts;
  for (int i = 0; i < count; ++i) {
    std::array<char, longest_name> name{};
    off_t offset = 0;
    hsize_t bytes = 0;
    check(H5Pget_external(layout.get(), static_cast<unsigned>(i), name.size() - 1, name.data(), &offset,
                          &bytes),
          operation);
    parts.push_back({.file = name.data(), .offset = static_cast<std::uint64_t>(offset), .bytes = bytes});
  }
  return parts;
}

}  // namespace tailrace::h5
