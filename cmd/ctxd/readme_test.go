package main

import (
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ctxd/ctxd/internal/testkit/goroot"
)

const repo = "../.."

func read(t *testing.T, name string) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(repo, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

var block = regexp.MustCompile("(?s)```sh([^\n]*)\n(.*?)```")

// The README's quick start runs as it stands, but for the port, which may be taken here.
func TestReadmeQuickStart(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("curl"); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("curl is not there")
		}
		t.Skip("curl is not there")
	}
	port := freePort(t)
	var script strings.Builder
	script.WriteString("set -eu\ntrap 'kill $(jobs -p) 2>/dev/null || true' EXIT\n")
	for _, m := range block.FindAllStringSubmatch(read(t, "README.md"), -1) {
		if strings.TrimSpace(m[1]) != "quickstart" {
			continue
		}
		part := strings.ReplaceAll(m[2], ":8080", ":"+port)
		part = strings.ReplaceAll(part, "ctxd serve &\n", "ctxd serve &\nfor i in $(seq 100); do curl -sf -o /dev/null http://127.0.0.1:"+port+"/health && break; sleep 0.1; done\n")
		script.WriteString(part)
	}
	out := bash(t, script.String(), goroot.Src(t), "CTXD_PORT="+port)
	for _, want := range []string{
		`"name":"ctx_read"`, `7| package http`, `net/http/server.go`, `matches in`, `event: tool_call_recorded`, "id: 2", "SCOPES", "tok (go)", "ok    database",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in what the quick start prints:\n%.4000s", want, out)
		}
	}
}

func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
}

// bash runs a script with this ctxd on its PATH, and gives what it prints.
func bash(t *testing.T, script, dir string, env ...string) string {
	t.Helper()
	bin := filepath.Join(t.TempDir(), "bin")
	self, err := os.Executable() // which is ctxd where it is called so
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(bin, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(self, filepath.Join(bin, "ctxd")); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-c", script)
	cmd.Dir = dir
	home := t.TempDir()
	cmd.Env = append([]string{"PATH=" + bin + ":" + os.Getenv("PATH"), "HOME=" + home}, env...)
	cmd.WaitDelay = 5 * time.Second
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return string(out)
}

// Every make target and every file that the README and CONTRIBUTING name is there.
func TestReadmeNamesWhatIsThere(t *testing.T) {
	t.Parallel()
	makefile := read(t, "Makefile")
	for _, doc := range []string{"README.md", "CONTRIBUTING.md"} {
		text := read(t, doc)
		for _, m := range regexp.MustCompile("make ([a-z]+)").FindAllStringSubmatch(text, -1) {
			if !strings.Contains(makefile, "\n"+m[1]+":") {
				t.Errorf("%s: there is no make %s", doc, m[1])
			}
		}
		for _, m := range regexp.MustCompile(`\]\(([^)#]+)[^)]*\)`).FindAllStringSubmatch(text, -1) {
			if _, err := os.Stat(filepath.Join(repo, m[1])); err != nil {
				t.Errorf("%s: %v", doc, err)
			}
		}
	}
	if !strings.Contains(read(t, ".ci/run"), "\nmake test\n") {
		t.Error(".ci/run does not call the README's test command")
	}
}

// The configuration in the docs is one, and its hash is made as the docs say.
func TestConfigurationDocs(t *testing.T) {
	t.Parallel()
	text := read(t, "docs/configuration.md")
	_, rest, _ := strings.Cut(text, "```json\n")
	example, _, _ := strings.Cut(rest, "```")
	file := filepath.Join(t.TempDir(), "config.json")
	if err := os.WriteFile(file, []byte(example), 0o600); err != nil {
		t.Fatal(err)
	}
	out := bash(t, `TOKEN=example; printf %s "$TOKEN" | sha256sum; ctxd config --config "$FILE"; CTXD_CONFIG="$FILE" ctxd config`, t.TempDir(), "FILE="+file)
	hash, _, _ := strings.Cut(out, " ")
	if len(hash) != 64 || strings.Count(out, `tokens`) < 2 || strings.Count(out, "file") < 2 {
		t.Errorf("%s", out)
	}
	help := bash(t, "ctxd serve --help", t.TempDir())
	for _, m := range regexp.MustCompile("`(--[a-z-]+)`").FindAllStringSubmatch(text, -1) {
		if !strings.Contains(help, m[1]+" ") {
			t.Errorf("serve has no %s", m[1])
		}
	}
}
