// A library that is linked with NVRTC, and that its program loads for itself alone.
extern "C" int nvrtcGetCUBIN(void* program, char* code);

extern "C" int compile(char* code) { return nvrtcGetCUBIN(nullptr, code); }
