"""A disk of a few megabytes, where this user may mount one."""

import subprocess


class small_disk:
    def __init__(self, folder, size):
        self.folder = folder
        self.size_ = size
        self.mounted = False

    def __enter__(self):
        self.folder.mkdir()
        self.mounted = self._mount("-t", "tmpfs", "-o", f"size={self.size_}", "none")
        return self

    def __exit__(self, *_):
        if self.mounted:
            subprocess.run(["umount", "-l", str(self.folder)], capture_output=True, check=False)

    def _mount(self, *options):
        return subprocess.run(["mount", *options, str(self.folder)], capture_output=True).returncode == 0

    def only_read(self):
        """Whether nothing can be written there from now on."""
        return self._mount("-o", "remount,ro")

    def write_again(self):
        return self._mount("-o", "remount,rw")

    def fill(self, size=None):
        """With a file of so many bytes, or of all that is left."""
        with open(self._filler(), "wb", buffering=0) as out:
            try:
                while size is None or out.tell() < size:
                    out.write(bytes(1 << 16))
            except OSError:
                pass

    def make_room(self):
        self._filler().unlink()

    def _filler(self):
        return self.folder / "filler"
