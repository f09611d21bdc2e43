#include "c_cg/app.h"

int main(int argc, char** argv) { return sample::run_app(sample::c_cg_info(), argc, argv); }
