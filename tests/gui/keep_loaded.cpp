// Linked into wic-prof-gui in a build with AddressSanitizer. Keeps drivers loaded: the stack of a leak in an unloaded
// library has no names, and memory that only the library's variables point to is reported as lost.
extern "C" int dlclose(void*) { return 0; }
