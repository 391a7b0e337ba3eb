// The program: everything is in cli/.
#include "cli/program.h"

int main(int argc, char** argv) {
  return deberta::cli::run_program(argc, argv);
}
