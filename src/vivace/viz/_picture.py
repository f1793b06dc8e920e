"""Pictures as SVG text, and what drawing them needs: sizes of texts, escapes, curves."""

from html import escape

FONT = "'Helvetica Neue',Helvetica,Arial,'DejaVu Sans',sans-serif"
_NARROW = frozenset("fijlrtI.,:;'|![]()/ -\"`")
_WIDE = frozenset("mwMW@%&—…")


def text_width(text, size, bold=False):
    """An upper bound in the fonts that are asked for, in pixels."""
    em = sum(0.40 if c in _NARROW else 1.0 if c in _WIDE else 0.72 if c.isupper() else 0.635 for c in text)
    return em * size * (1.09 if bold else 1.0)


def shortened(text, longest):
    """The end of a text that is too long."""
    return text if len(text) <= longest else "…" + text[1 - longest :]


def number(value):
    """A coordinate."""
    return f"{value:.1f}".removesuffix(".0")


def curve(points):
    """A path that goes through points, up and down in each of them."""
    (x, y), *rest = points
    parts = [f"M{number(x)} {number(y)}"]
    for to_x, to_y in rest:
        if abs(to_x - x) < 0.05:
            parts.append(f"V{number(to_y)}")
        else:
            middle = number((y + to_y) / 2)
            parts.append(f"C{number(x)} {middle} {number(to_x)} {middle} {number(to_x)} {number(to_y)}")
        x, y = to_x, to_y
    return "".join(parts)


class Picture:
    """An SVG picture: notebooks show it, `str()` is its text, `save` writes it."""

    def __init__(self, width, height, elements, title=""):
        self.width = width
        self.height = height
        self._text = "\n".join(
            [
                f'<svg xmlns="http://www.w3.org/2000/svg" width="{number(width)}" height="{number(height)}" '
                f'viewBox="0 0 {number(width)} {number(height)}" font-family="{FONT}" role="img">',
                f"<title>{escape(title)}</title>",
                f'<rect width="{number(width)}" height="{number(height)}" rx="6" fill="#ffffff"/>',
                *elements,
                "</svg>",
                "",
            ]
        )

    def __str__(self):
        return self._text

    def __repr__(self):
        return f"<Picture of {number(self.width)} x {number(self.height)}>"

    def _repr_svg_(self):
        return self._text

    def save(self, path):
        """Writes the picture, as a page if the file is named *.html."""
        text = self._text
        if str(path).endswith(".html"):
            text = f'<!DOCTYPE html>\n<meta charset="utf-8">\n{text}'
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)


def text(x, y, content, size, fill, *, bold=False, anchor="middle"):
    """A line of text."""
    weight = ' font-weight="600"' if bold else ""
    place = f'x="{number(x)}" y="{number(y)}" text-anchor="{anchor}"'
    return f'<text {place} font-size="{number(size)}"{weight} fill="{fill}">{escape(content)}</text>'
