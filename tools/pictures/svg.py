"""Draws the screens of a terminal as an SVG on stdout: svg.py COLUMNS TITLE

stdin has a JSON list of frames: `screen` is text with ANSI colours, and `milliseconds` says for how long it is there.
Several frames are a picture that moves again and again. It stands still at the last frame where motion is unwanted.
"""

import io
import json
import re
import sys

from rich.console import CONSOLE_SVG_FORMAT, Console
from rich.text import Text

columns, title = sys.argv[1:]
frames = json.load(sys.stdin)
# Without the font that a page would load from another server.
template = re.sub(r"\s*@font-face \{\{.*?\}\}", "", CONSOLE_SVG_FORMAT, flags=re.DOTALL)
# Of rich, in pixels.
row_height = 24.4


def draw(lines, code_format):
    console = Console(record=True, width=int(columns), file=io.StringIO())
    console.print(Text("\n").join(map(Text.from_markup, lines)))
    return console.export_svg(title=title, code_format=code_format, unique_id="terminal")


def times_of_lines(screens):
    """Returns, for each line in each row, when it is there: a list of [begin, end] in milliseconds."""
    times = {}
    begin = 0
    for screen, frame in zip(screens, frames):
        end = begin + frame["milliseconds"]
        for row, line in enumerate(screen):
            spans = times.setdefault((row, line), [])
            if spans and spans[-1][1] == begin:
                spans[-1][1] = end
            else:
                spans.append([begin, end])
        begin = end
    return times


def lines_of(screen):
    """Returns the lines of a screen in rich's markup, since a colour may go on in the next line."""
    return [line.markup for line in Text.from_ansi(screen).split("\n", allow_blank=True)]


def moving(screens):
    height = max(map(len, screens))
    screens = [screen + [""] * (height - len(screen)) for screen in screens]
    times = times_of_lines(screens)
    total = sum(frame["milliseconds"] for frame in frames)
    # Each line is drawn once, in a row of its own, and then moved to where it was.
    lines = list({line for _, line in times if line})
    styles, matrix = draw(lines, "{styles}\0{matrix}").split("\0")
    texts = {}
    for text in re.findall(r"<text .*?</text>", matrix, flags=re.DOTALL):
        row = int(re.search(r"terminal-line-(\d+)", text).group(1))
        texts[row] = texts.get(row, "") + re.sub(r' clip-path="[^"]*"', "", text)

    names = {}
    groups = []
    for (row, line), spans in times.items():
        if not line:
            continue
        keys = [(0, "hidden")]
        for begin, end in spans:
            keys += [(begin, "visible"), (end, "hidden")]
        steps = "".join(f"{at / total:.3%}{{visibility:{to}}}" for at, to in dict(keys).items() if at < total)
        name = names.setdefault(steps, f"k{len(names)}")
        still = " last" if spans[-1][1] == total else ""
        drawn = lines.index(line)
        shift = round((row - drawn) * row_height, 1)
        groups.append(f'<g class="k {name}{still}" transform="translate(0 {shift})">{texts[drawn]}</g>')

    motion = "".join(
        f"@keyframes {name}{{{steps}}}.{name}{{animation:{name} {total}ms step-end infinite}}\n"
        for steps, name in names.items()
    )
    motion += ".k{visibility:hidden}.last{visibility:visible}\n"
    motion += "@media (prefers-reduced-motion:reduce){.k{animation:none}}"
    parts = {"styles": f"{styles}\n{motion}", "matrix": "\n".join(groups)}
    frame = template.replace("{styles}", "@styles@").replace("{matrix}", "@matrix@")
    return re.sub("@(styles|matrix)@", lambda found: parts[found.group(1)], draw(screens[-1], frame))


screens = [lines_of(frame["screen"]) for frame in frames]
print(moving(screens) if len(screens) > 1 else draw(screens[0], template), end="")
