#include "g_kmn/app.h"

int main(int argc, char** argv) { return sample::run_app(sample::g_kmn_info(), argc, argv); }
