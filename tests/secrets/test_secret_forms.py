"""A secret written otherwise: base64, hexadecimal, backwards, broken into pieces. None of it stays, none of it lands."""

import base64
import json
import textwrap

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.cases import cases

from noface.gates.secrets import MARK, marked, scan
from noface.process.masked_file import mask_file
from noface.secrets.forms import WordFilter, encoded
from noface.secrets.masking import Masker

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
    "hexadecimal with colons": DATA.hex(":"),
    "escapes": "".join(f"\\x{byte:02x}" for byte in DATA),
    "percent": "".join(f"%{byte:02X}" for byte in DATA),
    "backwards": VALUE[::-1],
    "base32": base64.b32encode(DATA).decode(),
    "base32 of a login": base64.b32encode(b"user:x:" + DATA + b"y").decode(),
    "a list of bytes": ",".join(f"0x{byte:02x}" for byte in DATA),
    "A LIST OF BYTES": ", ".join(f"0x{byte:02X}" for byte in DATA),
    "unicode escapes": "".join(f"\\u{byte:04x}" for byte in DATA),
    "unicode escapes in JSON": json.dumps("".join(f"\\u{byte:04x}" for byte in DATA)),
    "UTF-16": VALUE.encode("utf-16-le").decode(),
    "UTF-16, the other order": VALUE.encode("utf-16-be").decode(),
}
BROKEN = {
    "over lines": "\n".join(textwrap.wrap(VALUE, 10)),
    "indented": "\n    ".join([VALUE[:9], VALUE[9:20], VALUE[20:]]),
    "by a backslash": f"{VALUE[:15]}\\\n{VALUE[15:]}",
    "put together": f'"{VALUE[:12]}" + "{VALUE[12:]}"',
    "one string after the other": f'("{VALUE[:12]}"\n    "{VALUE[12:]}")',
    "over lines of a JSON text": json.dumps("\n  ".join(textwrap.wrap(VALUE, 10))),
    "in comments": f"# {VALUE[:18]}\n# {VALUE[18:]}",
    "in indented comments": f"x\n  // {VALUE[:18]}\n  // {VALUE[18:]}",
    "in a block comment": f"/*\n * {VALUE[:6]}\n * {VALUE[6:]}\n */",
    "a list of bytes over lines": ",\n  ".join(
        ", ".join(f"0x{byte:02x}" for byte in DATA[at : at + 12]) for at in range(0, len(DATA), 12)
    ),
    "letter by letter": " ".join(VALUE),
    "its base64 over lines": "\n".join(textwrap.wrap(base64.b64encode(DATA).decode(), 16)),
}


