"""The disks that a power cut could have left, built from a recording (disk_recorder.cpp).

What is durable: a write to a file that was opened with O_DSYNC, once it has ended; what a file held when an fsync or fdatasync of it began,
once that has ended; a name, once an fsync of its directory has ended that began after the change; all of both for syncfs. Everything else may
be there or not, each write by sectors of 512 bytes and in any order. That is what POSIX leaves open; file systems promise more.
"""

import dataclasses
import os
import pathlib
import struct

SECTOR = 512
ENDED, WRITE, RESIZE, SYNC_FILE, SYNC_NAMES, SYNC_ALL, CREATE, REMOVE, RENAME = range(9)
HEADER = struct.Struct("<BBQQQQI")


@dataclasses.dataclass
class event:
    kind: int
    flags: int
    operation: int
    time_ns: int
    inode: int
    offset: int
    name: str
    data: bytes


def events(path):
    """Of a recording; an event that was being written when its process was killed is not there."""
    raw = memoryview(pathlib.Path(path).read_bytes())
    at = 0
    while at + 4 <= len(raw):
        size, = struct.unpack_from("<I", raw, at)
        if at + 4 + size > len(raw):
            return
        kind, flags, operation, time_ns, inode, offset, length = HEADER.unpack_from(raw, at + 4)
        name_at = at + 4 + HEADER.size
        yield event(kind, flags, operation, time_ns, inode, offset, bytes(raw[name_at:name_at + length]).decode(),
                    bytes(raw[name_at + length:at + 4 + size]))
        at += 4 + size


class change:
    """One change of a file: it becomes durable later, or never."""

    def __init__(self, offset, data):
        self.offset = offset
        self.data = data  # None: the file gets the size `offset`
        self.ended = False
        self.durable = False


class file:
    def __init__(self, data=b""):
        self.base = bytearray(data)  # what all durable changes before `changes` made of it
        self.changes = []            # in their order

    def settle(self, which):
        for one in which:
            one.durable = True
        while self.changes and self.changes[0].durable:
            apply(self.base, self.changes.pop(0))

    def left(self, keep):
        """The content after a cut. `keep(change)` gives the sectors of a change that are there (True: all, False: none)."""
        out = bytearray(self.base)
        for one in self.changes:
            kept = True if one.durable else keep(one)
            if kept is True:
                apply(out, one)
            elif kept and one.data is not None:
                for sector in kept:
                    begin = sector * SECTOR
                    apply(out, change(one.offset + begin, one.data[begin:begin + SECTOR]))
        return out


def apply(content, one):
    size = one.offset if one.data is None else one.offset + len(one.data)
    if one.data is None:
        del content[size:]
    if len(content) < size:
        content.extend(bytes(size - len(content)))
    if one.data is not None:
        content[one.offset:size] = one.data


class name_change:
    def __init__(self, kind, name, target):
        self.kind, self.name, self.target = kind, name, target  # of a creation: the file, or None for a directory
        self.durable = False

    @property
    def folder(self):
        return os.path.dirname(self.target if self.kind == RENAME else self.name)


