// SPDX-License-Identifier: BSD-3-Clause
#include "pictures.hpp"

#include <fmt/format.h>

#include <array>

#include "rotation.hpp"

namespace tailrace::molecules {

namespace {

/// Stand-ins, as components have no elements; the reference has the same.
const char* element_of(std::int32_t component) noexcept {
  constexpr std::array names{"Ar", "Xe", "C", "O"};
  return component >= 0 && static_cast<std::size_t>(component) < names.size()
             ? names[static_cast<std::size_t>(component)]
             : "H";
}

std::string declaration(const Component& component, std::size_t number) {
  const auto color = number + 1;
  auto text = fmt::format("#declare T{} = union {{\n", number);
  for (const auto& site : component.lennard_jones)
    text += fmt::format("  sphere {{ <{:g},{:g},{:g}>, {:g} }}\n", site.place[0], site.place[1],
                        site.place[2], site.sigma / 2);
  if (component.lennard_jones.empty()) text += "  sphere { <0,0,0>, 0.5 }\n";
  return text + fmt::format(
                    "  pigment {{ color rgb <{},{},{}> }} finish {{ ambient 0.5 diffuse 0.4 phong 0.3 "
                    "phong_size 3 }}\n}}\n",
                    color % 2, color / 2 % 2, color / 4 % 2);
}

/// Camera and lights outside of the box and at its corners.
std::string scene(const Vec3& box) {
  auto text = fmt::format("// bb: [0,{:g}] x [0,{:g}] x [0,{:g}]\nbackground {{ rgb <1,1,1> }}\n", box[0],
                          box[1], box[2]);
  const Vec3 eye{-0.1 * box[0], 1.1 * box[1], -1.5 * box[2]};
  text += fmt::format("camera {{ perspective location <{:g},{:g},{:g}> look_at <{:g},{:g},{:g}> }}\n", eye[0],
                      eye[1], eye[2], box[0] / 2, box[1] / 2, box[2] / 2);
  text += fmt::format("light_source {{ <{:g},{:g},{:g}>, color rgb <1,1,1> }}\n", eye[0], eye[1], eye[2]);
  for (int corner = 0; corner < 8; ++corner)
    text += fmt::format("light_source {{ <{:g},{:g},{:g}>, color rgb <1,1,1> }}\n", corner % 2 * box[0],
                        corner / 2 % 2 * box[1], corner / 4 * box[2]);
  return text;
}

/// The text of every molecule.
template <class Line>
std::string lines(const Moment& moment, const Line& line) {
  fmt::memory_buffer text;
  for (const auto& molecule : moment.own) line(fmt::appender(text), molecule);
  return fmt::to_string(text);
}

std::string data_array(const char* type, const char* name, int components) {
  return fmt::format("<DataArray type=\"{}\" Name=\"{}\" NumberOfComponents=\"{}\" format=\"ascii\">\n", type,
                     name, components);
}

}  // namespace

std::vector<Section> xyz_text(const Moment& moment) {
  const Vec3& box = moment.box;
  const auto head =
      fmt::format("{}\nLattice=\"{} 0 0 0 {} 0 0 0 {}\" Properties=species:S:1:pos:R:3:id:I:1 Time={}\n",
                  moment.molecules, box[0], box[1], box[2], moment.time);
  return {{head, lines(moment, [](auto out, const Molecule& m) {
             const Vec3& r = m.position;
             fmt::format_to(out, "{} {:.9g} {:.9g} {:.9g} {}\n", element_of(m.component), r[0], r[1], r[2],
                            m.id);
           })}};
}

std::vector<Section> pov_text(const Moment& moment) {
  auto head = fmt::format("// {} molecules at time {}\n", moment.molecules, moment.time) + scene(moment.box);
  for (std::size_t c = 0; c < moment.model.components.size(); ++c)
    head += declaration(moment.model.components[c], c);
  return {{head, lines(moment, [](auto out, const Molecule& m) {
             fmt::format_to(out, "object {{ T{} matrix <", m.component);
             for (const Vec3& axis : {Vec3{1, 0, 0}, Vec3{0, 1, 0}, Vec3{0, 0, 1}}) {
               const Vec3 turned = rotated(m.orientation, axis);
               fmt::format_to(out, "{:.6g},{:.6g},{:.6g},", turned[0], turned[1], turned[2]);
             }
             const Vec3& r = m.position;
             fmt::format_to(out, "{:.9g},{:.9g},{:.9g}> }}\n", r[0], r[1], r[2]);
           })}};
}

std::vector<Section> vtu_text(const Moment& moment) {
  const auto vector_lines = [&](const auto& vector) {
    return lines(moment, [&](auto out, const Molecule& m) {
      const char* gap = "";
      for (const double number : vector(m)) {
        fmt::format_to(out, "{}{:.9g}", gap, number);
        gap = " ";
      }
      fmt::format_to(out, "\n");
    });
  };
  const std::string end = "</DataArray>\n";
  const auto n = moment.molecules;
  std::vector<Section> sections;
  sections.push_back(
      {fmt::format("<?xml version=\"1.0\"?>\n<VTKFile type=\"UnstructuredGrid\" version=\"0.1\">\n"
                   "<UnstructuredGrid>\n<Piece NumberOfPoints=\"{}\" NumberOfCells=\"0\">\n"
                   "<Points>\n{}",
                   n, data_array("Float64", "position", 3)),
       vector_lines([](const Molecule& m) { return m.position; })});
  sections.push_back({end + "</Points>\n<PointData>\n" + data_array("UInt64", "id", 1),
                      lines(moment, [](auto out, const Molecule& m) { fmt::format_to(out, "{}\n", m.id); })});
  sections.push_back(
      {end + data_array("Int32", "component", 1),
       lines(moment, [](auto out, const Molecule& m) { fmt::format_to(out, "{}\n", m.component); })});
  sections.push_back({end + data_array("Float64", "velocity", 3),
                      vector_lines([](const Molecule& m) { return m.velocity; })});
  sections.push_back({end + data_array("Float64", "orientation", 4),
                      vector_lines([](const Molecule& m) { return m.orientation; })});
  sections.push_back({end + "</PointData>\n<Cells>\n" + data_array("Int64", "connectivity", 1) + end +
                          data_array("Int64", "offsets", 1) + end + data_array("UInt8", "types", 1) + end +
                          "</Cells>\n</Piece>\n</UnstructuredGrid>\n</VTKFile>\n",
                      ""});
  return sections;
}

std::vector<Section> vis_text(const Moment& moment, bool first) {
  const char* head =
      first ? "      id t          x          y          z     q0     q1     q2     q3        c\n" : "#\n";
  return {{head, lines(moment, [](auto out, const Molecule& m) {
             fmt::format_to(out, "{:8}{:2}", m.id, m.component);
             for (const double x : m.position) fmt::format_to(out, "{:11.3f}", x);
             for (const double q : m.orientation) fmt::format_to(out, "{:7.3f}", q);
             fmt::format_to(out, "{:9}\n", 0);
           })}};
}

}  // namespace tailrace::molecules
