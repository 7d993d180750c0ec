package workspace

import (
	"context"
	"io/fs"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// goNames makes a repository with the names of Go's own sources, empty and tracked.
func goNames(b *testing.B) string {
	b.Helper()
	needGit(b)
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		b.Skip("no go command: ", err)
	}
	src, dir := filepath.Join(strings.TrimSpace(string(out)), "src"), b.TempDir()
	if err := filepath.WalkDir(src, func(p string, d fs.DirEntry, err error) error {
		if rel, _ := filepath.Rel(src, p); err == nil && d.Type().IsRegular() {
			write(b, filepath.Join(dir, rel), "")
		}
		return err
	}); err != nil {
		b.Fatal(err)
	}
	write(b, filepath.Join(dir, ".gitignore"), "*.o\n*.a\n*.so\n/bin/\n!keep.o\nbuild/**\n*~\n\\#*\n/pkg/*/obj\n")
	initRepo(b, dir)
	git(b, dir, nil, "add", ".")
	return dir
}

// BenchmarkWalk compares a walk with git's own listing of the same tree; "x-git" is the ratio of their times.
func BenchmarkWalk(b *testing.B) {
	dir := goNames(b)
	w := openAt(b, dir)
	for name, o := range map[string]WalkOptions{"names": {Hidden: true}, "stat": {Hidden: true, Stat: true}} {
		b.Run(name, func(b *testing.B) {
			var ours, theirs time.Duration
			for b.Loop() {
				start := time.Now()
				if _, err := w.Walk(context.Background(), ".", o, func(Entry) error { return nil }); err != nil {
					b.Fatal(err)
				}
				ours += time.Since(start)
				b.StopTimer()
				start = time.Now()
				git(b, dir, nil, "ls-files", "-co", "--exclude-standard", "-z")
				theirs += time.Since(start)
				b.StartTimer()
			}
			b.ReportMetric(float64(ours)/float64(theirs), "x-git")
		})
	}
}

func BenchmarkRead(b *testing.B) {
	dir := b.TempDir()
	write(b, filepath.Join(dir, "cmd/compile/internal/ssa/op.go"), strings.Repeat("package ssa\n", 1000))
	w := openAt(b, dir)
	for b.Loop() {
		if _, err := w.Read(context.Background(), "cmd/compile/internal/ssa/op.go", 0); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDecode(b *testing.B) {
	text := []byte(strings.Repeat("plain text with an é in it\n", 40_000))
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if t, ok := Decode(text); !ok || CountLines(t.Content) != 40_000 {
			b.Fatal("wrong")
		}
	}
}
