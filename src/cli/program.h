// The whole program as a function: main() is one call of it.
#pragma once

namespace deberta::cli {

// Runs the verb that the arguments name. Data goes to stdout, words for people to stderr.
// Returns 0 done, 1 failed (rows failed too), 2 wrong usage, 130 interrupted.
int run_program(int argc, char** argv);

}  // namespace deberta::cli
