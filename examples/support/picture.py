"""Draws a curve and small grey images into a PNG file, with nothing but the standard library."""

import itertools
import struct
import zlib

# Digits of three by five dots, a row of three bits after the other.
_GLYPHS = {
    "0": 0b111101101101111, "1": 0b010110010010111, "2": 0b111001111100111, "3": 0b111001111001111,
    "4": 0b101101111001001, "5": 0b111100111001111, "6": 0b111100111101111, "7": 0b111001001001001,
    "8": 0b111101111101111, "9": 0b111101111001111, ".": 0b000000000000010, ">": 0b100010001010100,
}  # fmt: skip
INK, PAPER, GRID, CURVE = (40, 40, 40), (255, 255, 255), (225, 225, 225), (200, 60, 40)


class Picture:
    def __init__(self, width, height):
        self.width, self.height = width, height
        self.pixels = bytearray(bytes(PAPER) * (width * height))

    def dot(self, x, y, color):
        if 0 <= x < self.width and 0 <= y < self.height:
            start = 3 * (y * self.width + x)
            self.pixels[start : start + 3] = bytes(color)

    def box(self, x, y, width, height, color):
        for row in range(y, y + height):
            for column in range(x, x + width):
                self.dot(column, row, color)

    def line(self, x0, y0, x1, y1, color):
        steps = max(abs(x1 - x0), abs(y1 - y0), 1)
        for i in range(steps + 1):
            self.dot(x0 + (x1 - x0) * i // steps, y0 + (y1 - y0) * i // steps, color)

    def text(self, x, y, text, scale=2, color=INK):
        for glyph in text:
            bits = _GLYPHS.get(glyph, 0)
            for i in range(15):
                if bits >> (14 - i) & 1:
                    self.box(x + i % 3 * scale, y + i // 3 * scale, scale, scale, color)
            x += 4 * scale

    def curve(self, x, y, width, height, values):
        """Values from left to right, zero at the bottom, with a scale at the left."""
        top = max(values)
        for i in range(5):
            level = y + height - height * i // 4
            self.line(x, level, x + width, level, GRID)
            self.text(x - 44, level - 5, f"{top * i / 4:.2f}")
        points = [
            (x + width * i // max(len(values) - 1, 1), y + height - int(height * value / top))
            for i, value in enumerate(values)
        ]
        for (x0, y0), (x1, y1) in itertools.pairwise(points):
            self.line(x0, y0, x1, y1, CURVE)

    def image(self, x, y, rows, scale):
        """Rows of numbers from 0 (paper) to 1 (ink)."""
        for i, row in enumerate(rows):
            for j, value in enumerate(row):
                grey = 255 - int(255 * min(max(value, 0), 1))
                self.box(x + j * scale, y + i * scale, scale, scale, (grey, grey, grey))

    def save(self, path):
        def chunk(kind, data):
            return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

        stride = 3 * self.width
        rows = b"".join(b"\0" + self.pixels[i : i + stride] for i in range(0, len(self.pixels), stride))
        header = struct.pack(">IIBBBBB", self.width, self.height, 8, 2, 0, 0, 0)
        with open(path, "wb") as file:
            file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows, 9)))
            file.write(chunk(b"IEND", b""))
