// SPDX-License-Identifier: BSD-3-Clause
// Each part is refused by the compiler; without any of them the file compiles.
#include <string>
#include <utility>

#include "output/core/writer.hpp"
#include "output/session/session.hpp"
#include "tailrace/tailrace.hpp"

using namespace tailrace;

void use(output::OutputFile& file, output::Session& session, mpi::Comm& comm, output::Writer& writer,
         output::Lease lease, checkpoint::StateArchive& archive, std::vector<double>& values) {
  int steps = 0;
  std::string name;
  archive.value("steps", steps);
  archive.text("name", name);
  file.sample(1, [&](const std::string&) { return output::FieldView{.data = values.data()}; });
  session.mark_committed(1);
  comm.close();
  writer.submit(std::move(lease));
#ifdef copy_output_file  // two objects would close one file
  output::OutputFile copy = file;
#endif
#ifdef copy_session
  output::Session copy = session;
#endif
#ifdef copy_communicator  // it would be freed twice
  mpi::Comm copy = comm;
#endif
#ifdef keep_lease_handed_over  // the writer may be reading what the owner would continue to fill
  output::Lease mine = writer.acquire();
  writer.submit(mine);
#endif
#ifdef restore_into_temporary  // what is restored would be lost
  archive.value("steps", steps + 1);
#endif
#ifdef text_as_number
  archive.value("name", name);
#endif
#ifdef field_without_box  // a pointer alone does not say which points it represents
  file.sample(1, [&](const std::string&) { return values.data(); });
#endif
}
