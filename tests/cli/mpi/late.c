/* An MPI program whose rank BAD comes late in collectives, for a cause that its words name:
 *   CAUSE BAD LATE_US EVERY STEPS BASE_US CALL [PINNED]
 * Each rank computes BASE_US of CPU time per step and then makes CALL: allreduce, barrier, alltoall, allgatherv. In
 * one of EVERY steps
 *   none      nobody is late on purpose: each rank computes up to a fifth more or less, by chance
 *   sleep     BAD sleeps for LATE_US
 *   compute   BAD computes for LATE_US more
 *   data      BAD has so many more elements of allgatherv, and computes for LATE_US more, in proportion
 *   loader    BAD waits for a batch from a process that it has started and that computes for LATE_US; all others have
 *             one, too, which takes a tenth
 *   given     BAD is late by what is done to it from outside: it computes as the others do
 * PINNED: BAD has the first CPU that the process may use, and the others share the second one. Rank 0 prints how long
 * the others waited for each rank, in ns by the program's own clock: a JSON object.
 */
#define _GNU_SOURCE
#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { kElements = 512 };

static int rank, size, bad, pipes[2][2];

static double now(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static void compute(double us) {
  const double end = now(CLOCK_THREAD_CPUTIME_ID) + us * 1e3;
  while (now(CLOCK_THREAD_CPUTIME_ID) < end)
    for (volatile int i = 0; i < 500; ++i) {
    }
}

static void nap(double us) {
  const struct timespec time = {(time_t)(us / 1e6), (long)(us * 1e3) % 1000000000L};
  nanosleep(&time, NULL);
}

static void pin(int place) {
  cpu_set_t all, one;
  sched_getaffinity(0, sizeof all, &all);
  CPU_ZERO(&one);
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &all) && place-- == 0) CPU_SET(cpu, &one);
  if (CPU_COUNT(&one) == 1) sched_setaffinity(0, sizeof one, &one);
}

/* A process that computes a batch for each byte that it is sent. */
static void start_loader(double us) {
  char byte;
  if (pipe(pipes[0]) != 0 || pipe(pipes[1]) != 0) exit(9);
  if (fork() != 0) {
    close(pipes[0][0]);
    close(pipes[1][1]);
    return;
  }
  close(pipes[0][1]);
  close(pipes[1][0]);
  while (read(pipes[0][0], &byte, 1) == 1) {
    compute(us);
    if (write(pipes[1][1], &byte, 1) != 1) break;
  }
  _exit(0);
}

static void load_batch(void) {
  char byte = 0;
  if (write(pipes[0][1], &byte, 1) != 1 || read(pipes[1][0], &byte, 1) != 1) exit(9);
}

static int launched_rank(void) {
  const char *text = getenv("OMPI_COMM_WORLD_RANK");
  if (text == NULL) text = getenv("PMI_RANK");
  if (text == NULL) text = getenv("SLURM_PROCID");
  return text == NULL ? 0 : atoi(text);
}

int main(int count, char **words) {
  if (count < 8) return 2;
  const char *const cause = words[1], *const call = words[7];
  bad = atoi(words[2]);
  const double late = atof(words[3]), base = atof(words[6]);
  const int every = atoi(words[4]), steps = atoi(words[5]);
  const int is_bad = launched_rank() == bad;
  if (count > 8 && atoi(words[8])) pin(is_bad ? 0 : 1);
  if (strcmp(cause, "loader") == 0) start_loader(is_bad ? late : late / 10);
  MPI_Init(&count, &words);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const double more = base > 0 ? late / base : 0;
  const int most = (int)(kElements * (1 + more));
  int *const counts = calloc((size_t)size, sizeof(int)), *const places = calloc((size_t)size, sizeof(int));
  double *const own = calloc((size_t)most, sizeof(double));
  double *const all = calloc((size_t)kElements * (size_t)size + (size_t)most, sizeof(double));
  double *const entered = calloc((size_t)steps + 1, sizeof(double));
  srand((unsigned)rank + 1);
  entered[0] = now(CLOCK_MONOTONIC);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int step = 1; step <= steps; ++step) {
    const int now_late = rank == bad && step % every == 0;
    const int is_none = strcmp(cause, "none") == 0;
    compute(is_none ? base * (0.8 + 0.4 * rand() / RAND_MAX) : base);
    if (now_late && strcmp(cause, "sleep") == 0) nap(late);
    if (now_late && (strcmp(cause, "compute") == 0 || strcmp(cause, "data") == 0)) compute(late);
    if (step % every == 0 && strcmp(cause, "loader") == 0) load_batch();
    entered[step] = now(CLOCK_MONOTONIC);
    if (strcmp(call, "barrier") == 0) MPI_Barrier(MPI_COMM_WORLD);
    if (strcmp(call, "allreduce") == 0)
      MPI_Allreduce(own, all, kElements, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    if (strcmp(call, "alltoall") == 0) MPI_Alltoall(own, 1, MPI_DOUBLE, all, 1, MPI_DOUBLE, MPI_COMM_WORLD);
    if (strcmp(call, "allgatherv") == 0) {
      for (int of = 0, place = 0; of < size; place += counts[of++]) {
        const int many = of == bad && step % every == 0 && strcmp(cause, "data") == 0;
        counts[of] = many ? most : kElements;
        places[of] = place;
      }
      MPI_Allgatherv(own, counts[rank], MPI_DOUBLE, all, counts, places, MPI_DOUBLE, MPI_COMM_WORLD);
    }
  }
  double *const entries = rank == 0 ? calloc((size_t)(steps + 1) * (size_t)size, sizeof(double)) : NULL;
  MPI_Gather(entered, steps + 1, MPI_DOUBLE, entries, steps + 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  if (rank == 0) {
    double *const costs = calloc((size_t)size, sizeof(double));
    for (int step = 0; step <= steps; ++step) {
      double last = 0, sum = 0;
      int who = 0;
      for (int of = 0; of < size; ++of) {
        const double at = entries[of * (steps + 1) + step];
        if (at > last) last = at, who = of;
        sum += at;
      }
      costs[who] += last * size - sum;
    }
    printf("{\"cost_ns\": [");
    for (int of = 0; of < size; ++of) printf("%s%.0f", of > 0 ? ", " : "", costs[of]);
    printf("]}\n");
    fflush(stdout);
  }
  MPI_Finalize();
  return 0;
}
