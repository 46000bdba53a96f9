"""A secret written otherwise: base64, hexadecimal, backwards. None of it stays, none of it lands."""

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from noface.gates.secrets import told, without_secrets
from noface.secrets.masking import Masker, _encoded

VALUE = "sk-Wq8+/zT4nL2pX9vB7?m~K5dR3hJ6"
MASKER = Masker({VALUE: "SHOP_TOKEN"})
DATA = VALUE.encode()

ENCODINGS = {
    "base64": base64.b64encode(DATA).decode(),
    "base64 without padding": base64.b64encode(DATA).decode().rstrip("="),
    "base64 for urls": base64.urlsafe_b64encode(DATA).decode(),
    "base64 of a login": base64.b64encode(b"user:" + DATA).decode(),
    "base64 with a line end": base64.b64encode(DATA + b"\n").decode(),
    "base64 one byte in": base64.b64encode(b"x" + DATA + b"yy").decode(),
    "base64 two bytes in": base64.b64encode(b"xx" + DATA + b"y").decode(),
    "hexadecimal": DATA.hex(),
    "HEXADECIMAL": DATA.hex().upper(),
    "backwards": VALUE[::-1],
}


def shows(text):
    """Tell whether half of the value, in any of its writings, can still be read from a text."""
    forms = [VALUE, VALUE[::-1], DATA.hex(), DATA.hex().upper(), *_encoded(VALUE)]
    return any(form[at : at + len(form) // 2] in text for form in forms for at in range(len(form) // 2))


def patch_of(text):
    added = "\n".join(f"+{line}" for line in text.split("\n"))
    return (
        f"diff --git a/a.py b/a.py\nnew file mode 100644\n--- /dev/null\n+++ b/a.py\n@@ -0,0 +1 @@\n{added}\n".encode()
    )


@pytest.mark.parametrize("text", ENCODINGS.values(), ids=[*ENCODINGS])
def test_every_writing_is_taken_out_of_texts_and_bytes_and_named_in_patches(text):
    assert shows(text)
    assert not shows(MASKER.text(f"before {text} after"))
    printed = f"before {text} after\n" * 3
    left = MASKER.masked(printed.encode()).decode()
    assert not shows(left)
    assert (len(left), left.count("\n")) == (len(printed), printed.count("\n"))
    masked = without_secrets(patch_of(f"key = {text}"), MASKER).decode()
    assert not shows(masked)
    assert [secret.type for secret in told(masked)][:1] == ["SHOP_TOKEN"]
    assert masked.count("\n") == patch_of(text).count(b"\n")


@pytest.mark.parametrize("value", ["password", "app_test_db", "hunter-two"])
def test_short_and_plain_values_are_looked_for_in_no_other_writing(value):
    masker = Masker({value: "DB_PASSWORD"})
    for text in (base64.b64encode(value.encode()).decode(), value.encode().hex(), value[::-1]):
        assert masker.text(text) == text


@given(st.binary(max_size=3), st.binary(max_size=5))
def test_base64_is_found_whatever_is_encoded_beside_it(before, after):
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        assert not shows(MASKER.text(encode(before + DATA + after).decode()))


def test_of_a_very_long_value_the_beginning_stands_for_all_of_its_encodings():
    value = "".join(f"{number:05x}" for number in range(2000))
    masker = Masker({value: "LONG"})
    told = masker.text(base64.b64encode(value.encode()).decode())
    assert "***LONG***" in told
    assert base64.b64encode(value[:600].encode()).decode() not in told
