"""Secrets are out of what programs print before it reaches a log, however it is cut into pieces (I12)."""

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from noface.secrets.masking import MaskedStream, Masker

VALUE = "hunter2-hunter2-x9"
MARK = "***MY_TOKEN----***"
TOKEN = Masker({VALUE: "MY_TOKEN", "hunter2-": "PART_KEY", "two\nlines of it": "LINES_KEY"})
SHAPED = "ghp_" + "a1B2" * 9
KEY = "-----BEGIN RSA PRIVATE KEY-----\n" + "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj\n" * 9
KEY += "-----END RSA PRIVATE KEY-----\n"


def fed(pieces, masker=TOKEN):
    stream = MaskedStream(masker)
    return b"".join([*(stream.feed(piece) for piece in pieces), stream.finish()])


@given(
    st.lists(st.sampled_from([VALUE, "hunter", "2-", "x", "\n", "two\n", SHAPED, "gh", KEY, "ü\0"]), max_size=8),
    st.data(),
)
def test_pieces_are_masked_like_the_whole(words, data):
    whole = " ".join(words).encode()
    cuts = sorted(data.draw(st.lists(st.integers(0, len(whole)), max_size=5)))
    pieces = [whole[start:end] for start, end in zip([0, *cuts], [*cuts, len(whole)], strict=True)]
    masked = fed(pieces)
    assert len(masked) == len(whole)
    assert not any(secret.encode() in masked for secret in (VALUE, SHAPED, "MIIE", "two\nlines of it"))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Password: ", "Password: "),
        ("12 %\r", "12 %\r"),
        ("......", "......"),
        ("a half: hunter2-hun", "a half: "),
        ("ends like two", "ends like "),
        (f"the key {SHAPED}", "the key "),
        (f"{KEY[:99]}", ""),
        (f"{VALUE}\nnext ", f"{MARK}\nnext "),
    ],
)
def test_what_cannot_begin_a_secret_is_shown_at_once(text, shown):
    assert MaskedStream(TOKEN).feed(text.encode()).decode() == shown


def test_a_value_in_another_writing_is_found_too():
    long = "sk-Wq8+/zT4nL2pX9vB7?m~K5dR3hJ6" * 3
    for text in (long[::-1], long.encode().hex(), base64.encodebytes(long.encode()).decode()):
        masked = fed([text[:20].encode(), text[20:].encode()], Masker({long: "LONG_KEY"})).decode()
        assert masked.count("LONG_KEY") >= 1
        assert text[:20] not in masked