class disk:
    """What a machine has, and what is certain to be there after a cut."""

    def __init__(self, folder=None):
        """The contents of `folder` are durable."""
        self.by_inode = {}
        self.names = {}           # durable names; of directories: None
        self.name_changes = []    # in their order
        self.folders = {}         # inode of a directory -> its path
        self.running = {}         # operation -> (event, what it will settle)
        self.files = []
        if folder is not None:
            root = pathlib.Path(folder)
            self.folders[root.stat().st_ino] = ""
            for path in sorted(root.rglob("*")):
                name = str(path.relative_to(root))
                if path.is_dir():
                    self.folders[path.stat().st_ino] = name
                    self.names[name] = None
                elif path.name != "lock.mdb":
                    self.names[name] = self._new_file(path.stat().st_ino, path.read_bytes())

    def _new_file(self, inode, data=b""):
        out = file(data)
        self.by_inode[inode] = out
        self.files.append(out)
        return out

    def take(self, one):
        if one.kind == ENDED:
            self._end(one)
        elif one.kind == WRITE or one.kind == RESIZE:
            made = change(one.offset, one.data if one.kind == WRITE else None)
            self.by_inode[one.inode].changes.append(made)
            self.running[one.operation] = (one, made)
        elif one.kind == SYNC_FILE:
            self.running[one.operation] = (one, [change for change in self.by_inode[one.inode].changes if change.ended])
        elif one.kind == SYNC_NAMES:
            folder = self.folders[one.inode]
            self.running[one.operation] = (one, [change for change in self.name_changes if change.folder == folder])
        elif one.kind == SYNC_ALL:
            self.running[one.operation] = (one, ([(file, [change for change in file.changes if change.ended]) for file in self.files],
                                                 list(self.name_changes)))
        elif one.kind == CREATE:
            is_folder = one.flags & 1
            if is_folder:
                self.folders[one.inode] = one.name
            self.name_changes.append(name_change(CREATE, one.name, None if is_folder else self._new_file(one.inode)))
        else:
            self.name_changes.append(name_change(one.kind, one.name, one.data.decode() if one.kind == RENAME else None))

    def _end(self, end):
        began, what = self.running.pop(end.operation)
        if began.kind == WRITE or began.kind == RESIZE:
            what.ended = True
            if not end.flags & 1:
                return
            if began.kind == WRITE and began.flags & 1:
                self.by_inode[began.inode].settle([what])
        elif not end.flags & 1:
            return
        elif began.kind == SYNC_FILE:
            self.by_inode[began.inode].settle(what)
        elif began.kind == SYNC_NAMES:
            self._settle_names(what)
        elif began.kind == SYNC_ALL:
            for file_, changes in what[0]:
                file_.settle(changes)
            self._settle_names(what[1])

    def _settle_names(self, which):
        for one in which:
            one.durable = True
        while self.name_changes and self.name_changes[0].durable:
            rename_in(self.names, self.name_changes.pop(0))
        if not self.name_changes:
            kept = set(map(id, self.names.values()))
            self.files = [one for one in self.files if id(one) in kept or one.changes]

    def cut(self, folder, dice):
        """Writes one disk that a cut at this moment could have left. Gives what became of the changes, for the reader of a failure."""
        names = dict(self.names)
        how = dice.choice(("none", "all", "first", "any", "torn"))
        share = dice.random()
        left = len(self.name_changes)
        until = dice.randint(0, left)
        for number, one in enumerate(self.name_changes):
            there = one.durable or how == "all" or (how == "first" and number < until) or (how in ("any", "torn") and dice.random() < share)
            if there:
                rename_in(names, one)
        keeps = keeper(how, share, dice)
        root = pathlib.Path(folder)
        root.mkdir(parents=True)
        for name, content in sorted(names.items(), key=lambda pair: pair[0]):
            path = root / name
            if content is None:
                if path.parent.is_dir():
                    path.mkdir(exist_ok=True)
            elif path.parent.is_dir():
                path.write_bytes(content.left(keeps))
        return f"{how} of {sum(len(one.changes) for one in self.files)} writes and {left} names"


def keeper(how, share, dice):
    def keep(one):
        if how in ("none", "all"):
            return how == "all"
        if how == "first":  # in the order of the file, until one is lost
            keep.going = keep.going and dice.random() < 0.5 + share / 2
            return keep.going
        if how == "any" or one.data is None:
            return dice.random() < share
        return [sector for sector in range((len(one.data) + SECTOR - 1) // SECTOR) if dice.random() < share]
    keep.going = True
    return keep


def rename_in(names, one):
    """Carries out a change of names whose own names may never have come to the disk."""
    if one.kind == CREATE:
        names[one.name] = one.target
        return
    inside = [name for name in names if name == one.name or name.startswith(one.name + "/")]
    for name in inside:
        what = names.pop(name)
        if one.kind == RENAME:
            names[one.target + name[len(one.name):]] = what
