"""The guarded client reaches public web servers only, however a URL is spelled or redirected."""

import asyncio
from collections.abc import Iterator
from urllib.parse import quote

import pytest
from little_web import LittleWeb

from suffice.errors import InputError, PageError, PageRefused
from suffice.search.pages import guard
from suffice.search.pages.fetch import Fetcher
from suffice.search.pages.guard import HostAllowlist, is_public

# URLs that must be refused: each is tried directly and as the target of a redirect.
REFUSED = """
http://localhost/ http://LOCALHOST/ http://localhost./ http://sub.localhost/ http://localhost.localdomain/
http://127.0.0.1/ http://127.0.0.1./ http://127.1/ http://127.0.1/ http://127.255.255.254/ http://2130706433/
http://0x7f000001/ http://0x7F.0.0.1/ http://0x7f.1/ http://0177.0.0.1/ http://017700000001/ http://0177.0x0.1/
http://0/ http://0.0.0.0/ http://00000000177.1/ http://127。0。0。1/ http://１２７.０.０.１/ http://ⓛⓞⓒⓐⓛⓗⓞⓢⓣ/ http://①②⑦.⓪.⓪.①/
http://[::1]/ http://[0:0:0:0:0:0:0:1]/ http://[::]/ http://[::ffff:127.0.0.1]/ http://[::ffff:7f00:1]/ http://[::127.0.0.1]/
http://[::ffff:0:127.0.0.1]/ http://[64:ff9b::127.0.0.1]/ http://[64:ff9b::a9fe:a9fe]/ http://[64:ff9b:1::7f00:1]/
http://[2002:7f00:1::]/ http://[2002:a9fe:a9fe::1]/ http://[2001:0:7f00:1::]/ http://[2001::1]/ http://[fe80::1]/
http://[fe80::1%25eth0]/ http://[fe80::1%25lo]/ http://[fc00::1]/ http://[fd00:ec2::254]/ http://[fec0::1]/ http://[ff02::1]/
http://[2001:db8::1]/ http://[3fff::1]/ http://[100::1]/ http://[2606:4700::5efe:7f00:1]/
http://169.254.169.254/latest/meta-data/ http://2852039166/ http://0xa9fea9fe/ http://169.254.43518/ http://[::ffff:a9fe:a9fe]/
http://metadata.google.internal/ http://168.63.129.16/ http://100.100.100.200/ http://192.0.0.192/ http://100.64.0.1/
http://10.0.0.1/ http://10.1/ http://172.16.0.1/ http://172.31.255.255/ http://192.168.0.1/ http://192.168.1/ http://3232235777/
http://192.0.2.1/ http://198.18.0.1/ http://198.51.100.1/ http://203.0.113.1/ http://192.88.99.1/ http://224.0.0.1/
http://239.255.255.250/ http://240.0.0.1/ http://255.255.255.255/ http://printer.local/ http://wiki.corp/ http://nas.lan/
http://8.8.8.8:22/ http://8.8.8.8:8080/ https://8.8.8.8:6443/ http://8.8.8.8:0/ http://8.8.8.8:65536/ http://8.8.8.8:-1/
http://user@8.8.8.8/ http://user:secret@8.8.8.8/ http://127.0.0.1@8.8.8.8/ http://8.8.8.8@127.0.0.1/ http://8.8.8.8%40127.0.0.1/
http://8.8.8.8\\@127.0.0.1/ http://127.0.0.1\\@8.8.8.8/ http://127.0.0.1%00.example.com/ http://127.0.0.1%2f.example.com/
http:///etc/passwd http:127.0.0.1 http:/127.0.0.1/ file:///etc/passwd file://localhost/etc/passwd ftp://8.8.8.8/
gopher://127.0.0.1:70/ dict://127.0.0.1:11211/ ldap://127.0.0.1/ data:text/html,hello javascript:alert(1) jar:http://8.8.8.8!/
unix:///var/run/docker.sock ws://8.8.8.8/ about:blank
""".split()


@pytest.fixture(scope="module")
def web() -> Iterator[LittleWeb]:
    with LittleWeb() as little:
        little.robots_status = 404
        yield little


def fetched(url: str, allowed: HostAllowlist, resolve: guard.Resolver = guard.system_resolve):
    async def main():
        fetch = Fetcher(allowed, resolve=resolve)
        try:
            return await fetch(url)
        finally:
            await fetch.aclose()

    return asyncio.run(main())


def test_list_of_refused_urls_is_long_enough():
    assert len(set(REFUSED)) >= 100


@pytest.mark.parametrize("url", REFUSED)
def test_private_url_is_refused(url):
    with pytest.raises(PageError) as error:
        fetched(url, HostAllowlist())
    # Some spellings are not addresses for the system's resolver; it then fails to resolve them as names.
    assert isinstance(error.value, PageRefused) or "cannot be resolved" in str(error.value)


@pytest.mark.parametrize("url", REFUSED)
def test_redirect_to_a_private_url_is_refused(web, url):
    """``file:`` and other odd targets may also be read as a path on the same server, which then answers 404."""
    seen = sum(web.hits.values())
    with pytest.raises(PageError) as error:
        fetched(f"{web.url}/to?u={quote(url, safe='')}", HostAllowlist.parse([web.host]))
    refused = isinstance(error.value, PageRefused) or "cannot be resolved" in str(error.value)
    assert refused or "HTTP 404" in str(error.value)
    assert sum(web.hits.values()) > seen


