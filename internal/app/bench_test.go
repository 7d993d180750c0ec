package app_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ctxd/ctxd/internal/testkit"
)

// BenchmarkCall sets the throughput of POST /v1/tools/call, a small cached read with its event, against a bare handler that
// decodes and encodes the same JSON (floor 0.35). Limits on requests per second are off, all others at their defaults.
func BenchmarkCall(b *testing.B) {
	body := []byte(`{"name":"ctx_read","arguments":{"path":"greet/greet.go","mode":"full"}}`)
	s := testkit.Start(b, testkit.Settings{"max_rps": 0})
	ours := s.URL + "/v1/tools/call"
	bare := bareServer(b, post(b, http.DefaultClient, ours, body))
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}
	defer client.CloseIdleConnections()
	throughput(b, client, bare, body, 200*time.Millisecond)
	throughput(b, client, ours, body, 200*time.Millisecond)
	var ratios, floor, calls []float64
	for range 9 {
		f := throughput(b, client, bare, body, 300*time.Millisecond)
		c := throughput(b, client, ours, body, 300*time.Millisecond)
		floor, calls, ratios = append(floor, f), append(calls, c), append(ratios, c/f)
	}
	for b.Loop() { // one more, for ns/op
		post(b, client, ours, body)
	}
	b.ReportMetric(median(floor), "bare-req/s")
	b.ReportMetric(median(calls), "call-req/s")
	b.ReportMetric(median(ratios), "ratio")
	b.Logf("ratio to a bare handler: %.2f (floor 0.35), of %.2f", median(ratios), ratios)
}

func median(list []float64) float64 {
	sorted := slices.Sorted(slices.Values(list))
	return sorted[len(sorted)/2]
}

// bareServer decodes a call into a struct and answers with the struct of an answer.
func bareServer(b *testing.B, answer []byte) string {
	b.Helper()
	var reply any
	if err := json.Unmarshal(answer, &reply); err != nil {
		b.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in struct {
			Name      string          `json:"name"`
			Arguments json.RawMessage `json:"arguments"`
		}
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(reply) // the client counts what comes back
	})}
	go func() { _ = srv.Serve(l) }() // ends with Close
	b.Cleanup(func() { _ = srv.Close() })
	return fmt.Sprintf("http://%s/", l.Addr())
}

// throughput is requests per second of 16 clients.
func throughput(b *testing.B, client *http.Client, url string, body []byte, d time.Duration) float64 {
	b.Helper()
	var n atomic.Int64
	var wg sync.WaitGroup
	start := time.Now()
	for range 16 {
		wg.Go(func() {
			for time.Since(start) < d {
				post(b, client, url, body)
				n.Add(1)
			}
		})
	}
	wg.Wait()
	return float64(n.Load()) / time.Since(start).Seconds()
}

func post(b *testing.B, client *http.Client, url string, body []byte) []byte {
	resp, err := client.Post(url, "application/json", bytes.NewReader(body))
	if err != nil {
		b.Error(err)
		return nil
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		b.Errorf("%d %s %v", resp.StatusCode, raw, err)
	}
	return raw
}

// BenchmarkReread sets a read of an unchanged file, small and sent anew, or large and told as unchanged, against a bare stat of
// it and a call that reads no file (at most 1.5).
func BenchmarkReread(b *testing.B) {
	root := testkit.Write(b, map[string]string{"small.go": "package small\n\nfunc F() {}\n", "large.txt": strings.Repeat("a line of a large file\n", 40000)})
	old := time.Now().Add(-time.Hour)
	for _, name := range []string{"small.go", "large.txt"} {
		if err := os.Chtimes(filepath.Join(root, name), old, old); err != nil {
			b.Fatal(err)
		}
	}
	s := testkit.Start(b, testkit.Settings{"max_rps": 0, "project_root": root})
	client, url := http.DefaultClient, s.URL+"/v1/tools/call"
	timed := func(f func()) float64 {
		start := time.Now()
		f()
		return float64(time.Since(start).Microseconds())
	}
	for _, name := range []string{"small.go", "large.txt"} {
		b.Run(name, func(b *testing.B) {
			call := []byte(`{"name":"ctx_task"}`)
			read := fmt.Appendf(nil, `{"name":"ctx_read","conversationId":"c","arguments":{"path":%q,"max_tokens":1000000}}`, name)
			for range 2 { // the second counts what the first has sent
				post(b, client, url, read)
			}
			var floor, reads []float64
			for range 500 {
				reads = append(reads, timed(func() { post(b, client, url, read) }))
				floor = append(floor, timed(func() {
					if _, err := os.Stat(filepath.Join(root, name)); err != nil {
						b.Error(err)
					}
					post(b, client, url, call)
				}))
			}
			for b.Loop() {
				post(b, client, url, read)
			}
			b.ReportMetric(median(reads), "µs-read")
			b.ReportMetric(median(floor), "µs-stat+call")
			b.ReportMetric(median(reads)/median(floor), "ratio")
		})
	}
}
