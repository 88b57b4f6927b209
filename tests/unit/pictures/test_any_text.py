"""Labels, names, hosts and files of any text: drawn, written and told as they stand."""

from __future__ import annotations

import csv
import html
import io
import re
import xml.etree.ElementTree as ET

import pytest

pytest.importorskip("matplotlib", reason="matplotlib is missing: the extra 'report'")

from matplotlib import rc_context
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

from pmgt_mpi.output.runs import read_run
from pmgt_mpi.output.table import summary_table
from pmgt_mpi.pictures.curves import Curve, curves_of
from pmgt_mpi.pictures.labels import label_curves
from pmgt_mpi.pictures.panel import draw_curves
from pmgt_mpi.pictures.plot import plot_run
from pmgt_mpi.pictures.style import drawing, plain
from pmgt_mpi.report.__main__ import main
from pmgt_mpi.report.formats import FORMATS, latex_text, markdown_text
from pmgt_mpi.report.targets import reached
from pmgt_mpi.report.write import write_report
from tests.support.run_folders import trace, write_run

NAMES = [
    "$\\frac{$",
    "$x_1$",
    "costs $5",
    "\\$ and \\",
    "_begins with a line",
    "__",
    " ",
    "\x1b[31mred\x1b]0;title\x07",
    "two\nlines\r\n",
    "of\x0bother\x1ckinds\u2028too",
    "nothing\x00more",
    "\u202ebackwards",
    "a | b",
    "<b>&amp;</b> --> ]]> </script>",
    "%#{}~^",
    "'\"`",
    "方法 🙂 é",
    "long " * 50,
]


WHOLE = [name for name in NAMES if name.isprintable() and len(name) <= 60]


@pytest.mark.parametrize("name", WHOLE)
def test_a_name_is_drawn_letter_by_letter(name):
    curve = Curve(name, name, "C0", (), trace(name, [1.0, 0.5, 0.1]), "budget")
    with drawing(), rc_context({"svg.fonttype": "none"}):
        for legend in (True, False):
            figure = Figure(layout="constrained")
            axis = figure.subplots()
            draw_curves(axis, [curve], "rounds", "relative_suboptimality")
            if legend:
                axis.legend()
            else:
                assert label_curves(figure, axis)
            axis.set_title(plain(name))
            file = io.BytesIO()
            FigureCanvasSVG(figure).print_svg(file)
            drawn = [
                "".join(e.itertext()) for e in ET.fromstring(file.getvalue()).iter()
            ]
            assert sum(text.strip() == name.strip() for text in drawn) >= 2


@pytest.fixture(scope="module")
def odd(tmp_path_factory):
    """A run in which everything that has a name has an odd one."""
    network = {"topology": NAMES[0], "lambda_2": 0.5}
    return write_run(
        tmp_path_factory.mktemp("odd") / "run \x1b[31m",
        *(trace(name, [1.0, 1e-3]) for name in NAMES),
        name=NAMES[0],
        statuses=dict(zip(NAMES, NAMES, strict=True)),
        hosts=[*NAMES[:3], NAMES[7]],
        network=network,
        slow=3,
    )


def test_every_table_can_be_shown(odd, capfd):
    run = read_run(odd)
    rows = reached(curves_of([run]))
    summaries = list(run.summary.values())
    tables = [summary_table(summaries), *(write(rows) for write in FORMATS.values())]
    assert main([str(odd), "--format", "csv"]) == 0
    tables.append(capfd.readouterr().out)
    for text in tables:
        lines = text.rstrip("\n").split("\n")
        assert all(line.isprintable() for line in lines)
    assert len(tables[0].split("\n")) == len(NAMES) + 2
    labels = [row["algorithm"] for row in csv.DictReader(io.StringIO(tables[1]))]
    printed = [name for name in NAMES if name.isprintable()]
    assert [label for label in labels if label in printed] == printed
    assert len(set(labels)) == len(NAMES)
    markdown = FORMATS["markdown"](rows).splitlines()
    assert {len(re.split(r"(?<!\\)\|", line)) for line in markdown} == {11}


def test_the_page_and_its_pictures_are_whole(odd, capfd):
    out = odd / "report"
    assert main([str(odd)]) == 0
    told = capfd.readouterr()
    assert told.err == ""
    assert told.out.rstrip("\n").isprintable()
    page = (out / "report.html").read_text(encoding="utf-8")
    for name in NAMES:
        if name.isprintable():
            assert html.escape(name) in page
    assert page.count("</script>") == 2
    pictures = list(out.glob("*.svg"))
    assert len(pictures) == 6 + 1 + len(NAMES)
    for picture in pictures:
        ET.fromstring(picture.read_bytes())
    assert plot_run(odd).read_bytes().startswith(b"\x89PNG")


def test_half_a_sign_is_no_reason_to_fail(tmp_path):
    run = write_run(tmp_path / "run", trace("LABEL", [1.0, 1e-3]))
    for name in ("metrics.jsonl", "summary.json", "meta.json"):
        text = (run / name).read_text().replace("LABEL", "\\ud800")
        (run / name).write_text(text.replace('"one"', '"\\udcff"'))
    page = write_report([read_run(run)], tmp_path / "out")
    assert "\\ud800" in page.read_text(encoding="utf-8")
    plot_run(run)


def test_what_markup_would_obey_is_written_as_it_would_print():
    assert markdown_text("a_b <i> [x](y) `c` *d* | $e$") == (
        r"a\_b \<i\> \[x\](y) \`c\` \*d\* \| \$e\$"
    )
    assert latex_text('a--b <c> | "d"') == (
        r"a-{}-b \textless{}c\textgreater{} \textbar{} \char34{}d\char34{}"
    )
