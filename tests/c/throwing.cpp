// What a C++ callback must not do.
#include <stdexcept>

extern "C" void throw_exception() { throw std::runtime_error("thrown out of a callback"); }
