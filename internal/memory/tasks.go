package memory

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/ctxd/ctxd/internal/fault"
	"github.com/ctxd/ctxd/internal/store"
)

// TaskState is where a task stands.
type TaskState string

// States of tasks. At most one task of a channel is active: what the channel works on.
const (
	Pending  TaskState = "pending"
	Active   TaskState = "active"
	Done     TaskState = "done"
	Failed   TaskState = "failed"
	Canceled TaskState = "canceled"
)

// Task is something to be done in a channel.
type Task struct {
	Number      int64 // counts per channel from 1; shown as t1
	Description string
	State       TaskState
	Assignee    string // "" where nobody is named
	Note        string // what was said last about it
	CreatedBy   string // "" where unnamed
	CreatedAt   time.Time
	UpdatedAt   time.Time
}

// ID is the name under which callers know the task.
func (t Task) ID() string { return TaskID(t.Number) }

// TaskID names the task of a number; "" for 0.
func TaskID(number int64) string {
	if number == 0 {
		return ""
	}
	return "t" + strconv.FormatInt(number, 10)
}

// ParseTaskID reads what ID gives.
func ParseTaskID(id string) (int64, error) {
	n, err := strconv.ParseInt(strings.TrimPrefix(id, "t"), 10, 64)
	if err != nil || n < 1 || TaskID(n) != id {
		return 0, fault.Tool("no_such_task", "%q is no task id; they look like t3, and action=list shows them", id)
	}
	return n, nil
}

// CreateTask adds a pending task. It changes the session: session_mutated.
func (m *Memory) CreateTask(tx *store.Tx, p Place, t Task) (created Task, current string, err error) {
	if created, err = m.insertTask(tx, p, t); err != nil {
		return Task{}, "", err
	}
	if _, err = m.changed(tx, p); err != nil {
		return Task{}, "", err
	}
	current, err = currentID(tx, p)
	return created, current, err
}

// UpdateTask changes the state of a task, and its note where one is given. The task that was active before becomes pending.
// It changes the session: session_mutated.
func (m *Memory) UpdateTask(tx *store.Tx, p Place, number int64, state TaskState, note string) (t Task, current string, err error) {
	if err = m.setState(tx, p, number, state, note); err != nil {
		return Task{}, "", err
	}
	if _, err = m.changed(tx, p); err != nil {
		return Task{}, "", err
	}
	return getTask(tx, p, number)
}

func (m *Memory) insertTask(tx *store.Tx, p Place, t Task) (Task, error) {
	t.State = Pending
	t.CreatedAt = m.now().UTC().Truncate(time.Millisecond)
	t.UpdatedAt = t.CreatedAt
	at := t.CreatedAt.UnixMilli()
	err := tx.QueryRow(`INSERT INTO task (workspace, channel, number, description, state, assignee, note, created_by, created_at, updated_at)
		VALUES (?1,?2,(SELECT coalesce(max(number),0)+1 FROM task WHERE workspace=?1 AND channel=?2),?3,?4,?5,'',?6,?7,?7) RETURNING number`,
		p.Workspace, p.Channel, t.Description, string(t.State), t.Assignee, t.CreatedBy, at).Scan(&t.Number)
	if err != nil {
		return Task{}, fmt.Errorf("memory: adding a task: %w", err)
	}
	return t, nil
}

func (m *Memory) setState(tx *store.Tx, p Place, number int64, state TaskState, note string) error {
	at := m.now().UnixMilli()
	if state == Active {
		_, err := tx.Exec(`UPDATE task SET state='pending', updated_at=? WHERE workspace=? AND channel=? AND state='active' AND number<>?`,
			at, p.Workspace, p.Channel, number)
		if err != nil {
			return fmt.Errorf("memory: pausing the active task: %w", err)
		}
	}
	res, err := tx.Exec(`UPDATE task SET state=?1, note=CASE WHEN ?2='' THEN note ELSE ?2 END, updated_at=?3 WHERE workspace=?4 AND channel=?5 AND number=?6`,
		string(state), note, at, p.Workspace, p.Channel, number)
	if err != nil {
		return fmt.Errorf("memory: updating a task: %w", err)
	}
	if res.Changed == 0 {
		return noSuchTask(number)
	}
	return nil
}

