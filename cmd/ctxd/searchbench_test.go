package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ctxd/ctxd/internal/testkit/goroot"
)

// BenchmarkSearch sets a call of ctx_search on GOROOT/src, its event included, against the whole process of ripgrep on the
// same files with the same answer (at most 2), and prints the most memory that the server ever held (under 200 MB).
func BenchmarkSearch(b *testing.B) {
	if _, err := exec.LookPath("rg"); err != nil {
		if os.Getenv("CI") != "" {
			b.Fatal("ripgrep is not installed")
		}
		b.Skip("ripgrep is not installed: ", err)
	}
	src := goroot.Src(b)
	s := serving(b, "--project-root", src)
	for _, c := range []struct{ name, pattern, kind string }{
		{"rare literal", "Hijacker", "sensitive"}, {"common literal", "return nil", "sensitive"}, {"none", "no_such_word_here", "sensitive"},
		{"ignoring case", "websocket", "insensitive"}, {"expression", `func \(\w+ \*?Server\) \w+`, "sensitive"}, {"any of three", "ErrShort|ErrLong|Hijacker", "sensitive"},
	} {
		b.Run(c.name, func(b *testing.B) {
			var ratios, ours []float64
			for range 9 {
				theirs, want := ripgrep(b, src, c.pattern, c.kind)
				took, got := s.search(b, c.pattern, c.kind)
				if got != want {
					b.Fatalf("%d matching lines, ripgrep finds %d", got, want)
				}
				ratios, ours = append(ratios, took.Seconds()/theirs.Seconds()), append(ours, float64(took.Milliseconds()))
			}
			for b.Loop() {
			}
			b.ReportMetric(mid(ratios), "x-rg")
			b.ReportMetric(mid(ours), "ms-call")
			b.ReportMetric(status(b, s.pid, "VmHWM:"), "MB-most")
		})
	}
}

func ripgrep(b *testing.B, dir, pattern, kind string) (time.Duration, int) {
	b.Helper()
	args := []string{"--no-config", "--hidden", "--no-require-git", "--line-number", "--no-heading", "--case-sensitive", "-e", pattern, "."}
	if kind == "insensitive" {
		args[5] = "--ignore-case"
	}
	cmd := exec.Command("rg", args...)
	cmd.Dir = dir
	start := time.Now()
	out, err := cmd.Output()
	took := time.Since(start)
	if err != nil && cmd.ProcessState.ExitCode() != 1 {
		b.Fatal(err)
	}
	return took, bytes.Count(out, []byte("\n")) - bytes.Count(out, []byte("binary file matches"))
}

func (s *served) search(b *testing.B, pattern, kind string) (time.Duration, int) {
	b.Helper()
	body := fmt.Sprintf(`{"name":"ctx_search","arguments":{"pattern":%q,"case":%q}}`, pattern, kind)
	start := time.Now()
	resp, err := http.Post(s.URL+"/v1/tools/call", "application/json", strings.NewReader(body))
	if err != nil {
		b.Fatal(err)
	}
	var answer struct {
		Result struct {
			Structured struct {
				Total int `json:"total_matches"`
			} `json:"structuredContent"`
		}
	}
	err = json.NewDecoder(resp.Body).Decode(&answer)
	took := time.Since(start)
	_ = resp.Body.Close() // all of it was read
	if err != nil || resp.StatusCode != http.StatusOK {
		b.Fatal(resp.Status, err)
	}
	return took, answer.Result.Structured.Total
}

// status is a line of what the system says of a process, in MB, or 0 where it does not tell.
func status(b *testing.B, pid int, name string) float64 {
	b.Helper()
	raw, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(raw), name)
	kb, err := strconv.Atoi(strings.Fields(rest)[0])
	if err != nil {
		b.Fatal(err)
	}
	return float64(kb) / 1024
}
