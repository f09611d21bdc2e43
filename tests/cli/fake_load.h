// The callback of CUPTI at the entry of a load. A file of its own, since fake_libcuda.cpp declares the driver's
// functions.
#pragma once

/// What the callback of the test's CUPTI puts in the place of `code`.
const void* image_after_callback(const void* code);
