"""What stands between workers and the APIs of nodes: a proxy that cuts answers and requests, at a byte that is asked for or by dice; and a wire that
loses packets, where this program may make one in a network namespace of its own."""

import asyncio
import fcntl
import os
import random
import shutil
import socket
import struct
import subprocess
import sys
import threading

from harness import expect

INSIDE = "FAIRLEAD_WIRE"  # set in the namespace in which all of this runs
HERE, THERE = "10.78.0.1", "10.78.0.2"
TUNSETIFF, IFF_TUN, IFF_NO_PI = 0x400454CA, 0x0001, 0x1000
GONE = struct.pack("ii", 1, 0)  # SO_LINGER: close with a reset


def enter():
    """Starts this program anew in a namespace of its own; the reason when that is not allowed, else nothing comes back."""
    for tool in ("unshare", "ip"):
        if shutil.which(tool) is None:
            return f"there is no {tool} here"
    for way in (["unshare", "--net"], ["unshare", "--user", "--map-root-user", "--net"]):
        if subprocess.run([*way, "sh", "-c", "ip link set lo up && ip tuntap add dev wire mode tun"], capture_output=True).returncode == 0:
            os.environ[INSIDE] = "1"
            os.execvp(way[0], [*way, sys.executable, "-B", *sys.argv])
    return "network namespaces with a wire are not allowed here"


class wire:
    """What is sent to THERE comes back to HERE, as if it came from THERE; a share of the packets is lost, both ways."""

    def __init__(self, seed):
        self.share, self.lost, self.passed = 0.0, 0, 0
        self.dice_ = random.Random(seed)
        self.file_ = os.open("/dev/net/tun", os.O_RDWR)
        fcntl.ioctl(self.file_, TUNSETIFF, struct.pack("16sH", b"wire", IFF_TUN | IFF_NO_PI))
        for words in (("link", "set", "lo", "up"), ("addr", "add", f"{HERE}/24", "dev", "wire"), ("link", "set", "wire", "up")):
            done = subprocess.run(["ip", *words], capture_output=True, text=True)
            expect(done.returncode == 0, f"`ip {' '.join(words)}` ended with {done.returncode}: {done.stderr.strip()}")
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self):
        while True:
            packet = os.read(self.file_, 65536)
            if packet[0] >> 4 != 4:
                continue
            if self.dice_.random() < self.share:
                self.lost += 1
                continue
            self.passed += 1
            # The sums of the headers stay as they are.
            os.write(self.file_, packet[:12] + packet[16:20] + packet[12:16] + packet[20:])


class proxies:
    """One for each API: `ports` are theirs, {name: port}. All of them run on one thread."""

    def __init__(self, apis, seed, over=None):
        """`over`: a wire."""
        self.loop_ = asyncio.new_event_loop()
        self.dice, self.wire = random.Random(seed), over
        self.share = 0.0           # of connections that are cut
        self.over_the_wire = False  # from the next connection on
        self.cuts = 0
        self.all_ = {name: proxy(self, port) for name, port in apis.items()}
        threading.Thread(target=self.loop_.run_forever, daemon=True).start()
        for one in self.all_.values():
            asyncio.run_coroutine_threadsafe(one.begin(), self.loop_).result(10)

    def __getitem__(self, name):
        return self.all_[name]


class proxy:
    def __init__(self, among, api):
        self.among_, self.api_ = among, api
        self.port = self.far_port_ = None
        self.cut_at = None  # the next connection's answer ends before this byte
        self.answered = 0   # bytes of the last answer that passed while `cut_at` was set
        self.connections_ = set()

    async def begin(self):
        # The first address of each is that of the near end.
        near = await asyncio.start_server(self._near, "127.0.0.1", 0)
        self.port = near.sockets[0].getsockname()[1]
        if self.among_.wire:
            far = await asyncio.start_server(lambda *ends: self._keep(self._join(*ends, ("127.0.0.1", self.api_), None, None)), HERE, 0)
            self.far_port_ = far.sockets[0].getsockname()[1]

    async def _keep(self, one):
        """The loop alone does not keep what runs."""
        task = asyncio.ensure_future(one)
        self.connections_.add(task)
        task.add_done_callback(self.connections_.discard)
        await task

    async def _near(self, reader, writer):
        target = (THERE, self.far_port_) if self.among_.over_the_wire else ("127.0.0.1", self.api_)
        dice, request, answer = self.among_.dice, None, self.cut_at
        if answer is not None:
            self.cut_at = None
        elif dice.random() < self.among_.share:
            self.among_.cuts += 1
            request, answer = (dice.randrange(600), None) if dice.random() < 0.3 else (None, dice.randrange(1_200))
        await self._keep(self._join(reader, writer, target, request, answer))

    async def _join(self, reader, writer, target, request, answer):
        self.answered, to = 0, None
        try:
            near, to = await asyncio.open_connection(*target)
            pumps = [asyncio.ensure_future(self._pump(reader, to, request)), asyncio.ensure_future(self._pump(near, writer, answer, counts=True))]
            await asyncio.wait(pumps, return_when=asyncio.FIRST_COMPLETED)
            for one in pumps:
                one.cancel()
            await asyncio.gather(*pumps, return_exceptions=True)
        except OSError:
            pass
        reset = answer is not None and answer % 2 == 1
        for end in (writer, to):
            if end:
                if reset:
                    end.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, GONE)
                end.close()

    async def _pump(self, reader, writer, most, counts=False):
        """Until the end, or until so many bytes have passed."""
        passed = 0
        while piece := await reader.read(65536):
            if most is not None and passed + len(piece) > most:
                writer.write(piece[:most - passed])
                return await writer.drain()
            passed += len(piece)
            if counts:
                self.answered = passed
            writer.write(piece)
            await writer.drain()
