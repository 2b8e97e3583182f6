#!/usr/bin/env python3
"""Clients of the API of a real node that are known by a certificate: right ones, and each that is not taken with the reason; the trust list replaced
while the node runs; tokens beside certificates; namespaces; alerts about certificates that end.

    FAIRLEAD_BIN=build/release/bin/fairlead tests/scenarios/api_certificates.py
"""

import http.client
import shutil
import socket
import ssl
import subprocess
import time

import harness
import openapi
from api_access import ORDER, ask, new_token, refused
from faked_clock import clock, utc
from harness import BINARY, expect, wait_until
from place import deploy, place

AGENT, BILLING, BEN = "spiffe://example.org/agent/payment", "spiffe://example.org/billing", "ben.example.org"
ROWS = (f"[{{ san: '{AGENT}', roles: [client] }}, {{ san: 'dns:Build.example.org', name: build, roles: [viewer] }}, "
        f"{{ san: 'cn:{BEN}', name: ben, roles: [admin] }}, {{ san: '{BILLING}', name: bill, roles: [admin], namespaces: [billing] }}]")


def certify(*words, prefix=()):
    done = subprocess.run([*prefix, str(BINARY), "certificate", *map(str, words)], capture_output=True, text=True, timeout=30)
    expect(done.returncode == 0, f"certificate {words}: {done.stderr}")


