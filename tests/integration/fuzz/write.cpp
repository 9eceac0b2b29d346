// SPDX-License-Identifier: BSD-3-Clause
#include <hdf5.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "case.hpp"
#include "h5/file.hpp"

/// The forms of datasets, written with HDF5's own functions: `tailrace::h5` makes well-behaved ones only.
namespace tailrace::fuzz {

namespace {

using h5::Handle;

Handle space_of(const std::vector<hsize_t>& extents, const hsize_t* largest = nullptr) {
  return {H5Screate_simple(static_cast<int>(extents.size()), extents.data(), largest), H5Sclose, "space"};
}

/// Describes what a dataset is made of; each form replaces some of it.
struct Parts {
  hid_t file;
  std::string name;
  const Item& item;
  std::string directory;  ///< refers to helper files
  Handle layout{H5Pcreate(H5P_DATASET_CREATE), H5Pclose, "layout"};
  Handle space;
  bool write = true;

  Parts(hid_t to, std::string called, const Item& what, std::string beside)
      : file(to),
        name(std::move(called)),
        item(what),
        directory(std::move(beside)),
        space(space_of(extents())) {
    H5Pset_obj_track_times(layout.get(), 0);
  }
  [[nodiscard]] std::vector<hsize_t> extents() const { return {item.shape.begin(), item.shape.end()}; }
  [[nodiscard]] hid_t memory_type() const { return item.is_integer() ? H5T_NATIVE_UINT64 : H5T_NATIVE_FLOAT; }
  [[nodiscard]] hid_t file_type() const { return item.is_integer() ? H5T_STD_U64LE : H5T_IEEE_F32LE; }
  [[nodiscard]] const void* values() const {
    return std::visit([](const auto& v) { return static_cast<const void*>(v.data()); }, item.values);
  }
  [[nodiscard]] std::size_t count() const {
    return std::visit([](const auto& v) { return v.size(); }, item.values);
  }
};

void set_chunks(Parts& parts) {
  auto chunk = parts.extents();
  if (chunk.empty()) return;
  for (auto& extent : chunk) extent = std::max<hsize_t>(1, extent / 2);
  H5Pset_chunk(parts.layout.get(), static_cast<int>(chunk.size()), chunk.data());
}

void add_text(hid_t object, const std::string& name, const Text& text) {
  if (text.form == TextForm::group_of_texts) return;
  const bool number = text.form == TextForm::number, variable = text.form == TextForm::variable;
  const Handle type(H5Tcopy(number ? H5T_NATIVE_INT64 : H5T_C_S1), H5Tclose, "text");
  const hsize_t two = 2;
  const Handle space(text.form == TextForm::list ? H5Screate_simple(1, &two, nullptr) : H5Screate(H5S_SCALAR),
                     H5Sclose, "space");
  if (!number) H5Tset_size(type.get(), variable ? H5T_VARIABLE : std::max<std::size_t>(1, text.value.size()));
  if (text.form == TextForm::padded) H5Tset_strpad(type.get(), H5T_STR_NULLPAD);
  if (text.form == TextForm::spaces) H5Tset_strpad(type.get(), H5T_STR_SPACEPAD);
  if (text.form == TextForm::terminated && !text.value.empty())
    H5Tset_size(type.get(), text.value.size() + 1);
  const hid_t made = H5Acreate2(object, name.c_str(), type.get(), space.get(), H5P_DEFAULT, H5P_DEFAULT);
  if (made < 0) return;  // longer than HDF5 allows
  const std::vector<std::int64_t> numbers{1, 2};
  const std::string twice = text.value + std::string(1, '\0') + text.value + std::string(8, '\0');
  const char* pointer = text.value.c_str();
  H5Awrite(made, type.get(),
           number     ? static_cast<const void*>(numbers.data())
           : variable ? static_cast<const void*>(&pointer)
                      : twice.data());
  H5Aclose(made);
}

/// Creates the dataset with a type of the file and writes values of a type of memory.
void create(const Parts& parts, hid_t type, hid_t memory, const void* values) {
  const Handle set(H5Dcreate2(parts.file, parts.name.c_str(), type, parts.space.get(), H5P_DEFAULT,
                              parts.layout.get(), H5P_DEFAULT),
                   H5Dclose, "creating " + parts.name);
  if (parts.write && values != nullptr) H5Dwrite(set.get(), memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
  for (const auto& [name, text] : parts.item.attributes) add_text(set.get(), name, {text});
}

/// With a type of its own, filled with zeros.
void create_zeros(const Parts& parts, hid_t type) {
  const std::vector<char> zeros((parts.count() + 1) * H5Tget_size(type) + 64);
  create(parts, type, type, zeros.data());
}

/// Types that HDF5 has by name and that numbers can be converted to.
std::optional<hid_t> number_type(const Parts& parts) {
  switch (parts.item.form) {
    case Form::big_endian:
      return parts.item.is_integer() ? H5T_STD_U64BE : H5T_IEEE_F32BE;
    case Form::double_precision:
      return H5T_IEEE_F64LE;
    case Form::small_integer:
      return H5T_STD_U8LE;
    case Form::signed_integer:
      return H5T_STD_I64LE;
    case Form::half_integer:
      return H5T_STD_U32LE;
    default:
      return {};
  }
}

Handle text_type(std::size_t bytes) {
  Handle type(H5Tcopy(H5T_C_S1), H5Tclose, "type");
  H5Tset_size(type.get(), bytes);
  return type;
}

Handle pair_type() {
  Handle type(H5Tcreate(H5T_COMPOUND, 8), H5Tclose, "type");
  H5Tinsert(type.get(), "value", 0, H5T_NATIVE_FLOAT);
  H5Tinsert(type.get(), "other", 4, H5T_NATIVE_FLOAT);
  return type;
}

Handle named_values_type() {
  Handle type(H5Tenum_create(H5T_NATIVE_UINT64), H5Tclose, "type");
  const std::uint64_t zero = 0, one = 1;
  H5Tenum_insert(type.get(), "ZERO", &zero);
  H5Tenum_insert(type.get(), "ONE", &one);
  return type;
}

/// Types that no number can be converted to.
Handle other_type(const Parts& parts) {
  const hsize_t three = 3;
  switch (parts.item.form) {
    case Form::bits:
      return {H5Tcopy(H5T_STD_B64LE), H5Tclose, "type"};
    case Form::text:
      return text_type(8);
    case Form::variable_text:
      return text_type(H5T_VARIABLE);
    case Form::compound:
      return pair_type();
    case Form::reference:
      return {H5Tcopy(H5T_STD_REF_OBJ), H5Tclose, "type"};
    case Form::array:
      return {H5Tarray_create2(parts.memory_type(), 1, &three), H5Tclose, "type"};
    case Form::variable_length:
      return {H5Tvlen_create(parts.memory_type()), H5Tclose, "type"};
    case Form::enumeration:
      return named_values_type();
    default:
      return {H5Tcreate(H5T_OPAQUE, 8), H5Tclose, "type"};
  }
}

void make_type_form(const Parts& parts) {
  if (const auto type = number_type(parts)) return create(parts, *type, parts.memory_type(), parts.values());
  create_zeros(parts, other_type(parts).get());
}

void make_external(Parts& parts) {
  const std::string file = parts.directory + "/values.bin";
  if (parts.item.form == Form::external) {
    if (std::FILE* raw = std::fopen(file.c_str(), "wb")) {
      std::fwrite(parts.values(), parts.item.is_integer() ? 8 : 4, parts.count(), raw);
      std::fclose(raw);
    }
  } else if (parts.item.form == Form::external_pipe) {
    ::mkfifo(file.c_str(), 0600);
  }
  H5Pset_external(parts.layout.get(), file.c_str(), 0, H5F_UNLIMITED);
  parts.write = false;
  create(parts, parts.file_type(), 0, nullptr);
}

void set_filters(const Parts& parts) {
  const hid_t layout = parts.layout.get();
  if (parts.item.form == Form::deflated) H5Pset_deflate(layout, 1);
  if (parts.item.form != Form::checked) return;
  H5Pset_shuffle(layout);
  H5Pset_fletcher32(layout);
}

/// A shape of which nothing is written, in chunks.
void claim(Parts& parts, const std::vector<hsize_t>& extents) {
  const std::vector<hsize_t> chunk(extents.size(), 64);
  H5Pset_chunk(parts.layout.get(), static_cast<int>(chunk.size()), chunk.data());
  parts.space = space_of(extents);
  parts.write = false;
}

void make_storage_form(Parts& parts) {
  constexpr hsize_t large = hsize_t{1} << 20;
  const float nan = std::nanf("");
  const std::vector<hsize_t> unlimited(parts.item.shape.size(), H5S_UNLIMITED);
  const auto form = parts.item.form;
  const bool unwritten = form == Form::unwritten || form == Form::filled_with_nan;
  if (unwritten || (form >= Form::chunked && form <= Form::extendable)) set_chunks(parts);
  set_filters(parts);
  if (form == Form::extendable && !unlimited.empty())
    parts.space = space_of(parts.extents(), unlimited.data());
  if (form == Form::compact) H5Pset_layout(parts.layout.get(), H5D_COMPACT);
  if (form == Form::later) H5Pset_alloc_time(parts.layout.get(), H5D_ALLOC_TIME_LATE);
  if (form == Form::scalar_space) parts.space = Handle(H5Screate(H5S_SCALAR), H5Sclose, "space");
  if (form == Form::null_space) parts.space = Handle(H5Screate(H5S_NULL), H5Sclose, "space");
  if (form == Form::filled_with_nan) H5Pset_fill_value(parts.layout.get(), H5T_NATIVE_FLOAT, &nan);
  if (unwritten || form == Form::null_space) parts.write = false;
  if (form == Form::huge) claim(parts, {large, large, large});
  if (form == Form::overflowing) claim(parts, {hsize_t{1} << 32, hsize_t{1} << 31, 2});
  create(parts, parts.file_type(), parts.memory_type(), parts.values());
}

void make_virtual(Parts& parts) {
  H5Pset_virtual(parts.layout.get(), parts.space.get(), (parts.directory + "/absent.h5").c_str(), "/values",
                 parts.space.get());
  parts.write = false;
  create(parts, parts.file_type(), 0, nullptr);
}

/// The item under another name, without its form.
void create_plain(const Parts& parts, const std::string& name) {
  Item plain = parts.item;
  plain.form = Form::plain;
  Parts elsewhere(parts.file, name, plain, parts.directory);
  create(elsewhere, elsewhere.file_type(), elsewhere.memory_type(), elsewhere.values());
}

void make_link_form(Parts& parts, const std::string& path) {
  const char* const name = parts.name.c_str();
  const std::string target = parts.name + "_elsewhere", pipe = parts.directory + "/pipe.h5",
                    other = parts.directory + "/other.h5";
  const auto external = [&](const std::string& file, const std::string& object) {
    H5Lcreate_external(file.c_str(), object.c_str(), parts.file, name, H5P_DEFAULT, H5P_DEFAULT);
  };
  switch (parts.item.form) {
    case Form::linked_soft:
    case Form::linked_hard:
      create_plain(parts, target);
      if (parts.item.form == Form::linked_soft)
        H5Lcreate_soft(("/" + target).c_str(), parts.file, name, H5P_DEFAULT, H5P_DEFAULT);
      else
        H5Lcreate_hard(parts.file, target.c_str(), parts.file, name, H5P_DEFAULT, H5P_DEFAULT);
      return;
    case Form::dangling:
      H5Lcreate_soft("/nowhere/at/all", parts.file, name, H5P_DEFAULT, H5P_DEFAULT);
      return;
    case Form::cyclic:
      H5Lcreate_soft(("/" + target).c_str(), parts.file, name, H5P_DEFAULT, H5P_DEFAULT);
      H5Lcreate_soft(("/" + parts.name).c_str(), parts.file, target.c_str(), H5P_DEFAULT, H5P_DEFAULT);
      return;
    case Form::link_to_file: {
      const Handle file(H5Fcreate(other.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), H5Fclose, "file");
      return external(other, "/" + parts.name);
    }
    case Form::link_to_pipe:
      ::mkfifo(pipe.c_str(), 0600);
      return external(pipe, "/" + parts.name);
    case Form::link_to_itself:
      return external(path, "/" + parts.name);
    case Form::group:
      H5Gclose(H5Gcreate2(parts.file, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
      return;
    default: {
      const Handle type(H5Tcopy(parts.file_type()), H5Tclose, "type");
      H5Tcommit2(parts.file, name, type.get(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
      return;
    }
  }
}

void write_item(hid_t file, const std::string& name, const Item& item, const std::string& path) {
  Parts parts(file, name, item, path.substr(0, path.rfind('/')));
  switch (item.form) {
    case Form::big_endian:
    case Form::double_precision:
    case Form::small_integer:
    case Form::signed_integer:
    case Form::half_integer:
    case Form::text:
    case Form::variable_text:
    case Form::compound:
    case Form::reference:
    case Form::array:
    case Form::variable_length:
    case Form::enumeration:
    case Form::opaque:
    case Form::bits:
      return make_type_form(parts);
    case Form::external:
    case Form::external_absent:
    case Form::external_pipe:
      return make_external(parts);
    case Form::virtual_source:
      return make_virtual(parts);
    case Form::linked_soft:
    case Form::linked_hard:
    case Form::dangling:
    case Form::cyclic:
    case Form::link_to_file:
    case Form::link_to_pipe:
    case Form::link_to_itself:
    case Form::group:
    case Form::named_type:
      return make_link_form(parts, path);
    default:
      return make_storage_form(parts);
  }
}

}  // namespace

void write_case(const Case& input, const std::string& path) {
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  const Handle file(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), H5Fclose, "file");
  for (const auto& [name, item] : input.items) {
    try {
      write_item(file.get(), name, item, path);
    } catch (const std::exception&) {
      continue;  // HDF5 does not make this one: it is missing then
    }
  }
  for (const auto& [name, text] : input.texts) {
    if (text.form == TextForm::group_of_texts)
      H5Gclose(H5Gcreate2(file.get(), name.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    else
      add_text(file.get(), name, text);
  }
}

}  // namespace tailrace::fuzz
