#include "g_bs/app.h"

int main(int argc, char** argv) { return sample::run_app(sample::g_bs_info(), argc, argv); }
