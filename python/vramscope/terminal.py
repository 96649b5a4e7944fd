"""What of a file's name may be shown."""


def printable(text: str) -> str:
    """No character of a file's name steers the terminal, nor stops it: bytes that are no letters are none either."""
    return "".join(letter if letter.isprintable() else "\ufffd" for letter in text)
