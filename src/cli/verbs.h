// What each verb does, in the file of its name: one function per verb, overloaded on the type of its options. They
// return the exit code and throw Error. `help` and `completion` are in program/.
#pragma once
#include "options/verb_options.h"
#include "program/parquet_files.h"

namespace deberta::cli {

int run(const ClassifyVerb& options);
int run(const NliVerb& options);
int run(const ZeroShotVerb& options);
int run(const NerVerb& options);
int run(const ExtractVerb& options);
int run(const QaVerb& options);
int run(const ChooseVerb& options);
int run(const RerankVerb& options);
int run(const EmbedVerb& options);
int run(const FillVerb& options);
int run(const ScoreVerb& options);
int run(const DetectVerb& options);
int run(const AnalyzeVerb& options);
int run(const TokenizeVerb& options);
int run(const ForwardVerb& options);
int run(const EvalVerb& options);
int run(const InspectVerb& options);
int run(const CheckVerb& options);
int run(const ConvertVerb& options);
int run(const BenchVerb& options);
int run(const ServeVerb& options);
int run(const InfoVerb& options);
int run(const PretrainVerb& options);
int run(const FinetuneVerb& options);
int run(const AblateVerb& options);
int run(const ReplayVerb& options);
int run(const ReportVerb& options);
int run(const ChartVerb& options);

// Runs the verb of the options. Without `open_parquet` files of Parquet are refused.
int run_verb(const Options& options);
int run_verb(const Options& options, program::OpenParquet open_parquet);

}  // namespace deberta::cli
