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
	b.ReportMetric(mid(ratios), "ratio")
	b.ReportMetric(mid(first), "ms-first")
	b.ReportMetric(mid(memory), "MB-idle")
	b.Logf("first answer on GOROOT/src to that on an empty folder: %.2f (at most 2), idle memory %.0f MB (under 60)", mid(ratios), mid(memory))
}

func mid(list []float64) float64 { return slices.Sorted(slices.Values(list))[len(list)/2] }

// served is a server in a process of its own.
type served struct {
	URL string
	pid int
	cmd *exec.Cmd
}

// serving starts a server with a fresh data folder, and kills it in the end if it still runs.
func serving(b *testing.B, args ...string) *served {
	b.Helper()
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	name := filepath.Join(b.TempDir(), "ctxd")
	if err := os.Symlink(self, name); err != nil {
		b.Fatal(err)
	}
	s := &served{cmd: exec.Command(name, append([]string{"serve", "--port", "0", "--json", "--data-dir", b.TempDir()}, args...)...)}
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if s.cmd.ProcessState == nil {
			_ = s.cmd.Process.Kill() // it may have ended
			_ = s.cmd.Wait()
		}
	})
	line, err := bufio.NewReader(out).ReadBytes('\n')
	if err != nil {
		b.Fatal(err)
	}
	if err := json.Unmarshal(line, s); err != nil {
		b.Fatal(err)
	}
	s.pid = s.cmd.Process.Pid
	return s
}

func firstAnswer(b *testing.B, root string) (time.Duration, float64) {
	b.Helper()
	start := time.Now()
	s := serving(b, "--project-root", root)
	resp, err := http.Post(s.URL+"/v1/tools/call", "application/json", bytes.NewReader([]byte(`{"name":"ctx_session"}`)))
	if err != nil {
		b.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, resp.Body) // its status counts
	_ = resp.Body.Close()
	took := time.Since(start)
	if resp.StatusCode != http.StatusOK {
		b.Fatal(resp.Status)
	}
	mb := status(b, s.pid, "VmRSS:")
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		b.Fatal(err)
	}
	if err := s.cmd.Wait(); err != nil {
		b.Fatal(err)
	}
	return took, mb
}
