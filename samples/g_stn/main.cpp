#include "common/app.h"
#include "g_stn/app.h"

int main(int argc, char** argv) { return sample::run_app(sample::g_stn_info(), argc, argv); }
