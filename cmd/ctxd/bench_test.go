package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ctxd/ctxd/internal/testkit/goroot"
)

// BenchmarkStart sets the time from the start of the process to its first answer on GOROOT/src against that on an empty
// folder (at most 2), and prints the resident memory of the idle server (under 60 MB).
func BenchmarkStart(b *testing.B) {
	src, empty := goroot.Src(b), b.TempDir()
	var ratios, memory, first []float64
	for range 7 {
		small, _ := firstAnswer(b, empty)
		large, mb := firstAnswer(b, src)
		ratios, memory, first = append(ratios, large.Seconds()/small.Seconds()), append(memory, mb), append(first, float64(large.Milliseconds()))
	}
	for b.Loop() {
	}
	mid := func(list []float64) float64 { return slices.Sorted(slices.Values(list))[len(list)/2] }
	b.ReportMetric(mid(ratios), "ratio")
	b.ReportMetric(mid(first), "ms-first")
	b.ReportMetric(mid(memory), "MB-idle")
	b.Logf("first answer on GOROOT/src to that on an empty folder: %.2f (at most 2), idle memory %.0f MB (under 60)", mid(ratios), mid(memory))
}

func firstAnswer(b *testing.B, root string) (time.Duration, float64) {
	b.Helper()
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	name := filepath.Join(b.TempDir(), "ctxd")
	if err := os.Symlink(self, name); err != nil {
		b.Fatal(err)
	}
	start := time.Now()
	cmd := exec.Command(name, "serve", "--port", "0", "--json", "--project-root", root, "--data-dir", b.TempDir())
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadBytes('\n')
	if err != nil {
		b.Fatal(err)
	}
	var hello struct{ URL string }
	if err := json.Unmarshal(line, &hello); err != nil {
		b.Fatal(err)
	}
	resp, err := http.Post(hello.URL+"/v1/tools/call", "application/json", bytes.NewReader([]byte(`{"name":"ctx_session"}`)))
	if err != nil {
		b.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, resp.Body) // its status counts
	_ = resp.Body.Close()
	took := time.Since(start)
	if resp.StatusCode != http.StatusOK {
		b.Fatal(resp.Status)
	}
	mb := resident(b, cmd.Process.Pid)
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		b.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		b.Fatal(err)
	}
	return took, mb
}

// resident is the resident memory of a process in MB, or 0 where the system does not tell.
func resident(b *testing.B, pid int) float64 {
	b.Helper()
	raw, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(raw), "VmRSS:")
	kb, err := strconv.Atoi(strings.Fields(rest)[0])
	if err != nil {
		b.Fatal(err)
	}
	return float64(kb) / 1024
}
