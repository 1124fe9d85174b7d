// The unit and lifecycle tests as one program of one translation unit: what compiling costs is the headers, which are read once so.
#include "exceptions.cpp"
#include "lifecycle.cpp"
#include "runs.cpp"
#include "runs_life.cpp"
#include "values.cpp"

int main() { return check::main("cpp-unit"); }
