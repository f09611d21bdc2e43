/* An MPI program that does what its words say, one after the other, on each rank:
 *   late RANK MS      before the next operations, the rank sleeps so long (0 ends it)
 *   allreduce N, barrier N, bcast N, split N, ibarrier N, sendrecv N
 *   send N            rank 0 sends to rank 1, N messages; the late rank sleeps before each
 *   nonblocking N     a ring of MPI_Isend and MPI_Irecv with MPI_Waitall
 *   any N             all others send to rank 0, which receives from MPI_ANY_SOURCE without a status
 *   every             a call of each further kind that is recorded
 *   calls N           N pairs of MPI_Isend and MPI_Recv to itself, and prints the ns per call
 */
#include <mpi.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int rank, size, late_rank = -1, late_ms;

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

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1e9 + time.tv_nsec;
}

static void allreduce(void) {
  int one = 1, sum = 0;
  CHECK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
  expect(sum == size, "the sum of ones");
}

static void split(void) {
  MPI_Comm half, copy;
  CHECK(MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half));
  CHECK(MPI_Comm_dup(half, &copy));
  sleep_if_late();
  CHECK(MPI_Barrier(copy));
  CHECK(MPI_Comm_free(&copy));
  CHECK(MPI_Comm_free(&half));
}

static void ibarrier(void) {
  MPI_Request request;
  int done = 0;
  sleep_if_late();
  CHECK(MPI_Ibarrier(MPI_COMM_WORLD, &request));
  while (!done) CHECK(MPI_Test(&request, &done, MPI_STATUS_IGNORE));
  expect(request == MPI_REQUEST_NULL, "a completed request is null");
}

static void sendrecv(void) {
  int sent = rank, got = -1;
  MPI_Status status;
  CHECK(MPI_Sendrecv(&sent, 1, MPI_INT, (rank + 1) % size, 5, &got, 1, MPI_INT, (rank + size - 1) % size, 5,
                     MPI_COMM_WORLD, &status));
  expect(got == (rank + size - 1) % size && status.MPI_SOURCE == got && status.MPI_TAG == 5, "what the left one sent");
}

