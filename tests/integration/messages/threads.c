/* SPDX-License-Identifier: BSD-3-Clause
 * Four threads of each of two ranks send each other messages at the same time, each with its own tag and
 * size: 1000 messages of 100 + thread bytes, received by blocking calls, by requests and by a probe. */
#include <mpi.h>
#include <pthread.h>
#include <stdint.h>

enum { threads = 4, messages = 1000 };
static int rank;

static void* talk(void* argument) {
  const int number = (int)(intptr_t)argument, peer = 1 - rank, size = 100 + number;
  char out[200] = {0}, in[200];
  for (int i = 0; i < messages; ++i) {
    MPI_Request request;
    MPI_Isend(out, size, MPI_BYTE, peer, number, MPI_COMM_WORLD, &request);
    if (i % 3 == 0) {
      MPI_Recv(in, sizeof in, MPI_BYTE, peer, number, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (i % 3 == 1) {
      MPI_Request receive;
      MPI_Irecv(in, sizeof in, MPI_BYTE, peer, number, MPI_COMM_WORLD, &receive);
      MPI_Wait(&receive, MPI_STATUS_IGNORE);
    } else {
      MPI_Status status;
      MPI_Probe(peer, number, MPI_COMM_WORLD, &status);
      MPI_Recv(in, sizeof in, MPI_BYTE, peer, number, MPI_COMM_WORLD, &status);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  return NULL;
}

int main(int argc, char** argv) {
  int level = 0;
  pthread_t others[threads];
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  if (level < MPI_THREAD_MULTIPLE) MPI_Abort(MPI_COMM_WORLD, 2);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (intptr_t i = 0; i < threads; ++i) pthread_create(&others[i], NULL, talk, (void*)i);
  for (int i = 0; i < threads; ++i) pthread_join(others[i], NULL);
  MPI_Finalize();
  return 0;
}
