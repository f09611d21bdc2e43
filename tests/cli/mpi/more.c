/* An MPI program that does what its words say, in ways of MPI that few programs use:
 *   late RANK MS      the rank sleeps so long before each of the next operations
 *   ways              messages from each rank to the next one with one tag, in all ways; between them, cancelled
 *                     receives
 *   after N           rank 0 sends rank 1 a message that is buffered, and then one that is late
 *   cancelled N       rank 1 cancels a receive before it receives what rank 0 sends
 *   probe N           the others look for the message of the late rank before they receive it
 *   persistent N      a ring of persistent requests
 *   fence N, ialltoall N, alltoallw N
 *   collectives       each collective that is not in app.c
 *   errors            receives of messages that are too long
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { kTag = 5, kMost = 64 };

static int rank, size, late_rank = -1, late_ms;
static int here[kMost], there[kMost], ones[kMost], places[kMost];
static MPI_Datatype types[kMost];

static void check(int result, const char *what) {
  if (result == MPI_SUCCESS) return;
  fprintf(stderr, "rank %d: %s returned %d\n", rank, what, result);
  exit(9);
}
#define CHECK(call) check(call, #call)

static void expect(int holds, const char *what) {
  if (holds) return;
  fprintf(stderr, "rank %d: not so: %s\n", rank, what);
  exit(8);
}

static void sleep_if_late(void) {
  const struct timespec time = {late_ms / 1000, late_ms % 1000 * 1000000L};
  if (rank == late_rank && late_ms > 0) nanosleep(&time, NULL);
}

static void cancel_a_receive(int source) {
  MPI_Request request;
  MPI_Status status;
  int cancelled = 0;
  CHECK(MPI_Irecv(there, 1, MPI_INT, source, kTag, MPI_COMM_WORLD, &request));
  CHECK(MPI_Cancel(&request));
  CHECK(MPI_Wait(&request, &status));
  CHECK(MPI_Test_cancelled(&status, &cancelled));
  expect(cancelled, "a receive without a message can be cancelled");
}

static void ways(void) {
  const int next = (rank + 1) % size, before = (rank + size - 1) % size;
  MPI_Request requests[4];
  MPI_Message message;
  MPI_Status status;
  char space[4096];
  void *detached;
  int bytes, found = 0;
  CHECK(MPI_Buffer_attach(space, sizeof space));
  cancel_a_receive(before);
  CHECK(MPI_Barrier(MPI_COMM_WORLD));
  CHECK(MPI_Bsend(here, 1, MPI_INT, next, kTag, MPI_COMM_WORLD));
  CHECK(MPI_Ibsend(here, 1, MPI_INT, next, kTag, MPI_COMM_WORLD, requests));
  CHECK(MPI_Recv(there, 1, MPI_INT, before, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  CHECK(MPI_Recv(there, 1, MPI_INT, before, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  CHECK(MPI_Wait(requests, MPI_STATUS_IGNORE));
  CHECK(MPI_Barrier(MPI_COMM_WORLD));
  cancel_a_receive(before);
  for (int i = 0; i < 2; ++i) CHECK(MPI_Irecv(there, 1, MPI_INT, before, kTag, MPI_COMM_WORLD, &requests[i]));
  CHECK(MPI_Barrier(MPI_COMM_WORLD)); /* all receives are posted */
  CHECK(MPI_Rsend(here, 1, MPI_INT, next, kTag, MPI_COMM_WORLD));
  CHECK(MPI_Irsend(here, 1, MPI_INT, next, kTag, MPI_COMM_WORLD, &requests[2]));
  CHECK(MPI_Waitall(3, requests, MPI_STATUSES_IGNORE));
  here[0] = rank;
  CHECK(MPI_Sendrecv_replace(here, 1, MPI_INT, next, kTag, before, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  expect(here[0] == before, "the value of the rank before");
  CHECK(MPI_Recv_init(there, 1, MPI_INT, MPI_ANY_SOURCE, kTag, MPI_COMM_WORLD, &requests[0]));
  CHECK(MPI_Send_init(here, 1, MPI_INT, next, kTag, MPI_COMM_WORLD, &requests[1]));
  for (int i = 0; i < 2; ++i) {
    CHECK(MPI_Start(&requests[0]));
    CHECK(MPI_Start(&requests[1]));
    CHECK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
  }
  CHECK(MPI_Startall(2, requests));
  CHECK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
  for (int i = 0; i < 2; ++i) CHECK(MPI_Request_free(&requests[i]));
  for (int i = 0; i < 3; ++i) CHECK(MPI_Isend(here, 1, MPI_INT, next, kTag, MPI_COMM_WORLD, &requests[i]));
  CHECK(MPI_Probe(before, MPI_ANY_TAG, MPI_COMM_WORLD, &status));
  CHECK(MPI_Recv(there, 1, MPI_INT, before, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  CHECK(MPI_Mprobe(MPI_ANY_SOURCE, kTag, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE));
  CHECK(MPI_Mrecv(there, 1, MPI_INT, &message, MPI_STATUS_IGNORE));
  while (!found) CHECK(MPI_Improbe(before, kTag, MPI_COMM_WORLD, &found, &message, MPI_STATUS_IGNORE));
  CHECK(MPI_Imrecv(there, 1, MPI_INT, &message, &requests[3]));
  CHECK(MPI_Waitall(4, requests, MPI_STATUSES_IGNORE));
  CHECK(MPI_Buffer_detach(&detached, &bytes));
}

static void after(void) {
  char space[4096];
  void *detached;
  int bytes;
  CHECK(MPI_Buffer_attach(space, sizeof space));
  for (int i = 0; rank < 2 && i < 2; ++i) {
    if (rank == 1) {
      CHECK(MPI_Recv(there, 1, MPI_INT, 0, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    } else if (i == 0) {
      CHECK(MPI_Bsend(here, 1, MPI_INT, 1, kTag, MPI_COMM_WORLD));
    } else {
      sleep_if_late();
      CHECK(MPI_Send(here, 1, MPI_INT, 1, kTag, MPI_COMM_WORLD));
    }
  }
  CHECK(MPI_Buffer_detach(&detached, &bytes));
  CHECK(MPI_Barrier(MPI_COMM_WORLD));
}

static void cancelled(void) {
  if (rank == 1) cancel_a_receive(0);
  CHECK(MPI_Barrier(MPI_COMM_WORLD));
  sleep_if_late();
  if (rank == 0) CHECK(MPI_Send(here, 1, MPI_INT, 1, kTag, MPI_COMM_WORLD));
  if (rank == 1) CHECK(MPI_Recv(there, 1, MPI_INT, 0, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  CHECK(MPI_Barrier(MPI_COMM_WORLD));
}

static void probe(void) {
  sleep_if_late();
  for (int to = 0; rank == late_rank && to < size; ++to)
    if (to != rank) CHECK(MPI_Send(here, 1, MPI_INT, to, kTag, MPI_COMM_WORLD));
  if (rank == late_rank) return;
  CHECK(MPI_Probe(late_rank, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  CHECK(MPI_Recv(there, 1, MPI_INT, late_rank, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

static void persistent(int count) {
  MPI_Request requests[2];
  CHECK(MPI_Recv_init(there, 1, MPI_INT, (rank + size - 1) % size, kTag, MPI_COMM_WORLD, &requests[0]));
  CHECK(MPI_Send_init(here, 1, MPI_INT, (rank + 1) % size, kTag, MPI_COMM_WORLD, &requests[1]));
  while (count-- > 0) {
    sleep_if_late();
    CHECK(MPI_Startall(2, requests));
    CHECK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
  }
  for (int i = 0; i < 2; ++i) CHECK(MPI_Request_free(&requests[i]));
}

static void fence(int count) {
  MPI_Win window;
  CHECK(MPI_Win_create(there, sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &window));
  while (count-- > 0) {
    sleep_if_late();
    CHECK(MPI_Win_fence(0, window));
  }
  CHECK(MPI_Win_free(&window));
}

static void finish(MPI_Request *request) { CHECK(MPI_Wait(request, MPI_STATUS_IGNORE)); }

static void ialltoall(void) {
  MPI_Request request;
  CHECK(MPI_Ialltoall(here, 1, MPI_INT, there, 1, MPI_INT, MPI_COMM_WORLD, &request));
  finish(&request);
}

static void alltoallw(void) {
  CHECK(MPI_Alltoallw(here, ones, places, types, there, ones, places, types, MPI_COMM_WORLD));
}

static void collectives(void) {
  const MPI_Comm world = MPI_COMM_WORLD;
  const int keep = 1, before = (rank + size - 1) % size, next = (rank + 1) % size, ring = size;
  int index[kMost], edges[kMost], at[kMost];
  MPI_Request r;
  MPI_Comm made, part;
  for (int i = 0; i < size; ++i) index[i] = i + 1, edges[i] = (i + 1) % size, at[i] = i;
  ialltoall(), alltoallw();
  CHECK(MPI_Ialltoallv(here, ones, at, MPI_INT, there, ones, at, MPI_INT, world, &r)), finish(&r);
  CHECK(MPI_Ialltoallw(here, ones, places, types, there, ones, places, types, world, &r)), finish(&r);
  CHECK(MPI_Iallgather(here, 1, MPI_INT, there, 1, MPI_INT, world, &r)), finish(&r);
  CHECK(MPI_Iallgatherv(here, 1, MPI_INT, there, ones, at, MPI_INT, world, &r)), finish(&r);
  CHECK(MPI_Igather(here, 1, MPI_INT, there, 1, MPI_INT, 0, world, &r)), finish(&r);
  CHECK(MPI_Igatherv(here, 1, MPI_INT, there, ones, at, MPI_INT, 0, world, &r)), finish(&r);
  CHECK(MPI_Iscatter(here, 1, MPI_INT, there, 1, MPI_INT, 0, world, &r)), finish(&r);
  CHECK(MPI_Iscatterv(here, ones, at, MPI_INT, there, 1, MPI_INT, 0, world, &r)), finish(&r);
  CHECK(MPI_Ireduce_scatter(here, there, ones, MPI_INT, MPI_SUM, world, &r)), finish(&r);
  CHECK(MPI_Ireduce_scatter_block(here, there, 1, MPI_INT, MPI_SUM, world, &r)), finish(&r);
  CHECK(MPI_Iscan(here, there, 1, MPI_INT, MPI_SUM, world, &r)), finish(&r);
  CHECK(MPI_Iexscan(here, there, 1, MPI_INT, MPI_SUM, world, &r)), finish(&r);
  CHECK(MPI_Cart_create(world, 1, &ring, &keep, 0, &made));
  CHECK(MPI_Cart_sub(made, &keep, &part));
  CHECK(MPI_Barrier(part)), CHECK(MPI_Comm_free(&part)), CHECK(MPI_Comm_free(&made));
  CHECK(MPI_Graph_create(world, size, index, edges, 0, &made));
  CHECK(MPI_Barrier(made)), CHECK(MPI_Comm_free(&made));
  CHECK(MPI_Dist_graph_create_adjacent(world, 1, &before, MPI_UNWEIGHTED, 1, &next, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                                       &made));
  CHECK(MPI_Neighbor_allgather(here, 1, MPI_INT, there, 1, MPI_INT, made));
  CHECK(MPI_Comm_free(&made));
  fence(2);
}

/* The program gets what MPI says, and later messages are matched all the same. */
static void errors(void) {
  MPI_Request request;
  CHECK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
  for (int i = 0; i < 3; ++i) {
    MPI_Status status;
    int result = MPI_SUCCESS, kind = MPI_SUCCESS;
    if (rank == 0) CHECK(MPI_Send(here, 4, MPI_INT, 1, kTag, MPI_COMM_WORLD));
    if (rank == 1) {
      result = MPI_Irecv(there, 1, MPI_INT, 0, kTag, MPI_COMM_WORLD, &request);
      if (result == MPI_SUCCESS) result = MPI_Waitall(1, &request, &status);
      MPI_Error_class(result, &kind);
      printf("rank 1 got the error class %s, and in the status %s\n", kind == MPI_ERR_IN_STATUS ? "in status" : "?",
             status.MPI_ERROR == MPI_SUCCESS ? "none" : "one");
    }
    CHECK(MPI_Barrier(MPI_COMM_WORLD));
  }
  for (int i = 0; i < 8; ++i) cancelled();
}

int main(int count, char **words) {
  CHECK(MPI_Init(&count, &words));
  CHECK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
  CHECK(MPI_Comm_size(MPI_COMM_WORLD, &size));
  for (int i = 0; i < kMost; ++i) ones[i] = 1, places[i] = 4 * i, types[i] = MPI_INT;
  for (int i = 1; i < count; ++i) {
    const char *const word = words[i];
    if (strcmp(word, "late") == 0) {
      late_rank = atoi(words[++i]);
      late_ms = atoi(words[++i]);
      continue;
    }
    if (strcmp(word, "ways") == 0) ways();
    if (strcmp(word, "collectives") == 0) collectives();
    if (strcmp(word, "errors") == 0) errors();
    if (i + 1 == count || atoi(words[i + 1]) == 0) continue;
    const int times = atoi(words[++i]);
    if (strcmp(word, "fence") == 0) fence(times);
    if (strcmp(word, "persistent") == 0) persistent(times);
    for (int turn = 0; turn < times; ++turn) {
      if (strcmp(word, "after") == 0) after();
      if (strcmp(word, "cancelled") == 0) cancelled();
      if (strcmp(word, "probe") == 0) probe();
      if (strcmp(word, "ialltoall") == 0) sleep_if_late(), ialltoall();
      if (strcmp(word, "alltoallw") == 0) sleep_if_late(), alltoallw();
    }
  }
  CHECK(MPI_Finalize());
  return 0;
}