static void send_one(void) {
  double value = 3;
  sleep_if_late();
  if (rank == 0) CHECK(MPI_Ssend(&value, 1, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD));
  if (rank == 1) CHECK(MPI_Recv(&value, 1, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

static void nonblocking(void) {
  int sent = rank, got = -1;
  MPI_Request requests[2];
  CHECK(MPI_Irecv(&got, 1, MPI_INT, (rank + size - 1) % size, MPI_ANY_TAG, MPI_COMM_WORLD, &requests[0]));
  sleep_if_late();
  CHECK(MPI_Isend(&sent, 1, MPI_INT, (rank + 1) % size, 9, MPI_COMM_WORLD, &requests[1]));
  CHECK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
  expect(got == (rank + size - 1) % size && requests[0] == MPI_REQUEST_NULL, "what the left one sent");
}

static void any(void) {
  int value = rank, seen = 0;
  if (rank != 0) {
    sleep_if_late();
    CHECK(MPI_Send(&value, 1, MPI_INT, 0, 11, MPI_COMM_WORLD));
  }
  for (int i = 1; rank == 0 && i < size; ++i) {
    CHECK(MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    seen += value;
  }
  expect(rank != 0 || seen == size * (size - 1) / 2, "one message of each");
  CHECK(MPI_Barrier(MPI_COMM_WORLD));
}

static void every(void) {
  int *many = calloc((size_t)size * 2, sizeof(int)), *sent = calloc((size_t)size * 2, sizeof(int));
  int *counts = calloc((size_t)size, sizeof(int)), *places = calloc((size_t)size, sizeof(int));
  int one = 1, got = 0, flag = 0, index = 0, done = 0, indices[1];
  MPI_Request request;
  MPI_Status status;
  MPI_Comm made, none;
  for (int i = 0; i < size; ++i) counts[i] = 1, places[i] = i, sent[i] = rank;
  CHECK(MPI_Reduce(rank == 0 ? MPI_IN_PLACE : &one, rank == 0 ? &one : NULL, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD));
  CHECK(MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, many, 1, MPI_INT, MPI_COMM_WORLD));
  CHECK(MPI_Allgatherv(&one, 1, MPI_INT, many, counts, places, MPI_INT, MPI_COMM_WORLD));
  CHECK(MPI_Alltoall(sent, 1, MPI_INT, many, 1, MPI_INT, MPI_COMM_WORLD));
  expect(many[size - 1] == size - 1, "what the last one sent");
  CHECK(MPI_Alltoallv(sent, counts, places, MPI_INT, many, counts, places, MPI_INT, MPI_COMM_WORLD));
  if (rank == 0) {
    CHECK(MPI_Gather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, many, 1, MPI_INT, 0, MPI_COMM_WORLD));
    CHECK(MPI_Scatter(many, 1, MPI_INT, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, 0, MPI_COMM_WORLD));
  } else {
    CHECK(MPI_Gather(&one, 1, MPI_INT, NULL, 0, MPI_DATATYPE_NULL, 0, MPI_COMM_WORLD));
    CHECK(MPI_Scatter(NULL, 0, MPI_DATATYPE_NULL, &got, 1, MPI_INT, 0, MPI_COMM_WORLD));
  }
  CHECK(MPI_Gatherv(&one, 1, MPI_INT, many, counts, places, MPI_INT, 0, MPI_COMM_WORLD));
  CHECK(MPI_Scatterv(many, counts, places, MPI_INT, &got, 1, MPI_INT, 0, MPI_COMM_WORLD));
  CHECK(MPI_Reduce_scatter(sent, &got, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
  CHECK(MPI_Reduce_scatter_block(sent, &got, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
  CHECK(MPI_Scan(&one, &got, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
  CHECK(MPI_Exscan(&one, &got, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
  CHECK(MPI_Ibcast(&one, 1, MPI_INT, 0, MPI_COMM_WORLD, &request));
  CHECK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  CHECK(MPI_Ireduce(&one, &got, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD, &request));
  CHECK(MPI_Waitany(1, &request, &index, &status));
  expect(index == 0, "the only request");
  CHECK(MPI_Iallreduce(&one, &got, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request));
  CHECK(MPI_Waitsome(1, &request, &done, indices, MPI_STATUSES_IGNORE));
  expect(done == 1 && indices[0] == 0, "the only request");
  for (int way = 0; way < 3; ++way) {
    CHECK(MPI_Issend(&rank, 1, MPI_INT, (rank + 1) % size, way, MPI_COMM_WORLD, &request));
    CHECK(MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, way, MPI_COMM_WORLD, &status));
    expect(status.MPI_SOURCE == (rank + size - 1) % size && status.MPI_TAG == way && got == status.MPI_SOURCE,
           "the status of any source");
    for (flag = done = 0; !flag && done < 1;) {
      if (way == 0) CHECK(MPI_Testall(1, &request, &flag, MPI_STATUSES_IGNORE));
      if (way == 1) CHECK(MPI_Testany(1, &request, &index, &flag, MPI_STATUS_IGNORE));
      if (way == 2) CHECK(MPI_Testsome(1, &request, &done, indices, MPI_STATUSES_IGNORE));
    }
  }
  CHECK(MPI_Send(&one, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD));
  CHECK(MPI_Recv(&one, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &status));
  expect(status.MPI_SOURCE == MPI_PROC_NULL, "nobody sent");
  CHECK(MPI_Isend(&one, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &request));
  CHECK(MPI_Request_free(&request));
  CHECK(MPI_Comm_split(MPI_COMM_WORLD, rank == 0 ? MPI_UNDEFINED : 0, 0, &none));
  expect((none == MPI_COMM_NULL) == (rank == 0), "rank 0 is in no part");
  if (rank != 0) CHECK(MPI_Comm_free(&none));
  CHECK(MPI_Cart_create(MPI_COMM_WORLD, 1, &size, (int[]){1}, 0, &made));
  CHECK(MPI_Barrier(made));
  CHECK(MPI_Comm_free(&made));
  /* An error is the program's to see. */
  CHECK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
  expect(MPI_Send(&one, 1, MPI_INT, size + 3, 0, MPI_COMM_WORLD) != MPI_SUCCESS, "no such rank");
  free(many), free(sent), free(counts), free(places);
}

static void calls(int count) {
  char byte = 0, got = 0;
  double best = 1e30;
  for (int turn = 0; turn < 5; ++turn) {
    const double begin = now();
    for (int i = 0; i < count; ++i) {
      MPI_Request request;
      CHECK(MPI_Isend(&byte, 1, MPI_CHAR, 0, 1, MPI_COMM_SELF, &request));
      CHECK(MPI_Recv(&got, 1, MPI_CHAR, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE));
      CHECK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    }
    const double each = (now() - begin) / count / 3;
    if (each < best) best = each;
  }
  printf("%.1f\n", best);
}

int main(int count, char **words) {
  int provided = -1;
  if (count > 1 && strcmp(words[1], "threads") == 0) {
    CHECK(MPI_Init_thread(&count, &words, MPI_THREAD_MULTIPLE, &provided));
    printf("provided %d of %d\n", provided, MPI_THREAD_MULTIPLE);
  } else {
    CHECK(MPI_Init(&count, &words));
  }
  CHECK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
  CHECK(MPI_Comm_size(MPI_COMM_WORLD, &size));
  for (int at = 1; at < count; ++at) {
    const char *const word = words[at];
    if (strcmp(word, "threads") == 0) continue;
    if (strcmp(word, "every") == 0) {
      every();
      continue;
    }
    const int times = at + 1 < count ? atoi(words[++at]) : 0;
    if (strcmp(word, "late") == 0) {
      late_rank = times;
      late_ms = at + 1 < count ? atoi(words[++at]) : 0;
      continue;
    }
    if (strcmp(word, "calls") == 0) {
      calls(times);
      continue;
    }
    for (int i = 0; i < times; ++i) {
      int value = i;
      if (strcmp(word, "allreduce") == 0) sleep_if_late(), allreduce();
      if (strcmp(word, "barrier") == 0) sleep_if_late(), CHECK(MPI_Barrier(MPI_COMM_WORLD));
      if (strcmp(word, "bcast") == 0) sleep_if_late(), CHECK(MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD));
      if (strcmp(word, "split") == 0) split();
      if (strcmp(word, "ibarrier") == 0) ibarrier();
      if (strcmp(word, "sendrecv") == 0) sleep_if_late(), sendrecv();
      if (strcmp(word, "send") == 0) send_one();
      if (strcmp(word, "nonblocking") == 0) nonblocking();
      if (strcmp(word, "any") == 0) any();
    }
  }
  CHECK(MPI_Finalize());
  return 0;
}
