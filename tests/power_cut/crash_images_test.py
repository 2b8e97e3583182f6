#!/usr/bin/env python3
"""The model of a disk that power cuts are judged by: what it must keep, what it may lose, and that it does lose it."""

import pathlib
import random
import tempfile
import unittest

import crash_images
from crash_images import CREATE, ENDED, REMOVE, RENAME, RESIZE, SYNC_ALL, SYNC_FILE, SYNC_NAMES, WRITE

ROOT, FILE = 1, 2


class disks(unittest.TestCase):
    def setUp(self):
        self.disk = crash_images.disk()
        self.disk.folders[ROOT] = ""
        self.operation = 0

    def begin(self, kind, inode=0, offset=0, name="", data=b"", flags=0):
        self.operation += 1
        self.disk.take(crash_images.event(kind, flags, self.operation, 0, inode, offset, name, data))
        return self.operation

    def end(self, operation, well=1):
        self.disk.take(crash_images.event(ENDED, well, operation, 0, 0, 0, "", b""))

    def do(self, kind, **fields):
        self.end(self.begin(kind, **fields))

    def with_file(self):
        self.begin(CREATE, inode=FILE, name="a")
        self.do(SYNC_NAMES, inode=ROOT)

    def outcomes(self, count=300):
        """Every content of the folder that came of so many cuts."""
        found = set()
        with tempfile.TemporaryDirectory() as folder:
            for seed in range(count):
                root = pathlib.Path(folder) / str(seed)
                self.disk.cut(root, random.Random(seed))
                found.add(tuple((str(path.relative_to(root)), path.read_bytes() if path.is_file() else None)
                                for path in sorted(root.rglob("*"))))
        return found

    def test_a_name_is_certain_after_a_sync_of_its_folder(self):
        self.begin(CREATE, inode=FILE, name="a")
        self.assertEqual(self.outcomes(), {(), (("a", b""),)})
        self.do(SYNC_NAMES, inode=ROOT)
        self.assertEqual(self.outcomes(), {(("a", b""),)})

    def test_a_write_is_certain_after_a_sync_that_began_after_it(self):
        self.with_file()
        sync = self.begin(SYNC_FILE, inode=FILE)
        self.do(WRITE, inode=FILE, data=b"x")
        self.end(sync)
        self.assertEqual(self.outcomes(), {(("a", b""),), (("a", b"x"),)})
        self.do(SYNC_FILE, inode=FILE)
        self.assertEqual(self.outcomes(), {(("a", b"x"),)})

    def test_a_sync_that_failed_makes_nothing_certain(self):
        self.with_file()
        self.do(WRITE, inode=FILE, data=b"x")
        self.end(self.begin(SYNC_FILE, inode=FILE), well=0)
        self.assertEqual(self.outcomes(), {(("a", b""),), (("a", b"x"),)})

    def test_a_durable_write_is_certain_once_it_has_ended_and_hides_what_was_written_before(self):
        self.with_file()
        self.do(WRITE, inode=FILE, data=b"old")
        write = self.begin(WRITE, inode=FILE, data=b"new", flags=1)
        self.assertEqual(self.outcomes(), {(("a", b""),), (("a", b"old"),), (("a", b"new"),)})
        self.end(write)
        self.assertEqual(self.outcomes(), {(("a", b"new"),)})

    def test_a_write_is_torn_between_sectors_only(self):
        self.with_file()
        self.do(WRITE, inode=FILE, data=b"x" * 512 + b"y" * 512)
        zeros = bytes(512)
        self.assertEqual({content for (_, content), in self.outcomes()},
                         {b"", b"x" * 512, zeros + b"y" * 512, b"x" * 512 + b"y" * 512})

    def test_writes_are_lost_in_any_order(self):
        self.with_file()
        self.do(RESIZE, inode=FILE, offset=2)
        self.do(SYNC_FILE, inode=FILE)
        self.do(WRITE, inode=FILE, data=b"1")
        self.do(WRITE, inode=FILE, data=b"2", offset=1)
        self.assertEqual({content for (_, content), in self.outcomes()}, {b"\0\0", b"1\0", b"\0" + b"2", b"12"})

    def test_a_rename_has_the_old_name_or_the_new_one(self):
        self.with_file()
        self.begin(RENAME, name="a", data=b"b")
        self.assertEqual(self.outcomes(), {(("a", b""),), (("b", b""),)})
        self.do(SYNC_NAMES, inode=ROOT)
        self.assertEqual(self.outcomes(), {(("b", b""),)})

    def test_a_removal_may_be_forgotten(self):
        self.with_file()
        self.begin(REMOVE, name="a")
        self.assertEqual(self.outcomes(), {(), (("a", b""),)})

    def test_nothing_stands_in_a_folder_that_is_lost(self):
        self.begin(CREATE, inode=3, name="d", flags=1)
        self.begin(CREATE, inode=FILE, name="d/a")
        self.assertIn((), self.outcomes())
        self.do(SYNC_NAMES, inode=ROOT)
        self.assertEqual(self.outcomes(), {(("d", None),), (("d", None), ("d/a", b""))})

    def test_a_sync_of_everything_makes_everything_certain(self):
        self.begin(CREATE, inode=FILE, name="a")
        self.do(WRITE, inode=FILE, data=b"x")
        self.do(SYNC_ALL)
        self.assertEqual(self.outcomes(), {(("a", b"x"),)})


if __name__ == "__main__":
    unittest.main()
