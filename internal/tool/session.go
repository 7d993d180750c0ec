package tool

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/ctxd/ctxd/gen/catalog"
	"github.com/ctxd/ctxd/gen/tool"
	"github.com/ctxd/ctxd/internal/action"
	"github.com/ctxd/ctxd/internal/answer"
	"github.com/ctxd/ctxd/internal/memory"
	"github.com/ctxd/ctxd/internal/store"
)

type sessionAnswer = answer.Answer[tool.Session]

// CtxSessionStatus shows what the channel shares.
func (t *Tools) CtxSessionStatus(ctx context.Context, call *action.Call, in tool.CtxSessionStatusInput) (*sessionAnswer, error) {
	s, err := t.memory.Status(ctx, call.Place())
	if err != nil {
		return nil, err
	}
	a := &sessionAnswer{}
	return a, fitSession(ctx, a, s, in.MaxTokens)
}

// CtxSessionTask sets what the channel works on.
func (t *Tools) CtxSessionTask(ctx context.Context, call *action.Call, in tool.CtxSessionTaskInput) (*sessionAnswer, error) {
	return t.changeSession(ctx, call, in.MaxTokens, func(tx *store.Tx) (memory.Session, error) {
		return t.memory.SetTask(tx, call.Place(), in.Value, call.Actor)
	})
}

// CtxSessionFinding records what was found.
func (t *Tools) CtxSessionFinding(ctx context.Context, call *action.Call, in tool.CtxSessionFindingInput) (*sessionAnswer, error) {
	n := memory.ParseNote(in.Value)
	n.Actor = call.Actor
	return t.changeSession(ctx, call, in.MaxTokens, func(tx *store.Tx) (memory.Session, error) {
		return t.memory.AddNote(tx, call.Place(), memory.Finding, n)
	})
}

// CtxSessionDecision records what was decided.
func (t *Tools) CtxSessionDecision(ctx context.Context, call *action.Call, in tool.CtxSessionDecisionInput) (*sessionAnswer, error) {
	n := memory.Note{Text: in.Value, Actor: call.Actor}
	return t.changeSession(ctx, call, in.MaxTokens, func(tx *store.Tx) (memory.Session, error) {
		return t.memory.AddNote(tx, call.Place(), memory.Decision, n)
	})
}

// changeSession makes a change part of the call's unit of work, and its result the answer.
func (t *Tools) changeSession(ctx context.Context, call *action.Call, budget int, change func(*store.Tx) (memory.Session, error)) (*sessionAnswer, error) {
	a := &sessionAnswer{}
	call.Unit.Change(func(tx *store.Tx) (action.Effect, error) {
		s, err := change(tx)
		if err == nil {
			err = fitSession(ctx, a, s, budget)
		}
		return action.Effect{Kind: catalog.EventSessionMutated}, err
	})
	return a, nil
}

// fitSession draws as many of the newest notes as the budget holds; the totals tell of the others.
func fitSession(ctx context.Context, a *sessionAnswer, s memory.Session, budget int) error {
	all := len(s.Findings) + len(s.Decisions)
	k, err := fit(ctx, all, 0, budget, func(k int) (string, any) {
		var draft sessionAnswer
		drawSession(&draft, newest(s, k))
		return draft.Text, &draft.Output
	})
	if err != nil {
		return err
	}
	drawSession(a, newest(s, k))
	if left := all - k; left > 0 {
		a.Truncated, a.Fidelity, a.Omitted = true, answer.Partial, plural(left, "older note")
		a.Text += "[cut to max_tokens: " + a.Omitted + " left out]\n"
	}
	return nil
}

// newest is the session with the newest k of its notes.
func newest(s memory.Session, k int) memory.Session {
	for len(s.Findings)+len(s.Decisions) > k {
		if len(s.Decisions) == 0 || len(s.Findings) > 0 && s.Findings[0].At.Before(s.Decisions[0].At) {
			s.Findings = s.Findings[1:]
		} else {
			s.Decisions = s.Decisions[1:]
		}
	}
	return s
}

func drawSession(a *sessionAnswer, s memory.Session) {
	a.Source = "store"
	a.Output = tool.Session{
		Workspace: s.Workspace, Channel: s.Channel, Version: int(s.Version), Task: s.Task,
		Findings: notes(s.Findings), Decisions: notes(s.Decisions),
		FindingsTotal: s.FindingsTotal, DecisionsTotal: s.DecisionsTotal, TasksOpen: s.TasksOpen,
	}
	var b strings.Builder
	fmt.Fprintf(&b, "session v%d %s/%s\n", s.Version, s.Workspace, s.Channel)
	if s.Task != "" {
		b.WriteString("task: " + s.Task + "\n")
	} else {
		b.WriteString("task: none; action=task sets one\n")
	}
	fmt.Fprintf(&b, "open tasks: %d\n", s.TasksOpen)
	drawNotes(&b, "findings", s.Findings, s.FindingsTotal)
	drawNotes(&b, "decisions", s.Decisions, s.DecisionsTotal)
	a.Text = b.String()
}

func drawNotes(b *strings.Builder, what string, list []memory.Note, total int) {
	if total == 0 {
		return
	}
	fmt.Fprintf(b, "%s (%d of %d):\n", what, len(list), total)
	for _, n := range list {
		b.WriteString("- ")
		switch {
		case n.Line > 0:
			fmt.Fprintf(b, "%s:%d ", n.File, n.Line)
		case n.File != "":
			b.WriteString(n.File + " ")
		}
		b.WriteString(n.Text)
		if n.Actor != "" {
			b.WriteString(" (" + n.Actor + ")")
		}
		b.WriteByte('\n')
	}
}

func notes(list []memory.Note) []tool.Note {
	out := []tool.Note{}
	for _, n := range list {
		t := tool.Note{Text: n.Text, Actor: n.Actor, At: stamp(n.At)}
		if n.File != "" {
			t.File = &n.File
		}
		if n.Line > 0 {
			t.Line = &n.Line
		}
		out = append(out, t)
	}
	return out
}

// stamp is a time as answers write it.
func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }
