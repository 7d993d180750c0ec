package memory

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/ctxd/ctxd/gen/catalog"
	"github.com/ctxd/ctxd/internal/fault"
	"github.com/ctxd/ctxd/internal/meter"
	"github.com/ctxd/ctxd/internal/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var here = Place{"w", "c"}

type cleaner interface {
	TempDir() string
	Cleanup(func())
	Fatal(...any)
}

func open(t cleaner, dir string) (*Memory, *store.Store) {
	s, err := store.Open(context.Background(), store.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	return New(s, meter.New(time.Now), func() time.Time { now = now.Add(time.Second); return now }), s
}

func memory(t *testing.T) (*Memory, func(func(*store.Tx) error)) {
	t.Helper()
	m, s := open(t, t.TempDir())
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return m, func(fn func(*store.Tx) error) {
		t.Helper()
		if err := s.Write(t.Context(), fn); err != nil {
			t.Fatal(err)
		}
	}
}

func TestParseNote(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]Note{
		"a/b.go:12 - text":         {File: "a/b.go", Line: 12, Text: "text"},
		"a/b.go:12 — text — more":  {File: "a/b.go", Line: 12, Text: "text — more"},
		"main.go - whole file":     {File: "main.go", Text: "whole file"},
		"well - that is no file":   {Text: "well - that is no file"},
		"plain text":               {Text: "plain text"},
		"a/b.go:12":                {Text: "a/b.go:12"},
		"a.go:99999999999 - x":     {File: "a.go:99999999999", Text: "x"},
		"a.go:1 - two\nlines":      {File: "a.go", Line: 1, Text: "two\nlines"},
		" - ":                      {Text: " - "},
		"C:\\x.go:3 - windows":     {File: "C:\\x.go", Line: 3, Text: "windows"},
		"a.go:1-2":                 {Text: "a.go:1-2"},
		"x.go:5 - - - dashes stay": {File: "x.go", Line: 5, Text: "- - dashes stay"},
	} {
		if got := ParseNote(in); got != want {
			t.Errorf("%q: %+v, want %+v", in, got, want)
		}
	}
}

func TestTaskIDs(t *testing.T) {
	t.Parallel()
	for _, n := range []int64{1, 7, 1 << 40} {
		if got, err := ParseTaskID(TaskID(n)); err != nil || got != n {
			t.Errorf("%d: %d, %v", n, got, err)
		}
	}
	for _, bad := range []string{"", "t", "t0", "t-1", "t01", "1", "T1", "t1 ", "t99999999999999999999"} {
		if n, err := ParseTaskID(bad); fault.From(err).Reason() != "no_such_task" {
			t.Errorf("%q: %d, %v", bad, n, err)
		}
	}
	if TaskID(0) != "" {
		t.Error("0 is a task")
	}
}

func TestSession(t *testing.T) {
	t.Parallel()
	m, write := memory(t)
	s, err := m.Status(t.Context(), here)
	if err != nil || s.Version != 0 || s.Task != "" || s.FindingsTotal != 0 {
		t.Fatalf("%+v, %v", s, err)
	}
	write(func(tx *store.Tx) error {
		for i := range 7 {
			if _, err := m.AddNote(tx, here, Finding, Note{Text: fmt.Sprint(i), File: "f", Line: i, Actor: "a"}); err != nil {
				return err
			}
		}
		_, err := m.AddNote(tx, here, Decision, Note{Text: "d"})
		return err
	})
	write(func(tx *store.Tx) error { _, err := m.SetTask(tx, here, "build", "a"); return err })
	write(func(tx *store.Tx) error { s, err = m.SetTask(tx, here, "build", "b"); return err })
	if s.Version != 10 || s.Task != "build" || s.TasksOpen != 1 {
		t.Errorf("setting the same task again: %+v", s)
	}
	if s.FindingsTotal != 7 || len(s.Findings) != notesShown || s.Findings[notesShown-1].Text != "6" || s.Findings[0].Line != 2 || s.DecisionsTotal != 1 {
		t.Errorf("%+v", s)
	}
	other, err := m.Status(t.Context(), Place{"w", "other"})
	if err != nil || other.Version != 0 || other.DecisionsTotal != 0 {
		t.Errorf("another channel shares: %+v, %v", other, err)
	}
}

