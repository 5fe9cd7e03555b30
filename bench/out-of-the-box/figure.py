# SPDX-License-Identifier: BSD-3-Clause
"""Critical-difference diagrams as SVG, written by hand: an axis of mean ranks, a name for each competitor, bars that join
those whose difference is not significant. A panel of its own keeps the figure readable on light and dark pages."""
from xml.sax.saxutils import escape

from program import AUTO

WIDTH, SIDE, TOP, LINE = 760, 210, 78, 22
STYLE = """<style>
  .panel { fill: #ffffff; stroke: #d0d0d0 } .ink { stroke: #222222; fill: none } .bar { stroke: #b04a00; fill: none }
  text { fill: #222222; font: 13px sans-serif } .ours { font-weight: bold; fill: #0b5cad } .ours-line { stroke: #0b5cad; fill: none }
  @media (prefers-color-scheme: dark) {
    .panel { fill: #16191d; stroke: #444a52 } .ink { stroke: #dddddd } .bar { stroke: #ff9d5c }
    text { fill: #dddddd } .ours { fill: #7db8ff } .ours-line { stroke: #7db8ff }
  }
</style>"""


class Drawing:
    def __init__(self):
        self.parts = []

    def line(self, points, style, width=1.0):
        path = " ".join(f"{'ML'[i > 0]}{x:.1f} {y:.1f}" for i, (x, y) in enumerate(points))
        self.parts.append(f'<path class="{style}" stroke-width="{width}" d="{path}"/>')

    def text(self, x, y, words, anchor="middle", style=""):
        named = f' class="{style}"' if style else ""
        self.parts.append(f'<text{named} x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(words)}</text>')

    def svg(self, height, title):
        return "\n".join([
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" role="img">',
            f"<title>{escape(title)}</title>", STYLE,
            f'<rect class="panel" x="0.5" y="0.5" width="{WIDTH - 1}" height="{height - 1}" rx="6"/>', *self.parts, "</svg>", ""])


def diagram(ranking, title):
    """The diagram of a Ranking; rank 1, the best, is on the left."""
    ordered, groups = ranking.groups()
    many = len(ordered)
    drawing = Drawing()

    def place(rank):
        return SIDE + (WIDTH - 2 * SIDE) * (rank - 1) / (many - 1)
    drawing.text(WIDTH / 2, 20, title)
    draw_axis(drawing, place, many)
    draw_difference(drawing, place, ranking.critical_difference, many)
    bars = TOP + 14
    for number, (first, last) in enumerate(groups):
        y = bars + 9 * number
        drawing.line([(place(ordered[first][1]) - 4, y), (place(ordered[last][1]) + 4, y)], "bar", 4)
    height = draw_names(drawing, place, ordered, bars + 9 * len(groups) + 16)
    return drawing.svg(int(height), title)


def draw_axis(drawing, place, many):
    drawing.line([(place(1), TOP), (place(many), TOP)], "ink", 1.5)
    for rank in range(1, many + 1):
        drawing.line([(place(rank), TOP - 6), (place(rank), TOP)], "ink", 1.5)
        drawing.text(place(rank), TOP - 10, str(rank))


def draw_difference(drawing, place, difference, many):
    """The length of the critical difference, above the axis; no longer than the axis."""
    end = min(1 + difference, many)
    y = 44
    for x in (place(1), place(end)):
        drawing.line([(x, y - 4), (x, y + 4)], "ink")
    drawing.line([(place(1), y), (place(end), y)], "ink")
    cut = " (beyond the axis)" if 1 + difference > many else ""
    drawing.text(place(end) + 8, y + 4, f"critical difference {difference:.2f}{cut}", "start")


def draw_names(drawing, place, ordered, first_line):
    """The better half on the left, the others on the right, so that lines do not cross."""
    half = (len(ordered) + 1) // 2
    for number, (who, rank) in enumerate(ordered):
        left = number < half
        level = number if left else len(ordered) - 1 - number
        y = first_line + LINE * level
        ours = who == AUTO
        end = SIDE - 10 if left else WIDTH - SIDE + 10
        drawing.line([(place(rank), TOP), (place(rank), y), (end, y)], "ours-line" if ours else "ink", 1.6 if ours else 1)
        words = f"{who}  {rank:.2f}" if left else f"{rank:.2f}  {who}"
        drawing.text(end + (-6 if left else 6), y + 4, words, "end" if left else "start", "ours" if ours else "")
    return first_line + LINE * half
