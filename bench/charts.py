"""The charts of these scripts: the program draws them, so that they look like all others and no script has SVG of its
own."""

import json
import subprocess


def svg(program, document):
    """The picture of a chart, or of several, as docs/reference/charts.md describes them."""
    command = [program, "chart", "-"]
    return subprocess.run(command, input=json.dumps(document), stdout=subprocess.PIPE, text=True, check=True).stdout