def test_every_redirect_of_a_chain_is_checked(web):
    last = quote("http://169.254.169.254/latest/", safe="")
    middle = quote(f"/to?u={last}", safe="")
    with pytest.raises(PageRefused, match="169"):
        fetched(f"{web.url}/to?u={middle}", HostAllowlist.parse([web.host]))


def test_allowed_host_on_another_port_is_refused(web):
    with LittleWeb() as other, pytest.raises(PageRefused):
        fetched(f"{web.url}/to?u={quote(other.url + '/pages/ferry', safe='')}", HostAllowlist.parse([web.host]))


def test_host_with_one_private_address_is_refused():
    async def resolve(host, port):
        return ["93.184.215.14", "10.0.0.7"]

    with pytest.raises(PageRefused, match=r"10\.0\.0\.7"):
        fetched("http://example.com/", HostAllowlist(), resolve)


def test_connection_uses_the_checked_address(web, monkeypatch):
    """A host is resolved once, so a name server cannot answer with a public address first and a private one later."""
    resolved = []

    async def resolve(host, port):
        resolved.append(host)
        return ["127.0.0.1"] if len(resolved) == 1 else ["10.0.0.1"]

    monkeypatch.setattr(guard, "is_public", lambda address: address == "127.0.0.1")
    port = int(web.host.rpartition(":")[2])
    monkeypatch.setitem(guard.DEFAULT_PORTS, "http", port)
    page = fetched(f"http://example.com:{port}/plain/x", HostAllowlist(), resolve)
    assert page.body == b"Sorrel Island has 212 inhabitants."
    assert resolved == ["example.com"]


@pytest.mark.parametrize("addresses", [["9.9.9.1"], ["9.9.9.1", "9.9.9.2"], [f"9.9.9.{last}" for last in range(1, 6)]])
def test_each_dead_address_is_connected_to_once(addresses, monkeypatch):
    import httpcore2
    from httpcore2._backends.auto import AutoBackend

    tried = []

    async def connect_tcp(self, host, *arguments):
        tried.append(host)
        raise httpcore2.ConnectError("dead")

    async def resolve(host, port):
        return addresses

    monkeypatch.setattr(AutoBackend, "connect_tcp", connect_tcp)
    with pytest.raises(PageError, match="dead"):
        fetched("http://example.com/", HostAllowlist(), resolve)
    assert tried == addresses[:3]


def test_proxies_of_the_environment_are_ignored(web, monkeypatch):
    with LittleWeb() as proxy:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
            monkeypatch.setenv(name, proxy.url)
        assert fetched(f"{web.url}/plain/x", HostAllowlist.parse([web.host])).body
        assert not proxy.hits


def test_connection_pool_uses_the_guarded_backend():
    """httpx2 has no public way to set the backend; this test fails if an upgrade breaks the way used here."""

    async def main():
        async with guard.make_client(HostAllowlist()) as client:
            backend = client._transport._pool._network_backend
            assert type(backend).__qualname__.startswith("make_client.")
            with pytest.raises(PageRefused):
                await client.get("http://127.0.0.1/")
            with pytest.raises(PageRefused):
                await backend.connect_unix_socket("/var/run/docker.sock")

    asyncio.run(main())


def test_client_refuses_private_redirects_itself(web):
    async def main():
        async with guard.make_client(HostAllowlist.parse([web.host])) as client:
            await client.get(f"{web.url}/to?u={quote('http://127.0.0.1:1/', safe='')}", follow_redirects=True)

    with pytest.raises(PageRefused):
        asyncio.run(main())


@pytest.mark.parametrize(
    "address", ["8.8.8.8", "93.184.215.14", "2606:4700:4700::1111", "64:ff9b::808:808", "172.32.0.1"]
)
def test_public_addresses(address):
    assert is_public(address)


@pytest.mark.parametrize(
    ("entries", "host", "port", "is_allowed"),
    [
        (["wiki.corp"], "wiki.corp", 8080, True),
        (["Wiki.Corp."], "wiki.corp", 80, True),
        (["wiki.corp:8080"], "wiki.corp", 8080, True),
        (["wiki.corp:8080"], "wiki.corp", 80, False),
        (["[::1]:8080"], "::1", 8080, True),
        (["::1"], "::1", 80, True),
        (["wiki.corp"], "evil-wiki.corp", 80, False),
        (["wiki.corp"], "wiki.corp.evil.example", 80, False),
        ([""], "", 80, False),
    ],
)
def test_allowlist(entries, host, port, is_allowed):
    assert HostAllowlist.parse(entries)(host, port) is is_allowed


@pytest.mark.parametrize(
    "entry", ["http://wiki.corp", "wiki.corp:port", "wiki.corp/path", "wiki.corp:0", "a b", "wiki:99999"]
)
def test_invalid_allowlist_entry_raises_input_error(entry):
    with pytest.raises(InputError, match="SUFFICE_ALLOW_HOSTS"):
        HostAllowlist.parse([entry])
