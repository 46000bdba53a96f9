"""The certificate of one run: who holds its key may join it, and everybody else is refused.

It is made anew for each run, and lives in memory.
"""

import os
import ssl
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from noface.errors import UsageError

if TYPE_CHECKING:
    from distributed import Security

_VALID = timedelta(days=14)
_BEFORE = timedelta(days=1)  # a host's clock may be slow, or in another time zone than it thinks


@dataclass(frozen=True, slots=True)
class TlsIdentity:
    """What one member of a run proves itself with, in PEM: the authority, its certificate, and its key."""

    ca: str
    certificate: str
    key: str

    def security(self) -> "Security":
        """Return what dask.distributed asks for; nothing is sent in the open, and TLS is 1.3."""
        from distributed import Security

        pair: dict[str, str] = {}
        for role in ("scheduler", "client", "worker"):
            pair |= {f"tls_{role}_cert": self.certificate, f"tls_{role}_key": _loadable(self.key)}
        version = ssl.TLSVersion.TLSv1_3
        return Security(require_encryption=True, tls_ca_file=self.ca, tls_min_version=version, **pair)


@cache
def _loadable(key: str) -> str:
    """Return what dask.distributed takes for a key: the path of a file that no folder holds.

    Python's ssl reads files only, and dask would write the text into a folder for temporary files. Where there are no
    files in memory (macOS) it still does.
    """
    if not hasattr(os, "memfd_create") or not Path("/proc/self/fd").exists():
        return key
    held = os.memfd_create("key")
    os.write(held, key.encode())
    return f"/proc/self/fd/{held}"


def make_identity() -> TlsIdentity:
    """Make what all members of one run prove themselves with: to dask each may do all that the others may."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.x509.oid import NameOID

    key, now = ec.generate_private_key(ec.SECP256R1()), datetime.now(UTC)
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, f"noface run {x509.random_serial_number():x}")])
    no = dict.fromkeys(("content_commitment", "key_encipherment", "data_encipherment", "key_agreement"), False)
    no |= dict.fromkeys(("crl_sign", "encipher_only", "decipher_only"), False)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _BEFORE)
        .not_valid_after(now + _VALID)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(x509.KeyUsage(**no, digital_signature=True, key_cert_sign=True), critical=True)
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("noface")]), critical=False)
        .sign(key, hashes.SHA256())
    )
    pem = certificate.public_bytes(serialization.Encoding.PEM).decode()
    plain = serialization.NoEncryption()
    secret = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, plain).decode()
    return TlsIdentity(pem, pem, secret)


def read_identity(ca: Path, certificate: Path, key: Path) -> TlsIdentity:
    """Read what a person keeps in files for a standing cluster. Raises UsageError."""
    texts = [_read(path, what) for path, what in ((ca, "CERTIFICATE"), (certificate, "CERTIFICATE"), (key, "KEY"))]
    try:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.load_verify_locations(ca)
        context.load_cert_chain(certificate, key, password="")
    except (ssl.SSLError, OSError, ValueError) as error:
        hint = "The files are PEM; the key belongs to the certificate and has no passphrase."
        raise UsageError(f"{certificate} and {key} cannot be used: {error}.", hint) from error
    return TlsIdentity(*texts)


def _read(path: Path, what: str) -> str:
    try:
        text = path.read_text(encoding="ascii")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no PEM file"
        raise UsageError(f"{path} cannot be read: {reason}.", "Give the path of a PEM file.") from error
    if f"{what}-----" not in text:
        named = "private key" if what == "KEY" else "certificate"
        raise UsageError(f"{path} holds no {named}.", "Give the path of a PEM file.")
    return text
