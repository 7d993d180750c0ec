package tool

import (
	"context"
	"fmt"
	"strings"

	"github.com/ctxd/ctxd/gen/catalog"
	"github.com/ctxd/ctxd/gen/tool"
	"github.com/ctxd/ctxd/internal/action"
	"github.com/ctxd/ctxd/internal/answer"
	"github.com/ctxd/ctxd/internal/memory"
	"github.com/ctxd/ctxd/internal/store"
)

type taskAnswer = answer.Answer[tool.TaskResult]

// tasksListed is how many tasks a page holds.
const tasksListed = 50

// CtxTaskList lists the tasks of the channel, newest first.
func (t *Tools) CtxTaskList(ctx context.Context, call *action.Call, in tool.CtxTaskListInput) (*answer.Answer[tool.CtxTaskListOutput], error) {
	var state memory.TaskState
	if in.State != nil {
		state = memory.TaskState(*in.State)
	}
	query := queryID("ctx_task", call.Workspace.ID(), call.Channel, string(state))
	at, err := parseCursor(in.Cursor, query)
	if err != nil {
		return nil, err
	}
	page, err := t.memory.ListTasks(ctx, call.Place(), state, int64(at.At), tasksListed)
	if err != nil {
		return nil, err
	}
	least := min(1, len(page.Tasks))
	k, err := fit(ctx, len(page.Tasks), least, in.MaxTokens, func(k int) (string, any) {
		a := drawTasks(page, k, query)
		return a.Text, &a.Output
	})
	if err != nil {
		return nil, err
	}
	return drawTasks(page, k, query), nil
}

func drawTasks(page memory.TaskPage, k int, query string) *answer.Answer[tool.CtxTaskListOutput] {
	a := &answer.Answer[tool.CtxTaskListOutput]{}
	a.Source = "store"
	a.Output = tool.CtxTaskListOutput{Tasks: []tool.Task{}, Total: page.Total, Current: page.Current}
	var b strings.Builder
	b.WriteString(plural(page.Total, "task") + "\n")
	for _, t := range page.Tasks[:k] {
		a.Output.Tasks = append(a.Output.Tasks, taskData(t))
		b.WriteString(taskLine(t))
	}
	if page.More || k < len(page.Tasks) {
		next := cursor{Query: query, At: int(page.Tasks[k-1].Number)}.String()
		a.Next, a.Omitted, a.Fidelity, a.Truncated = next, "older tasks", answer.Partial, k < len(page.Tasks)
		a.Output.Next = &next
		b.WriteString(more("older tasks left", next))
	}
	a.Text = b.String()
	return a
}

// CtxTaskGet shows one task.
func (t *Tools) CtxTaskGet(ctx context.Context, call *action.Call, in tool.CtxTaskGetInput) (*taskAnswer, error) {
	n, err := memory.ParseTaskID(in.TaskID)
	if err != nil {
		return nil, err
	}
	task, current, err := t.memory.GetTask(ctx, call.Place(), n)
	if err != nil {
		return nil, err
	}
	a := &taskAnswer{}
	drawTask(a, task, current)
	return a, nil
}

// CtxTaskCreate adds a pending task.
func (t *Tools) CtxTaskCreate(_ context.Context, call *action.Call, in tool.CtxTaskCreateInput) (*taskAnswer, error) {
	task := memory.Task{Description: in.Description, CreatedBy: call.Actor}
	if in.ToAgent != nil {
		task.Assignee = *in.ToAgent
	}
	return changeTask(call, func(tx *store.Tx) (memory.Task, string, error) {
		return t.memory.CreateTask(tx, call.Place(), task)
	})
}

// CtxTaskUpdate changes the state of a task.
func (t *Tools) CtxTaskUpdate(_ context.Context, call *action.Call, in tool.CtxTaskUpdateInput) (*taskAnswer, error) {
	n, err := memory.ParseTaskID(in.TaskID)
	if err != nil {
		return nil, err
	}
	note := ""
	if in.Message != nil {
		note = *in.Message
	}
	return changeTask(call, func(tx *store.Tx) (memory.Task, string, error) {
		return t.memory.UpdateTask(tx, call.Place(), n, memory.TaskState(in.State), note)
	})
}

func changeTask(call *action.Call, change func(*store.Tx) (memory.Task, string, error)) (*taskAnswer, error) {
	a := &taskAnswer{}
	call.Unit.Change(func(tx *store.Tx) (action.Effect, error) {
		task, current, err := change(tx)
		drawTask(a, task, current)
		return action.Effect{Kind: catalog.EventSessionMutated}, err
	})
	return a, nil
}

func drawTask(a *taskAnswer, t memory.Task, current string) {
	a.Source = "store"
	a.Output = tool.TaskResult{Task: taskData(t), Current: current}
	a.Text = taskLine(t)
}

func taskLine(t memory.Task) string {
	line := fmt.Sprintf("%s %s %s", t.ID(), t.State, t.Description)
	if t.Assignee != "" {
		line += " (for " + t.Assignee + ")"
	}
	if t.Note != "" {
		line += " [" + t.Note + "]"
	}
	return line + "\n"
}

func taskData(t memory.Task) tool.Task {
	return tool.Task{
		ID: t.ID(), Description: t.Description, State: string(t.State), Assignee: t.Assignee, Note: t.Note,
		CreatedBy: t.CreatedBy, CreatedAt: stamp(t.CreatedAt), UpdatedAt: stamp(t.UpdatedAt),
	}
}
