// A program of another kind than wic-prof's library: test_join.py builds it static, for musl, and for 32 bits without
// any C library. It maps the file of its first word, so that it looks like a program that uses CUDA, says "right" once
// the file of its second word exists, and ends with 0.
#ifdef __i386__

static long call(long number, const void* a, long b, long c) {
  long result;
  __asm__ volatile("int $0x80" : "=a"(result) : "a"(number), "b"(a), "c"(b), "d"(c) : "memory");
  return result;
}

__attribute__((used)) static void run(char** words) {
  const long mapping[] = {0, 4096, 1, 2, call(5, words[0], 0, 0), 0};  // open(), to be read, private
  const long pause[] = {0, 1000000};
  call(90, mapping, 0, 0);                                       // mmap()
  while (call(33, words[1], 0, 0) != 0) call(162, pause, 0, 0);  // access(), nanosleep()
  call(4, (const void*)1, (long)"right\n", 6);                   // write()
  call(1, 0, 0, 0);                                              // exit()
}

__asm__(".globl _start\n_start: lea 8(%esp), %eax; push %eax; call run");

#else

#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

int main(int count, char** words) {
  if (count != 3) return 2;
  if (mmap(0, 4096, PROT_READ, MAP_PRIVATE, open(words[1], O_RDONLY), 0) == MAP_FAILED) return 2;
  while (access(words[2], F_OK) != 0) usleep(1000);
  puts("right");
  return 0;
}

#endif
