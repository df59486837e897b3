"""The library of the folder own by ctypes alone: handlers of Python run during steps, and Ctrl-C ends them."""

import ctypes
import os
import signal
import sys
import threading
import time

lib = ctypes.CDLL(sys.argv[1])


class Rows(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("bytes", ctypes.c_int64), ("stride", ctypes.c_int64)]


class Buffers(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_uint32), ("reserved", ctypes.c_uint32)] + [
        (name, Rows)
        for name in ("obs", "actions", "reward", "terminated", "truncated", "final", "final_obs", "mask", "live")
    ]


def rows(array):
    return Rows(ctypes.addressof(array), ctypes.sizeof(array), ctypes.sizeof(array))


batch = ctypes.c_uint64()
assert lib.evertick_train_create(b"one", None, ctypes.byref(batch)) == 0
obs, action, reward = (ctypes.c_float * 2)(), (ctypes.c_int32 * 1)(4), (ctypes.c_float * 1)()
flags = [(ctypes.c_uint8 * 1)() for _ in range(2)]
buffers = Buffers(ctypes.sizeof(Buffers), 0, rows(obs), rows(action), rows(reward), *map(rows, flags))
assert lib.evertick_train_reset(batch, None, ctypes.byref(buffers)) == 0

seen = []
signal.signal(signal.SIGUSR1, lambda number, frame: seen.append(number))
signal.signal(signal.SIGALRM, lambda number, frame: seen.append(number))
signal.setitimer(signal.ITIMER_REAL, 0.01, 0.01)
steps, deadline = 0, time.monotonic() + 120
while (seen.count(signal.SIGALRM) < 5 or seen.count(signal.SIGUSR1) < 5) and time.monotonic() < deadline:
    os.kill(os.getpid(), signal.SIGUSR1)
    assert lib.evertick_train_step(batch, ctypes.byref(buffers)) == 0
signal.setitimer(signal.ITIMER_REAL, 0)
assert seen.count(signal.SIGALRM) >= 5 and seen.count(signal.SIGUSR1) >= 5, seen

threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
deadline = time.monotonic() + 120
try:
    while time.monotonic() < deadline:
        assert lib.evertick_train_step(batch, ctypes.byref(buffers)) == 0
        steps += 1
    sys.exit("SIGINT has raised no KeyboardInterrupt")
except KeyboardInterrupt:
    pass
assert lib.evertick_train_step(batch, ctypes.byref(buffers)) == 0
assert lib.evertick_train_close(batch) == 0
print("interrupted after", steps, "steps")