def shows(text):
    """Tell whether half of the value, in any of its writings, can still be read from a text."""
    joined = "".join(char for char in text.replace("\\n", "") if char not in " \n\"'\\+,()")
    forms = [VALUE, VALUE[::-1], DATA.hex(), DATA.hex().upper(), DATA.hex(":"), *encoded(VALUE)]
    plain = ["".join(char for char in form if char not in " \n\"'\\+,()") for form in forms]
    return any(form[at : at + len(form) // 2] in joined for form in plain for at in range(len(form) // 2))


def patch_of(text):
    added = "\n".join(f"+{line}" for line in text.split("\n"))
    return (
        f"diff --git a/a.py b/a.py\nnew file mode 100644\n--- /dev/null\n+++ b/a.py\n@@ -0,0 +1 @@\n{added}\n".encode()
    )


@pytest.mark.parametrize("text", [*ENCODINGS.values(), *BROKEN.values()], ids=[*ENCODINGS, *BROKEN])
def test_every_writing_is_taken_out_of_texts_and_files_and_named_in_patches(tmp_path, text):
    assert shows(text)
    assert not shows(MASKER.text(f"before {text} after"))
    log = tmp_path / "agent.log"
    log.write_text(f"before {text} after\n" * 3)
    size = log.stat().st_size
    assert mask_file(log, MASKER)
    left = log.read_text()
    assert not shows(left)
    assert (len(left.encode()), left.count("\n")) == (size, (text.count("\n") + 1) * 3)
    masked = MASKER.patch(patch_of(f"key = {text}"), MARK).decode()
    assert not shows(masked)
    assert [secret.type for secret in marked(scan(masked)[0])][:1] == ["SHOP_TOKEN"]
    assert masked.count("\n") == patch_of(text).count(b"\n")


@cases("text", list(BROKEN.values()), ids=list(BROKEN))
def test_a_patch_that_only_moves_a_broken_value_says_nothing_new(text):
    added = patch_of(text).decode()
    moved = added + "".join(f"-{line}\n" for line in text.split("\n"))
    assert not shows(MASKER.patch(moved.encode(), MARK).decode())
    assert "masked by noface" not in MASKER.patch(moved.encode(), MARK).decode()


@pytest.mark.parametrize("value", ["password", "app_test_db", "hunter-two"])
def test_short_and_plain_values_are_looked_for_in_no_other_writing(value):
    masker = Masker({value: "DB_PASSWORD"})
    for text in (
        base64.b64encode(value.encode()).decode(),
        value.encode().hex(),
        value[::-1],
        f"{value[:4]}\n{value[4:]}",
    ):
        assert masker.text(text) == text


def test_what_looks_alike_stays():
    text = f"{VALUE[:20]}\nand more {VALUE[20:]}\n{base64.b64encode(b'x' * 60).decode()}\n{'ab' * 40}\n" + " ".join(
        VALUE[:20]
    )
    assert MASKER.text(text) == text


@given(st.binary(min_size=15, max_size=40), st.binary(max_size=40), st.binary(max_size=40))
def test_the_filter_never_misses_a_text_wherever_it_stands(form, before, after):
    data = before + form + after
    assert WordFilter([form]).may_hold(data)
    assert WordFilter([form, b"x" * 64]).may_hold(data)


@given(st.binary(max_size=3), st.binary(max_size=5))
def test_base64_is_found_whatever_is_encoded_beside_it(before, after):
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        assert not shows(MASKER.text(encode(before + DATA + after).decode()))


def test_a_file_of_many_broken_beginnings_takes_no_longer_than_its_length(tmp_path):
    log = tmp_path / "agent.log"
    log.write_text((" ".join(VALUE[:-1]) + "\n") * 20_000 + "\n".join(VALUE))
    assert mask_file(log, MASKER)
    assert log.read_text().endswith("-\n*\n*\n*") or not shows(log.read_text()[-200:])


def test_a_copy_in_base64_neither_lands_nor_stays_in_a_log(project):
    shell = "printf %s $SHOP_TOKEN | base64 > key.b64; cat key.b64; printf '%s\\n' $SHOP_TOKEN | fold -w 9"
    project.play(("7", 0, [{"shell": shell}]))
    project.config()
    project.write(
        "noface.toml",
        (project.path / "noface.toml").read_text().replace("tier = 1", f'tier = 1\nenv = {{ SHOP_TOKEN = "{VALUE}" }}'),
    )
    project.issue(7)
    project.commit()
    project.run(code=3)
    first = project.attempts("7")[0]
    assert first["failure"]["rule"] == "secret-added"
    log = (project.state / "attempts/7/1/agent.log").read_text()
    assert log
    assert not shows(log)
    assert not shows((project.state / "attempts/7/1/diff.patch").read_text())


def test_of_a_very_long_value_the_beginning_stands_for_all_of_its_encodings():
    value = "".join(f"{number:05x}" for number in range(2000))
    masker = Masker({value: "LONG"})
    told = masker.text(base64.b64encode(value.encode()).decode())
    assert "***LONG***" in told
    assert base64.b64encode(value[:600].encode()).decode() not in told
