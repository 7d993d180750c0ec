package e2e

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/ctxd/ctxd/internal/contracttest"
	"github.com/ctxd/ctxd/internal/testkit"
)

// built is the folder of the binary, once there is one.
var built string

// binary builds the program once.
var binary = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "ctxd-e2e-")
	if err != nil {
		return "", err
	}
	built = dir
	path := filepath.Join(dir, "ctxd")
	out, err := exec.Command("go", "build", "-o", path, "github.com/ctxd/ctxd/cmd/ctxd").CombinedOutput()
	if err != nil {
		err = fmt.Errorf("%w: %s", err, out)
	}
	return path, err
})

func TestMain(m *testing.M) {
	code := m.Run()
	if built != "" {
		_ = os.RemoveAll(built) // it lies in the system's temporary folder
	}
	os.Exit(code)
}

// program is a command of the real binary, which is killed when the test ends.
func program(t testing.TB, args ...string) *exec.Cmd {
	t.Helper()
	path, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, args...)
	cmd.Env = []string{"HOME=" + t.TempDir(), "PATH=" + os.Getenv("PATH")}
	cmd.WaitDelay = 10 * time.Second
	t.Cleanup(func() {
		if cmd.Process != nil && cmd.ProcessState == nil {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		}
	})
	return cmd
}

// configured writes settings to a file.
func configured(t testing.TB, file string, set testkit.Settings) string {
	t.Helper()
	if file == "" {
		file = filepath.Join(t.TempDir(), "ctxd.json")
	}
	raw, err := json.Marshal(set)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// started is a serving program.
type started struct {
	*testkit.Server
	cmd    *exec.Cmd
	stderr *testkit.Buffer
}

func startProgram(t testing.TB, file string) *started {
	t.Helper()
	cmd := program(t, "serve", "--json", "--config", file)
	errs := &testkit.Buffer{}
	cmd.Stderr = errs
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var hello struct {
		URL string `json:"url"`
	}
	line, err := bufio.NewReader(stdout).ReadBytes('\n')
	if err != nil || json.Unmarshal(line, &hello) != nil {
		t.Fatalf("%s %v %s", line, err, errs)
	}
	base := &http.Transport{}
	t.Cleanup(base.CloseIdleConnections)
	return &started{&testkit.Server{T: t, URL: hello.URL, Client: &http.Client{Transport: contracttest.Transport{Base: base}}}, cmd, errs}
}

func (s *started) signal(sig syscall.Signal) {
	s.T.Helper()
	if err := s.cmd.Process.Signal(sig); err != nil {
		s.T.Fatal(err)
	}
}

// exits waits for the end of a program and gives its exit code.
func exits(t testing.TB, cmd *exec.Cmd, within time.Duration) int {
	t.Helper()
	done := make(chan struct{})
	go func() { defer close(done); _ = cmd.Wait() }() // its exit code says it
	select {
	case <-done:
		return cmd.ProcessState.ExitCode()
	case <-time.After(within):
		t.Fatalf("it still runs after %v", within)
		return -1
	}
}
