"""Draws a terminal's screen, text with ANSI colours on stdin, as an SVG on stdout: svg.py COLUMNS TITLE"""

import io
import re
import sys

from rich.console import CONSOLE_SVG_FORMAT, Console
from rich.text import Text

columns, title = sys.argv[1:]
console = Console(record=True, width=int(columns), file=io.StringIO())
console.print(Text.from_ansi(sys.stdin.read()))
# Without the font that a page would load from another server.
template = re.sub(r"\s*@font-face \{\{.*?\}\}", "", CONSOLE_SVG_FORMAT, flags=re.DOTALL)
print(console.export_svg(title=title, code_format=template), end="")
