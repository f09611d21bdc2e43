#include "common/app.h"
#include "g_c2d/app.h"

int main(int argc, char** argv) { return sample::run_app(sample::g_c2d_info(), argc, argv); }
