#include "common/app.h"
#include "g_gem/app.h"

int main(int argc, char** argv) { return sample::run_app(sample::g_gem_info(), argc, argv); }
