/* An MPI program that hangs in the way that its word names, after some rounds of calls that match:
 *   HOW [SECONDS [BAD [ROUNDS]]]: its alarm ends it; BAD is the rank that does otherwise, NEXT the one after it
 *   late              BAD sleeps, and the others are in a collective
 *   computes          the same, and BAD computes
 *   stopped           the same, and BAD stops itself
 *   collectives       BAD calls MPI_Bcast where the others call MPI_Barrier
 *   roots             BAD names another root in MPI_Bcast
 *   opposite          BAD enters the barriers of two communicators in the opposite order
 *   receives          BAD and NEXT receive from each other before they send
 *   tags              NEXT receives a tag that BAD does not send
 *   sends             BAD and NEXT send large messages to each other before they receive
 *   peers             NEXT receives from the rank behind it what BAD has sent
 *   sender            the same as tags, but BAD waits in MPI_Ssend
 *   ring              every rank receives from the one before it, and nobody sends
 *   behind            NEXT receives from BAD, which sleeps; the others are in a collective
 *   requests          NEXT waits for receives from all others, one of which BAD does not send
 *   asks              the same, by MPI_Testall in a loop
 *   finalize          BAD sleeps, and the others are in MPI_Finalize
 */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, size, bad = 1, next;

static __attribute__((noinline)) int load_data(void) { return (int)sleep(1000) + 1; }

static void compute(void) {
  for (volatile unsigned long turns = 0;; ++turns) {
  }
}

static void receive(int from, int tag) {
  int value = 0;
  MPI_Recv(&value, 1, MPI_INT, from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void send(int to, int tag) { MPI_Send(&rank, 1, MPI_INT, to, tag, MPI_COMM_WORLD); }

static void send_much(int to, int tag) {
  static char much[1 << 22];
  MPI_Send(much, sizeof much, MPI_CHAR, to, tag, MPI_COMM_WORLD);
}

static void requests(int asks) {
  int *const got = calloc((size_t)size, sizeof(int)), done = 0, count = 0;
  MPI_Request *const all = calloc((size_t)size, sizeof(MPI_Request));
  if (rank != next) {
    send(next, 6);
    return;
  }
  for (int i = 0; i < size; ++i) {
    if (i != rank) MPI_Irecv(&got[i], 1, MPI_INT, i, 6, MPI_COMM_WORLD, &all[count++]);
  }
  while (asks && !done) MPI_Testall(count, all, &done, MPI_STATUSES_IGNORE);
  MPI_Waitall(count, all, MPI_STATUSES_IGNORE);
}

int main(int count, char **words) {
  const char *const how = count > 1 ? words[1] : "";
  const int rounds = count > 4 ? atoi(words[4]) : 3;
  alarm(count > 2 ? (unsigned)atoi(words[2]) : 60);
  if (count > 3) bad = atoi(words[3]);
  MPI_Init(&count, &words);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  next = (bad + 1) % size;
  double numbers[16] = {0}, sums[16];
  MPI_Comm first, second;
  MPI_Comm_dup(MPI_COMM_WORLD, &first);
  MPI_Comm_dup(MPI_COMM_WORLD, &second);
  for (int i = 0; i < rounds; ++i) MPI_Allreduce(numbers, sums, 4, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  const int is_bad = rank == bad, is_next = rank == next;
#define HOW(name) (strcmp(how, #name) == 0)
  if (is_bad && (HOW(late) || HOW(behind) || HOW(requests) || HOW(asks) || HOW(finalize))) load_data();
  if (HOW(computes) && is_bad) compute();
  if (HOW(stopped) && is_bad) raise(SIGSTOP);
  if (HOW(collectives) && is_bad) MPI_Bcast(numbers, 4, MPI_DOUBLE, next, first), sleep(1000);
  if (HOW(collectives)) MPI_Barrier(first), sleep(1000);
  if (HOW(roots)) MPI_Bcast(numbers, 4, MPI_DOUBLE, is_bad ? next : bad, MPI_COMM_WORLD);
  if (HOW(opposite)) MPI_Barrier(is_bad ? second : first), MPI_Barrier(is_bad ? first : second);
  if (HOW(receives) && is_bad) receive(next, 5), send(next, 5);
  if (HOW(receives) && is_next) receive(bad, 5), send(bad, 5);
  if (HOW(tags) && is_bad) send(next, 6);
  if (HOW(tags) && is_next) receive(bad, 5);
  if (HOW(sends) && is_bad) send_much(next, 5);
  if (HOW(sends) && is_next) send_much(bad, 5);
  if (HOW(peers) && is_bad) send(next, 5);
  if (HOW(peers) && is_next) receive((next + 1) % size, 5);
  if (HOW(sender) && is_bad) MPI_Ssend(&rank, 1, MPI_INT, next, 6, MPI_COMM_WORLD);
  if (HOW(sender) && is_next) receive(bad, 5);
  if (HOW(ring)) receive((rank + size - 1) % size, 5);
  if (HOW(behind) && is_next) receive(bad, 5);
  if (HOW(requests)) requests(0);
  if (HOW(asks)) requests(1);
  if (!HOW(finalize)) MPI_Allreduce(numbers, sums, 4, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
