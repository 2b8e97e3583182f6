"""Holds the answers of the API against its OpenAPI document, which app/api/openapi/join.py joins from its pieces. The checker finds the
operation by its path, validates bodies, headers and events by the schemas of the document, and remembers which statuses of which operations
it has seen."""

import importlib.util
import json
import re
import sys
import urllib.parse

import harness
from harness import expect

try:
    import jsonschema
except ImportError:
    # Debian's packages, which another interpreter than Debian's does not look for.
    sys.path.append("/usr/lib/python3/dist-packages")
    import jsonschema

SEEN = harness.BINARY.parent.parent / "scenarios" / "api_seen"
METHODS = ("get", "put", "post", "delete", "patch")
# Answers to methods and paths that the document does not have; the door refuses them before it looks at the path.
OF_ANY_REQUEST = {400, 401, 403, 405, 406, 413, 414, 415, 421, 429, 431, 501, 503}

formats = jsonschema.FormatChecker(())


@formats.checks("date-time")
def is_moment(text):
    return not isinstance(text, str) or re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)", text) is not None


def join():
    """The program that joins the pieces, as a module."""
    place = importlib.util.spec_from_file_location("join", harness.ROOT / "app" / "api" / "openapi" / "join.py")
    module = importlib.util.module_from_spec(place)
    place.loader.exec_module(module)
    return module


def events_of(path):
    return f"/v1/{'operations' if path.startswith('/v1/operations/') else 'tasks'}/{{id}}/events"


class document:
    """The document, its $refs replaced by what they name: schemas of answers do not contain themselves."""

    def __init__(self, parts=None):
        self.parts = parts or join().load()
        self.whole_ = {}
        self.validators_ = {}
        self.operations = {}  # (path, method) -> operation
        for path, item in self.parts["paths"].items():
            shared = self.resolve(item.get("parameters", []))
            for method in METHODS:
                if method in item:
                    found = self.resolve(item[method])
                    found["parameters"] = shared + found.get("parameters", [])
                    self.operations[path, method] = found
        self.templates_ = [(path, re.compile(re.sub(r"\\{\w+\\}", "[^/]+", re.escape(path)))) for path in self.parts["paths"]]
        # A path without a part in braces goes before one with it.
        self.templates_.sort(key=lambda one: one[0].count("{"))

    def resolve(self, part):
        if isinstance(part, list):
            return [self.resolve(one) for one in part]
        if not isinstance(part, dict):
            return part
        if isinstance(part.get("$ref"), str):
            name = part["$ref"]
            if name not in self.whole_:
                at = self.parts
                for key in name[2:].split("/"):
                    at = at[key]
                self.whole_[name] = self.resolve(at)
            return self.whole_[name]
        return {key: self.resolve(value) for key, value in part.items()}

    def template_of(self, path):
        """None: the document has no such path."""
        return next((template for template, pattern in self.templates_ if pattern.fullmatch(path)), None)

    def faults_of(self, schema, value):
        """What is wrong with a value, a sentence each. Schemas are those of the document itself: one validator is kept for each."""
        made = self.validators_.get(id(schema))
        if made is None:
            made = self.validators_[id(schema)] = jsonschema.Draft202012Validator(schema, format_checker=formats)
        if made.is_valid(value):
            return []
        return [f"{'/'.join(map(str, one.absolute_path))}: {one.message[:300]}" for one in made.iter_errors(value)]

    def schema_of(self, name):
        return self.resolve({"$ref": f"#/components/schemas/{name}"})


class checker:
    """What one scenario has seen of the document."""

    def __init__(self, scenario=None):
        self.document = document()
        self.scenario = scenario
        self.seen = set()  # (operationId, status)

    def judge(self, method, path, status, headers, body, request_body=None):
        """Fails if the answer is not one of the document. `path`: with its query; `body`, `request_body`: JSON, or None."""
        path = urllib.parse.urlsplit(path).path
        what = f"{method} {path}: {status}"
        template = self.document.template_of(path)
        wanted = "get" if method == "HEAD" else method.lower()
        operation = self.document.operations.get((template, wanted)) if method.isupper() else None
        if operation is None:
            return self.judge_other(what, method, template, status, headers, body)
        answer = operation["responses"].get(str(status))
        expect(answer is not None, f"{what} is no status of {operation['operationId']} in the OpenAPI document: {str(body)[:500]}")
        self.see(operation["operationId"], status)
        self.judge_headers(what, answer, headers)
        if method != "HEAD":
            self.judge_body(what, answer, body)
        if 200 <= status < 300 and request_body is not None and "requestBody" in operation:
            schema = operation["requestBody"]["content"]["application/json"]["schema"]
            found = self.document.faults_of(schema, request_body)
            expect(not found, f"{what}: the request was taken, and is not as the OpenAPI document says: {found[:5]}")

    def judge_other(self, what, method, template, status, headers, body):
        if method == "OPTIONS" and template is not None and status == 204:
            expect("Allow" in headers, f"{what}: the header Allow is missing: {headers}")
            return
        wanted = OF_ANY_REQUEST | ({404} if template is None else set())
        expect(status in wanted, f"{what}, but the OpenAPI document has no such path or method: {str(body)[:500]}")
        if method != "HEAD":
            found = self.document.faults_of(self.document.schema_of("Problem"), body)
            expect(not found, f"{what}: the problem is not as the OpenAPI document says: {found[:5]}")

    def judge_headers(self, what, answer, headers):
        known = {name.lower(): value for name, value in headers.items()}
        for name, said in answer.get("headers", {}).items():
            value = known.get(name.lower())
            expect(value is not None or not said.get("required"), f"{what}: the header {name} is missing: {headers}")
            found = [] if value is None else self.document.faults_of(said["schema"], value)
            expect(not found, f"{what}: the header {name} is not as the OpenAPI document says: {found}")

    def judge_body(self, what, answer, body):
        content = answer.get("content", {})
        if not content:
            expect(body is None, f"{what} has a body, and the OpenAPI document knows of none: {str(body)[:500]}")
            return
        media, said = next(iter(content.items()))
        if media in ("text/event-stream", "application/x-protobuf"):
            return
        found = self.document.faults_of(said["schema"], body)
        expect(not found, f"{what} is not as the OpenAPI document says: {found[:5]}")
        if media == "application/problem+json":
            expect(f"`{body['code']}`" in answer["description"], f"{what}: the OpenAPI document does not name the code {body['code']}")

    def judge_event(self, path, kind, data):
        """An event of a stream about a task or an operation."""
        operation = self.document.operations[events_of(path), "get"]
        schemas = operation["responses"]["200"]["content"]["text/event-stream"]["x-events"]
        expect(kind in schemas, f"the OpenAPI document has no event '{kind}': {data}")
        found = self.document.faults_of(schemas[kind], data)
        expect(not found, f"the event {kind} is not as the OpenAPI document says: {found[:5]}")
        self.see(operation["operationId"], 200)

    def see(self, operation, status):
        self.seen.add((operation, status))

    def write(self):
        """For the test api_seen."""
        SEEN.mkdir(parents=True, exist_ok=True)
        (SEEN / f"{self.scenario}.json").write_text(json.dumps(sorted(self.seen)), encoding="utf-8")


the_checker = None


def check(scenario=None):
    """The checker of this process, made when it is first asked for."""
    global the_checker
    if the_checker is None:
        the_checker = checker()
    if scenario:
        the_checker.scenario = scenario
    return the_checker


def judge(method, path, status, headers, body, request_body=None):
    check().judge(method, path, status, headers, body, request_body)
