// The program of the training half.
#include "program/program.h"
#include "train/cli/verbs.h"

int main(int argc, char** argv) {
  return deberta::cli::run_program(argc, argv, deberta::train::run_verb);
}
