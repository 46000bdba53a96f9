"""Who holds a certificate of the run may join it, and nobody else; nothing is sent in the open."""

import datetime as dt
import ssl
from pathlib import Path

import pytest
from cryptography import x509
from distributed.comm import connect
from support.home_scheduler import home_scheduler

from noface.config.load import load
from noface.errors import HostError, UsageError
from noface.extras.hosts.calls import host_environment, project_parcel
from noface.extras.hosts.certificates import make_identity, read_identity
from noface.extras.hosts.worker import HOST_FOLDER, HOST_KEY, reach
from noface.git.repository import discover


@pytest.fixture(scope="module")
def home():
    with home_scheduler() as running:
        yield running


def test_a_member_of_the_run_is_let_in(home):
    reach(home.address, home.identity)


def test_a_worker_of_another_run_is_refused_and_refuses(home):
    with pytest.raises(HostError, match="do not trust each other"):
        reach(home.address, make_identity())


def test_a_certificate_of_another_run_is_refused_by_the_scheduler(home):
    """Also one that trusts the scheduler: it is the scheduler that has to refuse."""
    stranger = make_identity()
    mixed = type(stranger)(home.identity.ca, stranger.certificate, stranger.key)
    with pytest.raises(HostError, match="do not trust each other"):
        reach(home.address, mixed)


def test_what_is_not_encrypted_is_refused(home):
    async def in_the_open():
        await connect(f"tcp://127.0.0.1:{home.port}", timeout=3)

    with pytest.raises(OSError, match="TCP"):
        home.do(in_the_open())


def test_a_host_whose_clock_is_wrong_by_an_hour_can_join():
    certificate = x509.load_pem_x509_certificate(make_identity().certificate.encode())
    now, hour = dt.datetime.now(dt.UTC), dt.timedelta(hours=1)
    assert certificate.not_valid_before_utc < now - hour
    assert now + 13 * 24 * hour < certificate.not_valid_after_utc <= now + 14 * 24 * hour


def test_the_key_of_a_member_is_in_no_folder():
    """A worker without a sandbox could read one that dask writes into the folder for temporary files."""
    security = make_identity().security()
    assert security.require_encryption
    assert str(Path(security.tls_worker_key).readlink()).startswith("/memfd:")
    assert security.get_connection_args("worker")["ssl_context"].minimum_version is ssl.TLSVersion.TLSv1_3


@pytest.mark.parametrize(
    ("wrong", "says"),
    [("missing", "cannot be read"), ("empty", "holds no"), ("other key", "cannot be used"), ("binary", "no PEM file")],
)
def test_files_that_are_no_identity_are_told(tmp_path, wrong, says):
    one, other = make_identity(), make_identity()
    paths = [tmp_path / name for name in ("ca.pem", "cert.pem", "key.pem")]
    for path, text in zip(paths, (one.ca, one.certificate, one.key), strict=True):
        path.write_text(text)
    assert read_identity(*paths) == one
    match wrong:
        case "missing":
            paths[2].unlink()
        case "empty":
            paths[1].write_text("")
        case "other key":
            paths[2].write_text(other.key)
        case "binary":
            paths[0].write_bytes(b"\xff\x00")
    with pytest.raises(UsageError, match=says):
        read_identity(*paths)


def test_no_box_shows_the_key_of_a_standing_cluster_or_what_a_host_keeps_for_others(project, tmp_path, monkeypatch):
    key, folder = tmp_path / "worker.key", tmp_path / "host"
    project.config(f'[executor]\ncertificates = "{tmp_path / "cluster"}"\n')
    monkeypatch.setenv(HOST_KEY, str(key))
    monkeypatch.setenv(HOST_FOLDER, str(folder))
    repository = discover(project.path)
    env = host_environment(project_parcel(load(project.path), repository).config, repository)
    assert set(env.sandbox.hide) >= {str(key), str(folder), str(tmp_path / "cluster")}
