# SPDX-License-Identifier: BSD-3-Clause
"""kloom stream: a pipe without end."""
import json
import math
import random
import signal
import subprocess
import time

from conftest import MISTAKE, PROGRAM, TERMINATED

KERNELS = ["--kernels", "rbf(gamma=2^-6..2^4)"]


def samples(count, seed=1, classes=("a", "b")):
    generator = random.Random(seed)
    rows = []
    for _ in range(count):
        x = [generator.gauss(0, 1) for _ in range(3)]
        rows.append((x, classes[1 if x[0] + x[1] * x[1] > 0.7 else 0]))
    return rows


def svmlight(rows):
    return "".join(label + "".join(f" {j + 1}:{v!r}" for j, v in enumerate(x)) + "\n" for x, label in rows)


def csv(rows):
    return "p,q,r,label\n" + "".join(",".join(map(repr, x)) + f",{label}\n" for x, label in rows)


def test_learns_and_reports(kloom, tmp_path):
    rows = samples(4000)
    for text in (svmlight(rows), csv(rows)):
        result = kloom("stream", *KERNELS, "-o", "state.kloom", "--json", input=text.encode()).json()
        assert result["samples"] == 4000 and sorted(result["classes"]) == ["a", "b"]
        assert result["prequential_accuracy"] > 0.85   # chance is about 0.6
        assert 0 < result["support_vectors"] < 2000
    (tmp_path / "new.csv").write_text(csv(samples(500, seed=2)))
    out = kloom("predict", "state.kloom", "new.csv").err
    accuracy = float([line for line in out.splitlines() if line.split()[:1] == ["accuracy"]][0].split()[1])
    assert accuracy > 0.9
    text = kloom("stream", *KERNELS, "--report-every", "1000", input=svmlight(rows).encode())
    assert "accuracy before learning" in text.out and "2048 samples" in text.err


def test_quadrant_score(kloom):
    text = svmlight(samples(1500))
    assert kloom("stream", *KERNELS, "--json", input=text.encode()).json()["quadrant_score"] is None
    result = kloom("stream", *KERNELS, "--json", "--quadrant-limit", "20", input=text.encode()).json()
    wrong = 100 - 100 * result["prequential_accuracy"]
    # The time goes on between the two lines of the report.
    shortest, longest = (math.sqrt(wrong ** 2 + 100 * (result["seconds"] + more) / 20) for more in (-0.05, 0.05))
    assert shortest <= result["quadrant_score"] <= longest
    assert "quadrant score" in kloom("stream", *KERNELS, "--quadrant-limit", "20", input=text.encode()).out
    assert "--quadrant-limit" in kloom("stream", "--quadrant-limit", "0", input=b"", code=MISTAKE).err


def test_predictions_go_to_standard_output(kloom):
    rows = samples(600)
    out = kloom("stream", *KERNELS, "--predictions", input=svmlight(rows).encode()).out.splitlines()
    assert len(out) == 600 and out[0] == "" and set(out[1:]) == {"a", "b"}


def test_resumes_to_the_same_bits(kloom, tmp_path):
    lines = svmlight(samples(4096)).splitlines(keepends=True)
    for extra in ([], ["--literal"], ["--method", "ufo-mkl"], ["--budget", "100"], ["--approx", "rff"],
                  ["--approx", "nystroem", "--method", "ufo-mkl"]):
        kloom("stream", *KERNELS, *extra, "-o", "whole.kloom", input="".join(lines).encode())
        kloom("stream", *KERNELS, *extra, "-o", "part.kloom", "--format", "svmlight", input="".join(lines[:2048]).encode())
        kloom("stream", *KERNELS, *extra, "-o", "part.kloom", "--resume", input="".join(lines[2048:]).encode())
        assert (tmp_path / "whole.kloom").read_bytes() == (tmp_path / "part.kloom").read_bytes(), extra


