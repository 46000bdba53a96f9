"""From the URL of a git remote to host, owner, name and REST API."""

import pytest

from noface.errors import UsageError
from noface.forge.location import Location, is_enterprise_server, located

PUBLIC = ("github.com", "https://api.github.com")
SERVER = ("git.acme.example", "https://git.acme.example/api/v3")
RESIDENT = ("acme.ghe.com", "https://api.acme.ghe.com")
HERE = ("127.0.0.1:8080", "http://127.0.0.1:8080/api/v3")


@pytest.mark.parametrize(
    ("remote", "place"),
    [
        ("https://github.com/acme/shop.git", PUBLIC),
        ("https://github.com/acme/shop", PUBLIC),
        ("https://pat:secret@github.com/acme/shop.git", PUBLIC),
        ("https://www.github.com:443/acme/shop", PUBLIC),
        ("http://github.com/acme/shop.git", PUBLIC),
        ("git@github.com:acme/shop.git", PUBLIC),
        ("ssh://git@github.com/acme/shop.git", PUBLIC),
        ("ssh://git@ssh.github.com:443/acme/shop.git", PUBLIC),
        ("git@git.acme.example:acme/shop.git", SERVER),
        ("ssh://git@git.acme.example:2222/acme/shop.git", SERVER),
        ("http://git.acme.example/acme/shop.git", SERVER),
        (
            "https://git.acme.example:8443/acme/shop.git",
            ("git.acme.example:8443", "https://git.acme.example:8443/api/v3"),
        ),
        ("git@acme.ghe.com:acme/shop.git", RESIDENT),
        ("https://acme.ghe.com/acme/shop", RESIDENT),
        ("http://127.0.0.1:8080/acme/shop.git", HERE),
    ],
)
def test_a_remotes_url_tells_the_repository_and_its_api(remote, place):
    host, api = place
    assert located(remote) == Location(host, "acme", "shop", api)


@pytest.mark.parametrize(
    ("remote", "repository", "url", "found"),
    [
        ("https://github.com/me/fork", "acme/shop", "", (*PUBLIC, "acme/shop")),
        ("", "acme/shop", "", (*PUBLIC, "acme/shop")),
        ("git@work:me/fork.git", "acme/shop", "", (*PUBLIC, "acme/shop")),
        ("/srv/git/shop.git", "acme/shop", "", (*PUBLIC, "acme/shop")),
        ("file:///srv/git/shop.git", "acme/shop", "http://127.0.0.1:8080/api/v3/", (*HERE, "acme/shop")),
        ("git@git.acme.example:me/fork", "acme/shop", "", (*SERVER, "acme/shop")),
        ("git@work:acme/shop", "", "https://git.acme.example/api/v3", (*SERVER, "acme/shop")),
        ("git@github.com:acme/shop", "", "https://api.acme.ghe.com", (*RESIDENT, "acme/shop")),
        ("git@github.com:acme/shop", "", "https://api.github.com/", (*PUBLIC, "acme/shop")),
        ("git@github.com:acme/shop", "", "https://github.com", (*PUBLIC, "acme/shop")),
        ("", "a_corp/x.y-z", "http://[::1]:81", ("[::1]:81", "http://[::1]:81", "a_corp/x.y-z")),
    ],
)
def test_the_keys_of_github_win_over_the_remote(remote, repository, url, found):
    place = located(remote, repository, url)
    assert (place.host, place.api, place.repository) == found


@pytest.mark.parametrize(
    ("remote", "repository", "url", "taught"),
    [
        ("", "", "", "There is no git remote"),
        ("/srv/git/shop.git", "", "", "/srv/git/shop.git is not on GitHub"),
        ("C:/git/shop.git", "", "", "is not on GitHub"),
        ("file:///srv/git/shop.git", "", "", "is not on GitHub"),
        ("git@gitlab.com:acme/shop.git", "", "", "not on GitHub, but on gitlab.com"),
        ("https://gitlab.acme.example/acme/shop.git", "", "", "but on gitlab.acme.example"),
        ("git@ssh.dev.azure.com:v3/acme/x/shop", "", "", "but on ssh.dev.azure.com"),
        ("git@work:acme/shop.git", "", "", "'work' is a name of ~/.ssh/config"),
        ("https://github.com/acme", "", "", "is not owner/name"),
        ("https://github.com/acme/shop/wiki", "", "", "is not owner/name"),
        ("https://github.com/acme/..", "", "", "is not owner/name"),
        ("https://github.com/acme/shop", "shop", "", '[github] repository = "shop" is not owner/name'),
        ("https://github.com/acme/shop", "", "http://git.acme.example/api/v3", "is no URL of a REST API"),
        ("https://github.com/acme/shop", "", "git.acme.example", "is no URL of a REST API"),
        ("https://github.com/acme/shop", "", "https://x:99999/", "is no URL of a REST API"),
        ("https://github.com/acme/shop", "", "https://pat:hunter2hunter2@x.example", "is no URL of a REST API"),
    ],
)
def test_what_is_not_on_github_is_told_with_the_key_that_mends_it(remote, repository, url, taught):
    with pytest.raises(UsageError) as caught:
        located(remote, repository, url)
    assert taught in caught.value.message
    assert caught.value.hint
    assert "hunter2" not in caught.value.message


def test_only_a_companys_own_server_wants_tokens_of_its_own():
    assert [
        is_enterprise_server(host) for host in ("git.acme.example", "github.com", "acme.ghe.com", "127.0.0.1:1")
    ] == [True, False, False, False]
