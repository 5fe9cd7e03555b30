# SPDX-License-Identifier: BSD-3-Clause
"""Runs tasks in processes side by side, each in one of its own, so that one that hangs or dies takes nothing along."""
import multiprocessing
import multiprocessing.connection
import os
import signal
import sys
import time

GRACE = 60  # seconds beyond the limit for reading the set and writing files, which is nobody's fault


class Running:
    def __init__(self, task, work):
        context = multiprocessing.get_context("fork")  # what was imported is shared
        self.task, self.start = task, time.monotonic()
        self.answer, theirs = context.Pipe(duplex=False)
        self.process = context.Process(target=child, args=(theirs, task, work))
        self.process.start()
        theirs.close()

    def seconds(self):
        return time.monotonic() - self.start

    def stop(self):
        """With everything it started: the child leads a process group."""
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.kill()
        self.process.join()


def child(answer, task, work):
    os.setpgid(0, 0)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    answer.send(work(task))
    answer.close()


def run_all(todo, work, timed_out, journal, options):
    """True when every task was done. Outcomes go to the journal as they come."""
    def interrupt(*_):
        raise KeyboardInterrupt
    signal.signal(signal.SIGTERM, interrupt)  # `timeout` and batch systems end a run that way; children must go, too
    waiting, running = list(todo), []
    begin, done = time.monotonic(), 0
    try:
        while waiting or running:
            if options.stop_after and time.monotonic() - begin > options.stop_after:
                return False
            while waiting and len(running) < options.jobs:
                running.append(Running(waiting.pop(0), work))
            multiprocessing.connection.wait([entry.answer for entry in running], timeout=1.0)
            for entry in [entry for entry in running if finished(entry, journal, timed_out, options)]:
                running.remove(entry)
                done += 1
            progress(done, len(todo), running, begin)
    except KeyboardInterrupt:
        print("\ninterrupted; the same command goes on from here", file=sys.stderr)
        return False
    finally:
        for entry in running:
            entry.stop()
        print(file=sys.stderr)
    return True


def finished(entry, journal, timed_out, options):
    if entry.answer.poll():
        try:
            outcome = entry.answer.recv()
        except EOFError:  # It died without a word, of memory most likely.
            outcome = {**timed_out(entry.task), "status": "failed", "message": "the process died"}
        entry.stop()
    elif entry.seconds() > options.limit + GRACE:
        entry.stop()
        outcome = timed_out(entry.task)
    else:
        return False
    if outcome is not None:
        journal.append(outcome)
    return True


def progress(done, total, running, begin):
    minutes = (time.monotonic() - begin) / 60
    oldest = max(running, key=Running.seconds, default=None)
    now = f"; longest running: {oldest.task[2]} on {oldest.task[0].name}, {oldest.seconds():.0f} s" if oldest else ""
    text = f"{done} of {total} after {minutes:.1f} min{now}"
    if sys.stderr.isatty():
        print(f"\r{text[:110]:<110}", end="", file=sys.stderr, flush=True)
    elif done and time.monotonic() - progress.last > 15:
        print(text, file=sys.stderr, flush=True)
        progress.last = time.monotonic()


progress.last = 0.0
