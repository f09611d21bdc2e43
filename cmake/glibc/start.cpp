// The start of programs: until glibc 2.34 a program itself called the constructors of its file, and told libc so.
using Main = int (*)(int, char**, char**);
using Constructor = void (*)(int, char**, char**);

extern "C" {

#if defined(__x86_64__)
asm(".symver wic_old_libc_start_main, __libc_start_main@GLIBC_2.2.5");
#elif defined(__aarch64__)
asm(".symver wic_old_libc_start_main, __libc_start_main@GLIBC_2.17");
#endif
int wic_old_libc_start_main(Main, int, char**, Constructor, void (*)(), void (*)(), void*);

__attribute__((visibility("hidden"))) extern Constructor __init_array_start[];  // by the linker
__attribute__((visibility("hidden"))) extern Constructor __init_array_end[];
__attribute__((visibility("hidden"))) void _init();

static void construct(int count, char** words, char** environment) {
  _init();
  for (Constructor* each = __init_array_start; each != __init_array_end; ++each) (*each)(count, words, environment);
}

/// Called by the start files of a compiler for glibc 2.34 and newer, which leave `init` empty; libc of any version
/// calls the one that it is given.
__attribute__((visibility("hidden"))) int __libc_start_main(Main main, int count, char** words, Constructor init,
                                                            void (*fini)(), void (*loader_fini)(), void* stack_end) {
  return wic_old_libc_start_main(main, count, words, init != nullptr ? init : construct, fini, loader_fini, stack_end);
}

}  // extern "C"
