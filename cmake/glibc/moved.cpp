// Functions of the C library whose default version is newer than glibc 2.28, although older ones have them, too. A
// reference to one of them goes to the hidden function below, which jumps to the version of old. A jump keeps the
// return address, by which dlsym() knows its caller. The linker drops those that nobody calls (--gc-sections).
//
// The test `glibc` names what is missing here.
#if defined(__x86_64__)
#define WIC_VERSION(x86_64) x86_64
#define WIC_JUMP(name) "endbr64\n jmp *wic_old_" name "@GOTPCREL(%rip)\n"
#elif defined(__aarch64__)
#define WIC_VERSION(x86_64) "GLIBC_2.17"  // the first of that machine has them all
#define WIC_JUMP(name) "adrp x16, :got:wic_old_" name "\n ldr x16, [x16, #:got_lo12:wic_old_" name "]\n br x16\n"
#endif

#define WIC_GOES_TO(name, old, version)                                                                          \
  asm(".symver wic_old_" name ", " old "@" version "\n .pushsection .text." name                                 \
      ", \"ax\", %progbits\n .p2align 4\n .globl " name "\n .hidden " name "\n .type " name ", %function\n" name \
      ":\n .cfi_startproc\n" WIC_JUMP(name) ".cfi_endproc\n .size " name ", . - " name "\n .popsection\n");
#define WIC_OLD(name, x86_64) WIC_GOES_TO(name, name, WIC_VERSION(x86_64))
#define WIC_OLDEST(name) WIC_OLD(name, "GLIBC_2.2.5")

// 2.34: libpthread, libdl and librt became parts of libc.
WIC_OLDEST("__pthread_key_create")
WIC_OLDEST("pthread_attr_getstack")
WIC_OLDEST("pthread_attr_getstacksize")
WIC_OLDEST("pthread_attr_setstacksize")
WIC_OLD("pthread_condattr_setclock", "GLIBC_2.3.3")
WIC_OLDEST("pthread_condattr_setpshared")
WIC_OLDEST("pthread_create")
WIC_OLDEST("pthread_detach")
WIC_OLDEST("pthread_getattr_np")
WIC_OLDEST("pthread_getcpuclockid")
WIC_OLDEST("pthread_getspecific")
WIC_OLDEST("pthread_join")
WIC_OLDEST("pthread_key_create")
WIC_OLDEST("pthread_key_delete")
WIC_OLDEST("pthread_kill")
WIC_OLDEST("pthread_mutex_timedlock")
WIC_OLDEST("pthread_mutex_trylock")
WIC_OLDEST("pthread_mutexattr_destroy")
WIC_OLDEST("pthread_mutexattr_init")
WIC_OLDEST("pthread_mutexattr_setpshared")
WIC_OLDEST("pthread_mutexattr_settype")
WIC_OLDEST("pthread_once")
WIC_OLDEST("pthread_rwlock_destroy")
WIC_OLDEST("pthread_rwlock_init")
WIC_OLDEST("pthread_rwlock_rdlock")
WIC_OLDEST("pthread_rwlock_timedrdlock")
WIC_OLDEST("pthread_rwlock_timedwrlock")
WIC_OLDEST("pthread_rwlock_tryrdlock")
WIC_OLDEST("pthread_rwlock_trywrlock")
WIC_OLDEST("pthread_rwlock_unlock")
WIC_OLDEST("pthread_rwlock_wrlock")
WIC_OLDEST("pthread_rwlockattr_destroy")
WIC_OLDEST("pthread_rwlockattr_init")
WIC_OLDEST("pthread_rwlockattr_setpshared")
WIC_GOES_TO("pthread_setattr_default_np", "pthread_setattr_default_np", "GLIBC_2.18")
WIC_OLD("pthread_setname_np", "GLIBC_2.12")
WIC_OLDEST("pthread_setspecific")
WIC_OLDEST("pthread_sigmask")
WIC_OLD("pthread_sigqueue", "GLIBC_2.11")
WIC_OLDEST("pthread_spin_destroy")
WIC_OLDEST("pthread_spin_init")
WIC_OLDEST("pthread_spin_lock")
WIC_OLDEST("pthread_spin_trylock")
WIC_OLDEST("pthread_spin_unlock")
WIC_OLDEST("sem_destroy")
WIC_OLDEST("sem_init")
WIC_OLDEST("sem_post")
WIC_OLDEST("sem_timedwait")
WIC_OLDEST("sem_trywait")
WIC_OLDEST("sem_wait")
WIC_OLDEST("shm_open")
WIC_OLDEST("shm_unlink")
WIC_OLDEST("dladdr")
WIC_OLD("dladdr1", "GLIBC_2.3.3")
WIC_OLDEST("dlclose")
WIC_OLDEST("dlerror")
WIC_OLD("dlmopen", "GLIBC_2.3.4")
WIC_OLDEST("dlopen")
WIC_OLDEST("dlsym")
WIC_OLDEST("dlvsym")

// 2.29, 2.35, 2.38: the same results; the old versions look at how a program of the past wanted errors handled.
WIC_OLDEST("exp")
WIC_OLDEST("exp2")
WIC_OLDEST("fmod")
WIC_OLDEST("fmodf")
WIC_OLDEST("hypot")
WIC_OLDEST("log")
WIC_OLDEST("log2")
WIC_OLDEST("pow")

// 2.38: these also read binary numbers, 0b101, which nobody writes for us.
#define WIC_ISOC23(name) WIC_GOES_TO("__isoc23_" name, name, WIC_VERSION("GLIBC_2.2.5"))
WIC_ISOC23("strtol")
WIC_ISOC23("strtoll")
WIC_ISOC23("strtoul")
WIC_ISOC23("strtoull")
WIC_ISOC23("strtoimax")
WIC_ISOC23("strtoumax")
#define WIC_ISOC23_SCAN(name) WIC_GOES_TO("__isoc23_" name, "__isoc99_" name, WIC_VERSION("GLIBC_2.7"))
WIC_ISOC23_SCAN("sscanf")
WIC_ISOC23_SCAN("vsscanf")
WIC_ISOC23_SCAN("fscanf")