// A change that fails leaves nothing behind.
func TestFailedChangeIsUndone(t *testing.T) {
	t.Parallel()
	m, s := open(t, t.TempDir())
	defer s.Close()
	err := s.Write(t.Context(), func(tx *store.Tx) error {
		if _, err := m.SetTask(tx, here, "x", ""); err != nil {
			return err
		}
		_, _, err := m.UpdateTask(tx, here, 99, Done, "")
		return err
	})
	if !fault.Is(err, catalog.ToolError) {
		t.Errorf("%v", err)
	}
	if got, err := m.Status(t.Context(), here); err != nil || got.Version != 0 || got.Task != "" {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestListTasksPages(t *testing.T) {
	t.Parallel()
	m, write := memory(t)
	write(func(tx *store.Tx) error {
		for i := range 25 {
			if _, _, err := m.CreateTask(tx, here, Task{Description: fmt.Sprint(i)}); err != nil {
				return err
			}
		}
		_, _, err := m.UpdateTask(tx, here, 3, Active, "go")
		return err
	})
	var seen []int64
	before := int64(0)
	for {
		page, err := m.ListTasks(t.Context(), here, "", before, 10)
		if err != nil || page.Total != 25 || page.Current != "t3" {
			t.Fatalf("%+v, %v", page, err)
		}
		for _, task := range page.Tasks {
			seen = append(seen, task.Number)
		}
		if !page.More {
			break
		}
		before = seen[len(seen)-1]
	}
	if len(seen) != 25 || !slices.IsSortedFunc(seen, func(a, b int64) int { return int(b - a) }) {
		t.Errorf("%v", seen)
	}
	if page, err := m.ListTasks(t.Context(), here, Active, 0, 10); err != nil || len(page.Tasks) != 1 || page.Tasks[0].Note != "go" {
		t.Errorf("%+v, %v", page, err)
	}
}

// Whatever is done to the tasks of a channel, at most one is active, it is what the session works on, and the store agrees
// with a model of it, also after it was opened again.
func TestTasksModel(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		dir := t.TempDir()
		m, s := open(t, dir)
		model := map[int64]TaskState{}
		active := int64(0)
		activate := func(n int64) {
			if active != 0 {
				model[active] = Pending
			}
			model[n], active = Active, n
		}
		for range rapid.IntRange(1, 12).Draw(rt, "steps") {
			err := s.Write(t.Context(), func(tx *store.Tx) error {
				switch rapid.IntRange(0, 2).Draw(rt, "step") {
				case 0:
					task, _, err := m.CreateTask(tx, here, Task{Description: "t"})
					model[task.Number] = Pending
					return err
				case 1:
					n := int64(len(model) + 1)
					activate(n)
					_, err := m.SetTask(tx, here, fmt.Sprint("task ", n), "")
					return err
				default:
					if len(model) == 0 {
						return nil
					}
					n := int64(rapid.IntRange(1, len(model)).Draw(rt, "task"))
					state := rapid.SampledFrom([]TaskState{Pending, Active, Done, Failed, Canceled}).Draw(rt, "state")
					if state == Active {
						activate(n)
					} else {
						if model[n] = state; active == n {
							active = 0
						}
					}
					_, current, err := m.UpdateTask(tx, here, n, state, "")
					if err == nil && current != TaskID(active) {
						return fmt.Errorf("%s is active, want %s", current, TaskID(active))
					}
					return err
				}
			})
			if err != nil {
				rt.Fatal(err)
			}
		}
		if err := s.Close(); err != nil {
			rt.Fatal(err)
		}
		m, s = open(t, dir)
		defer s.Close()
		page, err := m.ListTasks(t.Context(), here, "", 0, 100)
		if err != nil || len(page.Tasks) != len(model) {
			rt.Fatalf("%d tasks, want %d: %v", len(page.Tasks), len(model), err)
		}
		for _, task := range page.Tasks {
			if task.State != model[task.Number] {
				rt.Fatalf("%s is %s, want %s", task.ID(), task.State, model[task.Number])
			}
		}
	})
}
