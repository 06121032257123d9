"""What a file is that is no text: told by its first bytes, and what to do about it.

Known formats that people take for texts, or choose by mistake: archives, documents, pictures, sounds, data. What is
not listed may be text; encodings.py is about that, corpus.py about both together.
"""

from __future__ import annotations

import io
import zipfile

__all__ = ["kind_of_binary"]

COMPRESSED = "is compressed ({}): unpack it first"
DOCUMENT = "is a {} document: save or export it as plain text first"
MEDIA = "is {}, not text"

# Offset, bytes, sentence. All hold bytes that no text in UTF-8 starts with, or a word too odd to be prose.
SIGNATURES = (
    (0, b"\x1f\x8b", COMPRESSED.format("gzip")),
    (4, b"1AY&SY", COMPRESSED.format("bzip2")),
    (0, b"\xfd7zXZ\x00", COMPRESSED.format("xz")),
    (0, b"\x28\xb5\x2f\xfd", COMPRESSED.format("zstd")),
    (0, b"\x04\x22\x4d\x18", COMPRESSED.format("lz4")),
    (0, b"7z\xbc\xaf\x27\x1c", COMPRESSED.format("7-Zip")),
    (0, b"Rar!\x1a\x07", COMPRESSED.format("RAR")),
    (257, b"ustar", "is a tar archive: unpack it first"),
    (0, b"%PDF-", DOCUMENT.format("PDF")),
    (0, b"{\\rtf", DOCUMENT.format("rich text (RTF)")),
    (0, b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", DOCUMENT.format("Microsoft Office (97-2003)")),
    (0, b"\x89PNG\r\n\x1a\n", MEDIA.format("a PNG image")),
    (0, b"\xff\xd8\xff", MEDIA.format("a JPEG image")),
    (0, b"GIF87a", MEDIA.format("a GIF image")),
    (0, b"GIF89a", MEDIA.format("a GIF image")),
    (8, b"WEBPVP8", MEDIA.format("a WebP image")),
    (8, b"WAVEfmt", MEDIA.format("a sound file")),
    (0, b"ID3\x03\x00", MEDIA.format("a sound file")),
    (0, b"ID3\x04\x00", MEDIA.format("a sound file")),
    (0, b"OggS\x00", MEDIA.format("an Ogg sound or video file")),
    (4, b"ftypmp4", MEDIA.format("a video file")),
    (4, b"ftypisom", MEDIA.format("a video file")),
    (0, b"SQLite format 3\x00", MEDIA.format("an SQLite database")),
    (0, b"\x7fELF", MEDIA.format("a program (ELF)")),
    (0, b"MZ\x90\x00", MEDIA.format("a Windows program")),
    (0, b"PAR1\x15", MEDIA.format("a Parquet table")),
    (0, b"ARROW1\x00\x00", MEDIA.format("an Arrow table")),
    (0, b"\x93NUMPY", MEDIA.format("a NumPy array")),
    (0, b"\x80\x04\x95", MEDIA.format("a Python pickle")),
    (0, b"GGUF\x03\x00", MEDIA.format("a model file (GGUF)")),
)

# A part that only this kind of document has in its zip archive.
ZIP_DOCUMENTS = (
    ("word/", DOCUMENT.format("Word")),
    ("xl/", "is an Excel workbook: export the sheet as text first"),
    ("ppt/", DOCUMENT.format("PowerPoint")),
    ("META-INF/container.xml", "is an EPUB book: convert it to plain text first"),
    ("content.xml", DOCUMENT.format("LibreOffice")),
)


def kind_of_binary(data: bytes) -> str | None:
    """Return the end of a sentence that says what the file is, or None if it may be text.

    >>> kind_of_binary(b"%PDF-1.7"), kind_of_binary(b"text")
    ('is a PDF document: save or export it as plain text first', None)
    """
    if data.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return _kind_of_zip(data)
    for offset, signature, sentence in SIGNATURES:
        if data.startswith(signature, offset):
            return sentence
    return None


def _kind_of_zip(data: bytes) -> str:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            names = archive.namelist()
    except (zipfile.BadZipFile, NotImplementedError, ValueError, OSError):
        names = []  # cut or of a kind that the library does not know: still a zip archive
    for part, sentence in ZIP_DOCUMENTS:
        if any(name.startswith(part) for name in names):
            return sentence
    return "is a zip archive: unpack it first"
