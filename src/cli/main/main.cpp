// The program: its verbs are in cli/, what it shares with other programs in program/.
#include "cli/verbs.h"
#include "program/program.h"

int main(int argc, char** argv) {
  return deberta::program::run_program(argc, argv, deberta::cli::run_verb);
}
