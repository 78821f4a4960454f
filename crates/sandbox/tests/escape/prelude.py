import ctypes, errno, fcntl, mmap, os, resource, signal, socket, stat, struct, subprocess, sys
E = os.environ
OUT, WORK, READ, KEEP = E["OUT"], E["WORK"], E["READ"], E["KEEP"]
VICTIM, TCP, UDP = int(E["VICTIM"]), int(E["TCP"]), int(E["UDP"])
libc = ctypes.CDLL(None, use_errno=True)
def call(number, *args):
    "Makes a system call by its number."
    args = [ctypes.c_char_p(a) if isinstance(a, bytes) else a if not isinstance(a, int) else ctypes.c_long(a) for a in args]
    got = libc.syscall(ctypes.c_long(number), *args)
    if got < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return got
def got_in():
    print("GOT-IN", flush=True)
