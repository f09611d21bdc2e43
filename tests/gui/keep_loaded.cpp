// Linked into wic-prof where it is built with a sanitizer: drivers stay loaded, since of a library that is gone a
// leak's stack has no names, and what its variables still point to seems lost.
extern "C" int dlclose(void*) { return 0; }