def test_kill_loses_no_more_than_since_the_last_checkpoint(kloom, tmp_path):
    text = csv(samples(6000))
    kloom("stream", *KERNELS, "-o", "whole.kloom", input=text.encode())
    process = subprocess.Popen([PROGRAM, "stream", *KERNELS, "-o", "state.kloom", "--checkpoint-every", "1000"],
                               cwd=tmp_path, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL)
    process.stdin.write(text[:len(text) // 2].encode())
    process.stdin.flush()
    for _ in range(600):
        if (tmp_path / "state.kloom").exists():
            break
        time.sleep(0.1)
    time.sleep(0.3)
    process.send_signal(signal.SIGKILL)
    process.wait()
    err = kloom("stream", *KERNELS, "-o", "state.kloom", "--resume", "--skip-seen", input=text.encode()).err
    seen = int(err.split("going on after ")[1].split()[0])
    assert seen >= 1000
    assert (tmp_path / "state.kloom").read_bytes() == (tmp_path / "whole.kloom").read_bytes()


def test_interrupt_saves_and_says_so(tmp_path):
    process = subprocess.Popen([PROGRAM, "stream", *KERNELS, "-o", "state.kloom", "--json"], cwd=tmp_path,
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    process.stdin.write(svmlight(samples(3000)).encode())
    process.stdin.flush()
    time.sleep(1.5)
    process.send_signal(signal.SIGINT)
    out = process.stdout.read()
    process.stdin.close()
    assert process.wait(timeout=30) == 130
    result = json.loads(out)
    assert result["interrupted"] is True and result["samples"] >= 1024
    assert (tmp_path / "state.kloom").exists()


def test_sigterm_saves_before_and_after_the_first_samples(kloom, tmp_path):
    for count in (0, 300, 3000):
        process = subprocess.Popen([PROGRAM, "stream", *KERNELS, "-o", f"state{count}.kloom"], cwd=tmp_path,
                                   stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        process.stdin.write(svmlight(samples(count)).encode())
        process.stdin.flush()
        time.sleep(1)
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=30) == TERMINATED
        assert (tmp_path / f"state{count}.kloom").exists() == (count > 0)
        if count:
            result = kloom("stream", "--resume", "-o", f"state{count}.kloom", "--json", input=b"")
            assert result.json()["samples"] == count


def test_interrupted_file_resumes_to_the_same_bits(kloom, tmp_path):
    """A signal at any moment of reading a file, also where blocks of samples matter."""
    (tmp_path / "in.svm").write_text(svmlight(samples(30000)))
    for extra in (["--method", "ufo-mkl"], ["--budget", "100"]):
        with open(tmp_path / "in.svm") as stream:
            kloom("stream", *KERNELS, *extra, "-o", "whole.kloom", stdin=stream)
        for wait in (0.15, 0.4):
            (tmp_path / "part.kloom").unlink(missing_ok=True)
            with open(tmp_path / "in.svm") as stream:
                process = subprocess.Popen([PROGRAM, "stream", *KERNELS, *extra, "-o", "part.kloom", "--checkpoint-every", "1000"],
                                           cwd=tmp_path, stdin=stream, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                for _ in range(600):
                    if (tmp_path / "part.kloom").exists():
                        break
                    time.sleep(0.01)
                time.sleep(wait)
                process.send_signal(signal.SIGTERM)
                assert process.wait(timeout=30) in (0, TERMINATED)
            with open(tmp_path / "in.svm") as stream:
                kloom("stream", *KERNELS, *extra, "-o", "part.kloom", "--resume", "--skip-seen", stdin=stream)
            assert (tmp_path / "whole.kloom").read_bytes() == (tmp_path / "part.kloom").read_bytes(), (extra, wait)


def with_bad_lines(rows):
    """CSV of the rows with three bad lines, and the lines' numbers."""
    lines = csv(rows).splitlines(keepends=True)
    bad = {1500: "1,2,a\n", 1502: "1,2,3,4,5,a\n", 2600: "1\n"}
    for number in sorted(bad):
        lines.insert(number - 1, bad[number])
    return "".join(lines), sorted(bad)


def test_a_bad_line_stops_after_saving(kloom, tmp_path):
    rows = samples(3000)
    text, bad = with_bad_lines(rows)
    sentence = kloom("stream", *KERNELS, "-o", "state.kloom", code=MISTAKE, input=text.encode()).sentence()
    assert f"after line {bad[0] - 1}" in sentence and "1498 samples" in sentence and "--skip-seen" in sentence
    kloom("stream", *KERNELS, "-o", "whole.kloom", input=csv(rows).encode())
    kloom("stream", *KERNELS, "-o", "state.kloom", "--resume", "--skip-seen", input=csv(rows).encode())
    assert (tmp_path / "state.kloom").read_bytes() == (tmp_path / "whole.kloom").read_bytes()
    assert "would have been kept" in kloom("stream", *KERNELS, code=MISTAKE, input=text.encode()).sentence()


def test_bad_lines_are_skipped_if_so_told(kloom, tmp_path):
    rows = samples(3000)
    text, bad = with_bad_lines(rows)
    kloom("stream", *KERNELS, "-o", "whole.kloom", input=csv(rows).encode())
    skip = ["stream", *KERNELS, "--bad-lines", "skip"]
    result = kloom(*skip, "-o", "state.kloom", "--json", input=text.encode())
    assert result.json()["bad_lines"] == 3 and result.json()["samples"] == 3000
    assert f"after line {bad[0] - 1}" in result.err and result.err.count("warning") == 1
    assert (tmp_path / "state.kloom").read_bytes() == (tmp_path / "whole.kloom").read_bytes()
    # Interrupted between bad lines, and going on in the same file.
    head = "".join(text.splitlines(keepends=True)[:2000])
    kloom(*skip, "-o", "state.kloom", input=head.encode())
    kloom(*skip, "-o", "state.kloom", "--resume", "--skip-seen", input=text.encode())
    assert (tmp_path / "state.kloom").read_bytes() == (tmp_path / "whole.kloom").read_bytes()
    # Among the first samples, also as the very first.
    lines = csv(rows).splitlines(keepends=True)
    early = lines[0] + "1,2\n" + lines[1] + "1,2,3,4,5\n" + "".join(lines[2:])
    result = kloom(*skip, "--json", input=early.encode()).json()
    assert result["bad_lines"] == 2 and result["samples"] == 3000
    assert "line 2" in kloom("stream", *KERNELS, code=MISTAKE, input=early.encode()).sentence()
    broken = svmlight(rows).splitlines(keepends=True)
    broken[1800] = "a 3:1 2:1\n"
    assert kloom(*skip, "--json", input="".join(broken).encode()).json()["bad_lines"] == 1
    kloom(*skip, code=MISTAKE, input=b"x,y,label\n1,2,a\n" * 3)
    kloom(*skip, code=MISTAKE, input=b"x,label\n1\n2\n3\n")


def test_late_classes_and_new_features(kloom):
    rows = samples(2000) + samples(2000, seed=3, classes=("c", "b"))
    result = kloom("stream", *KERNELS, "--json", input=svmlight(rows).encode())
    assert sorted(result.json()["classes"]) == ["a", "b", "c"]
    assert "new class 'c'" in result.err
    more = svmlight(samples(1500)) + "a 1:0.5 2:1 7:3\n" * 10
    assert "feature '7' was not among the first" in kloom("stream", *KERNELS, input=more.encode()).err


def test_refuses_with_a_sentence(kloom):
    ragged = csv(samples(1500)) + "1,2,a\n"
    sentence = kloom("stream", *KERNELS, code=MISTAKE, input=ragged.encode()).sentence()
    assert "after line" in sentence and "line" in sentence
    kloom("stream", *KERNELS, code=MISTAKE, input=b"")
    kloom("stream", *KERNELS, "--resume", code=MISTAKE, input=b"")
    kloom("stream", "--kernels", "linear", code=MISTAKE, input=svmlight(samples(50)).encode())
    kloom("stream", *KERNELS, "--resume", "-o", "none.kloom", code=MISTAKE, input=b"a 1:1\n")
    assert "several columns" in kloom("stream", *KERNELS, code=MISTAKE, input=b"x,y,label\n1,2,a\n").sentence()
    assert "target" in kloom("stream", *KERNELS, code=MISTAKE, input=b"x,z\n1,2\n").sentence()


def test_finite_features_keep_no_samples_and_say_their_error(kloom, tmp_path):
    rows = samples(4000)
    for kind in ("rff", "nystroem"):
        result = kloom("stream", *KERNELS, "--approx", kind, "--features", 64, "-o", "state.kloom", input=svmlight(rows).encode())
        assert "64 features per kernel" in result.err and "off by" in result.err
        (tmp_path / "new.csv").write_text(csv(samples(500, seed=2)).replace("p,q,r", "1,2,3"))
        out = kloom("predict", "state.kloom", "new.csv").err
        accuracy = float([line for line in out.splitlines() if line.split()[:1] == ["accuracy"]][0].split()[1])
        assert accuracy > 0.85   # chance is about 0.6
    kloom("stream", *KERNELS, "--approx", "rff", "--budget", 10, input=svmlight(rows).encode(), code=MISTAKE)
    kloom("stream", "--kernels", "laplacian(gamma=1)", "--approx", "rff", input=svmlight(rows).encode(), code=MISTAKE)
    kloom("stream", *KERNELS, "--approx", "nystroem", "--features", 2000, "--warm-up", 1024, input=svmlight(rows).encode(), code=MISTAKE)
