#!/usr/bin/env bash
# A model of one's own, every night: trained within a time, on a file that may have bad rows; judged as a whole and by a column; as int8, with what that
# costs; with a card. Run again, it goes on where the time was over.
#   examples/nightly.sh TRAIN DEV OUT [COLUMN]
# TRAIN and DEV are tables or JSON Lines with `text` and `label`. In the environment: DEBERTA (the program, by default deberta), MODEL (to begin with), HOURS, LICENSE.
set -euo pipefail
[ $# -ge 3 ] || { sed -n '2,6s/^# //p' "$0" >&2; exit 2; }
train=$1 dev=$2 out=$3 column=${4:-}
run=${DEBERTA:-deberta}
mkdir -p "$out"

cat >"$out/config.json" <<CONFIG
{
  "finetune": {
    "task": "classification",
    "model": "${MODEL:-builtin:fill}",
    "on-bad-row": "report",
    "num-train-epochs": ${EPOCHS:-3},
    "best-metric": "loss",
    "early-stopping-patience": 3,
    "max-time": "${HOURS:-8}h",
    "card-license": "${LICENSE:-other}",
    "card-language": ["en"]
  }
}
CONFIG
$run finetune --config "$out/config.json" --train-file "$train" --validation-file "$dev" -o "$out/model"
if grep -q '"out_of_time": true' "$out/model/all_results.json"; then echo "the time is over: the same command goes on tomorrow" >&2; fi

by=${column:+--by $column}
# shellcheck disable=SC2086 # an option and its value
$run eval --task classification -m "$out/model" "$dev" --on-bad-row report --metrics accuracy,f1_macro,log_loss $by -f json >"$out/fp32.json"

rm -rf "$out/int8"
# Ranges of activations, no labels: DEV is taken, since TRAIN may have bad rows, which `convert` does not leave out.
$run convert -m "$out/model" -o "$out/int8" --dtype int8 --calibration-data "$dev"
$run eval --task classification -m "$out/int8" --dtype int8 "$dev" --on-bad-row report --metrics accuracy,f1_macro,log_loss -f json >"$out/int8.json"
for name in fp32 int8; do
  echo "$name: $(sed -n '/"metrics": {/,/}/p' "$out/$name.json" | sed -n '2,4p' | tr -s ' \n' ' ')"
done
head -20 "$out/model/README.md"
