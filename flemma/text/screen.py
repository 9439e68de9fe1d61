"""A small screen on which terminal output settles before it becomes text."""

ROWS = 50
COLUMNS = 200
BLOCK = 8192
"""Characters after which the beginning of a line can no longer change."""


class Screen:
    """The last rows of a terminal, still changeable; what leaves them at the top is final.

    Lines do not wrap. A row that grows beyond ``BLOCK`` characters gives its beginning away, so
    that one line of any length takes bounded memory (case X-16). Rows and columns count from 0.
    """

    def __init__(self) -> None:
        self._rows = [""]
        self._row = 0
        self._column = 0
        self._saved = (0, 0)
        self._final: list[str] = []

    def take_final(self) -> str:
        """Return the text that became final since the last call."""
        text = "".join(self._final)
        self._final.clear()
        return text

    def finish(self) -> str:
        """Make everything final and return it."""
        self._final.append("\n".join(self._rows))
        self._rows = [""]
        self._row = self._column = 0
        return self.take_final()

    def write(self, text: str) -> None:
        """Write ``text`` (no newline in it) over what is at the cursor."""
        if not text:
            return
        row = self._rows[self._row]
        if self._column < len(row):
            row = row[: self._column] + text + row[self._column + len(text) :]
        else:
            row = row + " " * (self._column - len(row)) + text
        self._column += len(text)
        self._rows[self._row] = row
        if len(row) >= BLOCK:
            self._settle_beginning()

    def write_lines(self, text: str) -> None:
        """Write text that has no control characters but newlines; fast at the bottom row."""
        first, *others = text.split("\n")
        self.write(first)
        if len(others) <= ROWS or self._row != len(self._rows) - 1:
            for line in others:
                self.newline()
                self.write(line)
            return
        # All rows scroll out, and with them all but the last lines of the text.
        last = others[-ROWS:]
        self._final.append("\n".join([*self._rows, *others[:-ROWS], ""]))
        self._rows = [""]
        self._row = self._column = 0
        self.write(last[0])
        for line in last[1:]:
            self.newline()
            self.write(line)

    def newline(self) -> None:
        """Go to the start of the next row, scrolling if there is none."""
        self._column = 0
        if self._row < len(self._rows) - 1:
            self._row += 1
            return
        self._rows.append("")
        self._row += 1
        if len(self._rows) > ROWS:
            self._final.append(self._rows.pop(0) + "\n")
            self._row -= 1

    def carriage_return(self) -> None:
        """Go to the start of the row."""
        self._column = 0

    def backspace(self) -> None:
        """Go one column left."""
        self._column = max(0, self._column - 1)

    def move_rows(self, count: int) -> None:
        """Go up (negative) or down, without scrolling."""
        self.go_to_row(self._row + count)

    def move_columns(self, count: int) -> None:
        """Go left (negative) or right."""
        self.go_to_column(self._column + count)

    def go_to_column(self, column: int) -> None:
        """Go to a column, at most the right edge or the end of a longer line."""
        edge = max(COLUMNS - 1, len(self._rows[self._row]), self._column)
        self._column = min(max(0, column), edge)

    def go_to(self, row: int, column: int) -> None:
        """Go to a cell; the top row is the oldest one that can still change."""
        self.go_to_row(row)
        self.go_to_column(column)

    def go_to_row(self, row: int) -> None:
        """Go to a row of the screen."""
        self._row = min(max(0, row), ROWS - 1)
        self._rows.extend([""] * (self._row + 1 - len(self._rows)))

    def save_cursor(self) -> None:
        """Remember the cursor."""
        self._saved = (self._row, self._column)

    def restore_cursor(self) -> None:
        """Go where the cursor was remembered."""
        self.go_to(*self._saved)

    def erase_in_line(self, mode: int) -> None:
        """Erase to the end (0), to the start (1) or the whole row (2)."""
        row = self._rows[self._row]
        match mode:
            case 0:
                row = row[: self._column]
            case 1:
                row = " " * min(self._column + 1, len(row)) + row[self._column + 1 :]
            case _:
                row = ""
        self._rows[self._row] = row

    def erase_below(self) -> None:
        """Erase from the cursor to the end of the screen."""
        self.erase_in_line(0)
        del self._rows[self._row + 1 :]

    def erase_above(self) -> None:
        """Erase from the start of the screen to the cursor."""
        self._rows[: self._row] = [""] * self._row
        self.erase_in_line(1)

    def clear(self) -> None:
        """Start an empty screen; what was on the old one is kept as text, not lost."""
        shown = "\n".join(self._rows).rstrip("\n ")
        if shown:
            self._final.append(shown + "\n")
        self._rows = [""]
        self._row = self._column = 0

    def delete_characters(self, count: int) -> None:
        """Remove characters at the cursor; what follows moves left."""
        row = self._rows[self._row]
        self._rows[self._row] = row[: self._column] + row[self._column + count :]

    def erase_characters(self, count: int) -> None:
        """Blank characters at the cursor."""
        row = self._rows[self._row]
        blanks = " " * min(count, max(0, len(row) - self._column))
        self._rows[self._row] = row[: self._column] + blanks + row[self._column + len(blanks) :]

    def insert_blanks(self, count: int) -> None:
        """Insert blanks at the cursor; what follows moves right."""
        row = self._rows[self._row]
        if self._column < len(row):
            blanks = " " * min(count, COLUMNS)
            self._rows[self._row] = row[: self._column] + blanks + row[self._column :]

    def _settle_beginning(self) -> None:
        row = self._rows[self._row]
        settled = len(row) // BLOCK * BLOCK
        above = self._rows[: self._row]
        self._final.append("\n".join([*above, row[:settled]]))
        self._rows[: self._row + 1] = [row[settled:]]
        self._row = 0
        self._column = max(0, self._column - settled)
