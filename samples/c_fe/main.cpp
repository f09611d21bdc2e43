#include "c_fe/app.h"

int main(int argc, char** argv) { return sample::run_app(sample::c_fe_info(), argc, argv); }
