"""What a word is, in any script: letters, digits and the marks that combine with them.

To Python's ``\\w`` a combining mark is no part of a word, so that it would divide words of Devanagari, Thai, Bengali, pointed Hebrew or
Arabic, and Latin whose accents are characters of their own (Unicode's categories Mn and Mc).
"""

from __future__ import annotations

from unicodedata import category

# Where the accents of Latin, Greek and Cyrillic and the marks of the Near East, India and South-East Asia stand; not those of emoji.
_MARKS = "".join(
    character for character in map(chr, [*range(0x300, 0x1E00), *range(0xA800, 0xAC00)]) if category(character) in ("Mn", "Mc")
)

WORD = rf"[\w{_MARKS}]+"
"""Pattern of a word."""

WORD_OR_SIGN = rf"{WORD}|[^\w\s{_MARKS}]"
"""Pattern of a word, or of one character that is neither part of one nor a blank."""
