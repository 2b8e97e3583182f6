#!/usr/bin/env python3
"""docs/api.md has the table of paths that app/api/openapi/page.py makes of the OpenAPI document; and what that program does with one.

    tests/api_page_test.py
"""

import pathlib
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "app" / "api" / "openapi"))

import join
import page


def document(**operations):
    """Of two paths, with these fields of the operations besides."""
    def one(name):
        return {"operationId": name, "tags": ["things"], "summary": f"Does {name}.", "responses": {}, **operations.get(name, {})}
    return {
        "tags": [{"name": "about"}, {"name": "things"}],
        "paths": {"/v1/others": {"get": one("others")}, "/v1/things": {"post": one("add"), "get": one("list")}},
        "components": {"schemas": {"Thing": {"type": "object", "properties": {"verb": {"enum": ["go", "stay"]}, "why": {"type": "string"}}}},
                       "parameters": {"Cursor": {"name": "cursor", "in": "query", "schema": {"type": "string"}}}},
    }


class api_page(unittest.TestCase):
    def test_the_page_has_the_table_of_the_document(self):
        is_now = page.PAGE.read_text(encoding="utf-8")
        wanted = page.with_table(is_now, join.load(with_sections=True))
        self.assertEqual(is_now, wanted, "the table of paths in docs/api.md is not that of the OpenAPI document. "
                                         "Run: python3 app/api/openapi/page.py")

    def test_a_tag_s_own_path_goes_first_and_get_before_post(self):
        rows = [row.split(" | ")[:2] for row in page.table(document())[2:]]
        self.assertEqual(rows, [["| `GET`", "`/v1/things`"], ["| `POST`", "`/v1/things`"], ["| `GET`", "`/v1/others`"]])

    def test_a_section_becomes_a_link(self):
        self.assertIn("| [Does list](#list) |", page.table(document(list={"x-section": "#list"}))[2])

    def test_a_row_names_parameters_and_fields_with_their_words(self):
        size = {"name": "page_size", "in": "query", "schema": {"type": "integer"}}
        key = {"name": "Idempotency-Key", "in": "header", "schema": {"type": "string"}}
        asked = {"parameters": [size, {"$ref": "#/components/parameters/Cursor"}, key, {"name": "all", "in": "query", "schema": {"type": "boolean"}}]}
        body = {"requestBody": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Thing"}}}}}
        rows = page.table(document(list=asked, add=body))
        self.assertTrue(rows[2].endswith("| `all`, pages |"), rows[2])
        self.assertTrue(rows[3].endswith("| `verb` (`go`, `stay`), `why` |"), rows[3])

    def test_a_file_is_a_file(self):
        body = {"requestBody": {"content": {"application/yaml": {}, "application/json": {"schema": {"$ref": "#/components/schemas/Thing"}}}}}
        self.assertTrue(page.table(document(add=body))[3].endswith("| a file as the body |"))

    def test_what_stands_around_the_table_stays(self):
        text = f"before\n{page.BEGIN}\nold\n{page.END}\nbehind\n"
        made = page.with_table(text, document())
        self.assertTrue(made.startswith(f"before\n{page.BEGIN}\n\n| Method |") and made.endswith(f"\n\n{page.END}\nbehind\n"), made)
        self.assertNotIn("old", made)
        self.assertEqual(page.with_table(made, document()), made)

    def test_a_page_without_its_marks_and_an_unknown_tag_are_refused(self):
        with self.assertRaises(join.refused):
            page.with_table("no marks\n", document())
        with self.assertRaises(join.refused):
            page.table(document(list={"tags": ["nothing"]}))

    def test_the_document_that_is_served_has_no_sections(self):
        self.assertNotIn("x-section", join.to_json(join.load()))


if __name__ == "__main__":
    unittest.main()