func noSuchTask(number int64) error {
	return fault.Tool("no_such_task", "there is no task %s in this channel; action=list shows those that are", TaskID(number))
}

const taskColumns = `SELECT number, description, state, assignee, note, created_by, created_at, updated_at FROM task WHERE workspace=? AND channel=?`

// GetTask reads a task, and the id of the active one.
func (m *Memory) GetTask(ctx context.Context, p Place, number int64) (t Task, current string, err error) {
	err = m.store.Read(ctx, func(r *store.Reader) error {
		t, current, err = getTask(r, p, number)
		return err
	})
	return t, current, err
}

func getTask(q querier, p Place, number int64) (t Task, current string, err error) {
	t, err = scanTask(q.QueryRow(taskColumns+` AND number=?`, p.Workspace, p.Channel, number))
	if errors.Is(err, store.ErrNoRows) {
		return Task{}, "", noSuchTask(number)
	}
	if err != nil {
		return Task{}, "", err
	}
	current, err = currentID(q, p)
	return t, current, err
}

func currentID(q querier, p Place) (string, error) {
	var n int64
	err := q.QueryRow(`SELECT number FROM task WHERE workspace=? AND channel=? AND state='active'`, p.Workspace, p.Channel).Scan(&n)
	if errors.Is(err, store.ErrNoRows) {
		return "", nil
	}
	return TaskID(n), err
}

func scanTask(row interface{ Scan(...any) error }) (t Task, err error) {
	var created, updated int64
	var state string
	err = row.Scan(&t.Number, &t.Description, &state, &t.Assignee, &t.Note, &t.CreatedBy, &created, &updated)
	t.State, t.CreatedAt, t.UpdatedAt = TaskState(state), time.UnixMilli(created).UTC(), time.UnixMilli(updated).UTC()
	return t, err
}

// TaskPage is a page of the tasks of a channel.
type TaskPage struct {
	Tasks   []Task
	Total   int    // tasks in all, of that state
	Current string // id of the active task, or ""
	More    bool   // whether there are older ones
}

// ListTasks gives the tasks below a number, newest first; before 0: from the newest on. state "" means any.
func (m *Memory) ListTasks(ctx context.Context, p Place, state TaskState, before int64, limit int) (page TaskPage, err error) {
	err = m.store.Read(ctx, func(r *store.Reader) error {
		page, err = listTasks(r, p, state, before, limit)
		return err
	})
	return page, err
}

func listTasks(q querier, p Place, state TaskState, before int64, limit int) (page TaskPage, err error) {
	err = q.QueryRow(`SELECT count(*) FROM task WHERE workspace=? AND channel=? AND (?3='' OR state=?3)`, p.Workspace, p.Channel, string(state)).Scan(&page.Total)
	if err != nil {
		return page, err
	}
	if page.Current, err = currentID(q, p); err != nil {
		return page, err
	}
	rows, err := q.Query(taskColumns+` AND (?3='' OR state=?3) AND (?4=0 OR number<?4) ORDER BY number DESC LIMIT ?5`,
		p.Workspace, p.Channel, string(state), before, limit+1)
	if err != nil {
		return page, err
	}
	defer rows.Close()
	for rows.Next() {
		t, err := scanTask(rows)
		if err != nil {
			return page, err
		}
		page.Tasks = append(page.Tasks, t)
	}
	if page.More = len(page.Tasks) > limit; page.More {
		page.Tasks = page.Tasks[:limit]
	}
	return page, rows.Err()
}

// Status reads the session of a channel.
func (m *Memory) Status(ctx context.Context, p Place) (s Session, err error) {
	err = m.store.Read(ctx, func(r *store.Reader) error {
		s, err = readSession(r, p)
		return err
	})
	if err == nil {
		m.meter.SessionsLoaded.Add(1)
	}
	return s, err
}
