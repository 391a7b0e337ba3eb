// Streams of rows made of others.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "rows/row.h"

namespace deberta {

// Opened at the first row, so that no wait for a pipe delays other work (the process that fills it may wait for the
// output to be opened).
std::unique_ptr<RowSource> late_rows(std::function<std::unique_ptr<RowSource>()> open);

// One after the other.
std::unique_ptr<RowSource> chained_rows(std::vector<std::unique_ptr<RowSource>> files);

// One row: a query, with the texts of all rows as its documents. The first bad document is thrown.
std::unique_ptr<RowSource> query_row(const std::string& where, const std::string& query,
                                     std::unique_ptr<RowSource> documents);

}  // namespace deberta