class certificates_scenario:
    def __init__(self, box):
        self.box = box
        self.folder = box.folder / "pki"
        self.folder.mkdir()
        past = clock(box.folder, utc(time.time() - 5 * 86_400)).prefix
        certify("create-ca", "--out", self.folder / "ours", prefix=past)
        certify("create-ca", "--out", self.folder / "others")
        certify("issue", "localhost", "127.0.0.1", "--ca", self.folder / "ours", "--server", "--out", self.folder)
        self.clients = self.folder / "clients.pem"
        shutil.copy(self.folder / "ours" / "ca.pem", self.clients)
        self.agent = self.issue("agent", AGENT)
        self.ben = self.issue("ben", BEN)
        self.bill = self.issue("bill", BILLING)
        self.stranger = self.issue("stranger", "spiffe://example.org/agent/stranger", "eve.example.org")
        self.server = self.issue("server", BEN, use="--server")
        self.ended = self.issue("ended", AGENT, days=1, prefix=past)
        self.foreign = self.issue("foreign", AGENT, ca="others")
        self.port, = harness.free_ports(1)
        self.place = self.start("certified", "0.0.0.0", f"{{ certificates: {ROWS} }}")

    def start(self, name, host, access):
        tls = f"{{ certificate: {self.folder}/localhost.pem, key: {self.folder}/localhost-key.pem, client_ca: {self.clients} }}"
        one = place(self.box, name, api=f"{{ listen: '{host}:{self.port}', tls: {tls} }}", access=access)
        one.node.start()
        deploy(one.node)
        return one

    def issue(self, folder, *names, ca="ours", use="--client", days=30, prefix=()):
        """(certificate, key)"""
        out = self.folder / folder
        out.mkdir()
        certify("issue", *names, "--ca", self.folder / ca, use, "--days", days, "--out", out, prefix=prefix)
        key, = out.glob("*-key.pem")
        return out / key.name.replace("-key.pem", ".pem"), key

    def context(self, shown=None):
        made = ssl.create_default_context(cafile=self.folder / "ours" / "ca.pem")
        if shown:
            made.load_cert_chain(*shown)
        return made

    def to(self, shown=None):
        """What makes a connection that shows the certificate."""
        context = self.context(shown)
        return lambda: http.client.HTTPSConnection("127.0.0.1", self.port, timeout=20, context=context)

    def name_of(self, shown, token=None):
        status, said, _ = ask(self.to(shown), "GET", "/v1/me", token)
        return said["name"] if status == 200 else status

    def right(self):
        """Rows by URI, DNS name and common name: the first that fits gives name and roles."""
        _, me, _ = ask(self.to(self.agent), "GET", "/v1/me")
        expect(me["kind"] == "certificate" and me["name"] == AGENT and me["roles"] == ["client"] and me["namespaces"] == ["default"] and me["expires_at"],
               str(me))
        build = self.issue("build", "build.example.org", "deploy.example.org")
        expect(self.name_of(build) == "build", "a DNS name")
        expect(self.name_of(self.ben) == "ben", "a common name")
        status, said, _ = ask(self.to(self.agent), "PUT", "/v1/tasks/c-1", body=ORDER)
        expect(status == 201, str(said))
        _, seen, _ = ask(self.to(self.ben), "GET", "/v1/tasks/c-1")
        expect(seen["submitted_by"] == AGENT, str(seen)[:300])
        said, _ = refused(self.to(build), "forbidden", "PUT", "/v1/tasks/c-2", body=ORDER)
        expect("build may not submit tasks" in said["detail"], str(said))

    def wrong(self):
        """Each is told why, and is in the audit."""
        for shown, words in ((None, "no client certificate"), (self.foreign, "does not trust"), (self.ended, "has expired at"),
                             (self.server, "not one for clients"), (self.stranger, "spiffe://example.org/agent/stranger, dns:eve.example.org")):
            said, headers = refused(self.to(shown), "unauthenticated", "GET", "/v1/tasks")
            expect(words in said["detail"] and "access.certificates" in said["remedy"] and headers["WWW-Authenticate"], f"{words}: {said}")
        _, page, _ = ask(self.to(self.ben), "GET", "/v1/audit?code=unauthenticated&path=/v1/tasks")
        expect(len(page["items"]) == 5 and all(one["status"] == 401 and one["who"] is None for one in page["items"]), str(page))
        expect(ask(self.to(self.foreign), "GET", "/v1/version")[0] == 200, "what needs nobody's name stays open")
        said, _ = refused(self.to(self.agent), "unauthenticated", "GET", "/v1/me", "fl_anything")
        expect("knows no tokens" in said["detail"], str(said))

    def namespaces(self):
        said, _ = refused(self.to(self.bill), "forbidden", "GET", "/v1/tasks")
        expect("bill may not use the namespace default" in said["detail"], str(said))
        refused(self.to(self.bill), "not_found", "GET", "/v1/tasks?namespace=billing")
        expect(ask(self.to(self.bill), "GET", "/v1/me")[1]["namespaces"] == ["billing"], "it may see who it is")

    def rows_are_replaced(self):
        """By a reload, all or nothing: who has no row any more loses access with the next request, over a connection that is open, too."""
        kept, text = self.to(self.agent)(), self.place.config.read_text()

        def status_of_kept():
            kept.request("GET", "/v1/me")
            answer = kept.getresponse()
            answer.read()
            return answer.status
        expect(status_of_kept() == 200, "before")
        row = f"{{ san: '{AGENT}', roles: [client] }}, "
        self.place.config.write_text(text.replace(row, "{ san: 'cn:nobody', roles: [boss] }, "))
        done = harness.fairlead("node", "reload", node=self.place.node.address)
        expect(done.returncode == 2 and "boss" in done.stderr and status_of_kept() == 200, f"a wrong row: {done.returncode} {done.stderr}")
        self.place.config.write_text(text.replace(row, ""))
        took = harness.fairlead_json("node", "reload", node=self.place.node.address)
        expect(took["applied"] == ["access.certificates"] and not took["needs_restart"], str(took))
        expect(status_of_kept() == 401 and self.name_of(self.agent) == 401 and self.name_of(self.ben) == "ben", "the row is withdrawn")
        self.place.config.write_text(text)
        harness.fairlead_json("node", "reload", node=self.place.node.address)
        expect(status_of_kept() == 200, "the row is there again")

    def no_session_is_taken_up_again(self):
        """Nobody comes back under the certificate of an earlier connection."""
        context, kept, reused = self.context(self.ben), None, []
        for _ in range(2):
            with socket.create_connection(("127.0.0.1", self.port), timeout=10) as raw, \
                    context.wrap_socket(raw, server_hostname="localhost", session=kept) as over:
                over.sendall(b"GET /v1/me HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
                while over.recv(4096):
                    pass
                kept, reused = over.session, [*reused, over.session_reused]
        expect(not any(reused), "a session was taken up again")

    def trust_is_replaced(self):
        """Connections that are open are asked again, too."""
        kept = self.to(self.agent)()

        def status_of_kept():
            kept.request("GET", "/v1/me")
            answer = kept.getresponse()
            answer.read()
            return answer.status
        expect(status_of_kept() == 200, "before")
        log = self.place.folder / "node.log"
        shutil.copy(self.folder / "others" / "ca.pem", self.clients)
        wait_until(lambda: self.name_of(self.foreign) == AGENT, 5, "the other authority is trusted")
        expect(self.name_of(self.agent) == 401 and status_of_kept() == 401, "the former one is not")
        for broken, words in (("nothing", "no certificate in PEM"), (self.agent[0].read_text().split("-----END")[0] + "-----END CERTIFICATE-----\n", "not that of an authority")):
            self.clients.write_text(broken)
            wait_until(lambda: words in log.read_text(), 5, f"the log says: {words}")  # noqa: B023
            expect("the former authorities stay" in log.read_text() and self.name_of(self.foreign) == AGENT, "the former authorities stay")
        both = "".join((self.folder / ca / "ca.pem").read_text() for ca in ("ours", "others"))
        self.clients.write_text(both)
        wait_until(lambda: self.name_of(self.agent) == AGENT and self.name_of(self.foreign) == AGENT, 5, "both are trusted")
        expect(status_of_kept() == 200, "the connection that was kept, too")
        self.end()

    def beside_tokens(self):
        """A token decides alone; without one the certificate does."""
        file = self.folder / "tokens.yaml"
        token = new_token(file, "ann", "--role", "viewer", "--namespace", "default")["token"]
        self.place = self.start("both", "127.0.0.1", f"{{ tokens_file: {file}, certificates: {ROWS} }}")
        expect(self.name_of(self.ben) == "ben" and self.name_of(None, token) == "ann", "each alone")
        expect(self.name_of(self.ben, token) == "ann" and self.name_of(self.ended, token) == "ann", "both")
        expect(self.name_of(self.ben, token[:-1]) == 401, "a wrong token is not made good by a certificate")
        said, _ = refused(self.to(), "unauthenticated", "GET", "/v1/me")
        expect("no token, and the connection no client certificate" in said["detail"], str(said))
        self.end()

    def end_is_told(self):
        """The certificate of the API and an authority of clients end soon: each has an alert, until it is replaced."""
        certify("renew", self.folder / "localhost.pem", "--ca", self.folder / "ours", "--days", 3)
        certify("create-ca", "--days", 5, "--out", self.folder / "short")
        self.clients.write_text("".join((self.folder / ca / "ca.pem").read_text() for ca in ("ours", "short")))
        self.place = self.start("ending", "127.0.0.1", f"{{ certificates: {ROWS} }}")
        told = wait_until(lambda: len(found := self.ends_told()) == 2 and found, 30, "both alerts are raised")
        sentences = sorted(one["sentence"] for one in told)
        expect(sentences[0].startswith("node single: an authority in its api.tls.client_ca ends at ")
               and sentences[1].startswith("node single: the certificate of its API ends at "), str(sentences))
        _, page, _ = ask(self.to(self.ben), "GET", "/v1/alerts")
        numbers = {one["number"] for one in told}
        expect({one["number"] for one in page["items"] if one["kind"] == "certificate_ends"} == numbers, str(page))
        certify("renew", self.folder / "localhost.pem", "--ca", self.folder / "ours")
        shutil.copy(self.folder / "ours" / "ca.pem", self.clients)
        wait_until(lambda: not self.ends_told(), 15, "both alerts are resolved")
        expect({one["number"] for one in self.ends_told("--state", "resolved")} == numbers, "no other alert was raised")
        self.end()

    def ends_told(self, *filters):
        found = harness.fairlead_json("alert", "list", *filters, node=self.place.node.address)["alerts"]
        return [one for one in found if one["kind"] == "certificate_ends"]

    def bad_start(self):
        """A trust list that cannot be used keeps the node from starting."""
        one = place(self.box, "bad", api=f"{{ listen: '127.0.0.1:{self.port}', tls: {{ certificate: {self.folder}/localhost.pem, "
                    f"key: {self.folder}/localhost-key.pem, client_ca: {self.folder}/nothing.pem }} }}", access=f"{{ certificates: {ROWS} }}")
        one.node.launch()
        code = one.node.process.wait(20)
        expect(code == 2 and "nothing.pem" in one.folder.joinpath("node.log").read_text(), f"{code}, {one.node.last_words()}")
        expect(not one.store.exists(), "it has made a store")
        done = harness.fairlead("config", "check", one.config)
        expect(done.returncode == 2 and "api.tls.client_ca: " in done.stderr, f"config check: {done.returncode} {done.stderr}")

    def end(self):
        code, _ = self.place.node.end()
        expect(code == 0, f"the node ended with {code}: {self.place.node.last_words()}")

    def run(self):
        for part in (self.right, self.wrong, self.namespaces, self.rows_are_replaced, self.no_session_is_taken_up_again, self.trust_is_replaced, self.beside_tokens,
                     self.end_is_told, self.bad_start):
            part()
            print(f"ok  {part.__name__}", flush=True)


def run():
    with harness.sandbox("api_certificates") as box:
        certificates_scenario(box).run()
    openapi.check("api_certificates").write()
    return 0


if __name__ == "__main__":
    harness.main(run)
