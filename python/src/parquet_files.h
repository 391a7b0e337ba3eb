// Files of Parquet of the command line: the program's part is src/program/parquet_files.h, the rows are Python's
// (deberta/_parquet.py).
#pragma once
#include "program/parquet_files.h"

namespace deberta::python {

// To be called without the GIL, as the result is. Throws Error for what Python refuses.
program::AnswerParquet open_parquet(program::ParquetTask task);

}  // namespace deberta::python
