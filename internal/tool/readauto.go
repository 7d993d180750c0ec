package tool

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/ctxd/ctxd/internal/fault"
	"github.com/ctxd/ctxd/internal/token"
	"github.com/ctxd/ctxd/internal/workspace"
)

// maxDiffShare is how dear a change may be to be sent instead of the text, in per cent of the text's tokens (tools.md, mode auto).
const maxDiffShare = 60

// auto chooses what serves: all of the text, or, in a conversation that got it whole before, that it is unchanged or how it
// changed.
func (t *Tools) auto(ctx context.Context, r *reading, s *section) error {
	s.mode = readMode{name: "full", shown: "full"}
	old, ok := t.baseline(r, s)
	if !ok || r.fresh {
		return nil
	}
	if old.sha256 == s.doc.sha256 {
		return s.unchanged(ctx)
	}
	if !old.kept {
		return nil
	}
	change := *s
	if err := change.changed(ctx, old, short(old.sha256)); err != nil {
		return err
	}
	whole, err := s.doc.tokens(ctx)
	if err != nil {
		return err
	}
	n, err := token.Count(ctx, change.text)
	if err != nil || change.text == "" || 100*n >= maxDiffShare*whole {
		return err
	}
	change.stands = true
	*s = change
	return nil
}

// stub is the section of a file that is unchanged since the conversation got it, at the price of a look at its times.
func (t *Tools) stub(ctx context.Context, r *reading, rel string) (s section, ok bool, err error) {
	if r.mode.name != "auto" || r.fresh {
		return s, false, nil
	}
	s = section{path: rel, mode: r.mode}
	old, ok := t.baseline(r, &s)
	if !ok {
		return s, false, nil
	}
	if s.doc = t.reads.known(r.call.Workspace, rel); s.doc == nil || s.doc.sha256 != old.sha256 {
		return s, false, nil
	}
	err = s.unchanged(ctx)
	return s, err != nil || s.stands, err
}

// baseline is what the conversation of the call got of a file last.
func (t *Tools) baseline(r *reading, s *section) (baseline, bool) {
	if r.call.Conversation == "" {
		return baseline{}, false
	}
	return t.delivered.last(keyOf(r.call, s.path))
}

// unchanged makes a section the line that says so, unless the text itself is no dearer (tools.md T3).
func (s *section) unchanged(ctx context.Context) error {
	stub := fmt.Sprintf("%s [unchanged %s; fresh=true re-sends]", oneLine(s.path), plural(s.doc.lines, "line"))
	whole, err := s.doc.tokens(ctx)
	if err != nil {
		return err
	}
	n, err := token.Count(ctx, stub)
	if err != nil || whole <= n {
		return err
	}
	s.mode = readMode{name: "unchanged", shown: "unchanged"}
	s.sum, s.text, s.pieces, s.stands = stub, "", nil, true
	return nil
}

// diff makes a section what changed since a revision, or since the conversation got the file whole.
func (t *Tools) diff(ctx context.Context, r *reading, s *section) error {
	if r.since != "" {
		return t.diffSince(ctx, r, s)
	}
	old, ok := t.baseline(r, s)
	switch {
	case r.call.Conversation == "":
		return fault.Tool("no_baseline", "a call that belongs to no conversation has read nothing before; name one, or give since=<git revision>")
	case !ok:
		return fault.Tool("no_baseline", "this conversation has not read %s whole; read it with mode=full, or give since=<git revision>", oneLine(s.path))
	case !old.kept && old.sha256 != s.doc.sha256:
		return fault.Tool("no_baseline", "%s was larger than %d bytes when it was read, which is not kept; read it with mode=full, or give since=<git revision>", oneLine(s.path), maxBaseline)
	case !old.kept:
		old.content = s.doc.content
	}
	s.since = old.sha256
	return s.changed(ctx, old, short(old.sha256))
}

func (t *Tools) diffSince(ctx context.Context, r *reading, s *section) error {
	repo := t.git.Of(r.call.Workspace)
	commit, err := repo.Resolve(ctx, r.since)
	if err != nil {
		return err
	}
	s.since = commit
	old := baseline{sha256: commit, encoding: s.doc.encoding}
	raw, err := repo.Show(ctx, commit, s.path, 0)
	switch f := fault.From(err); {
	case err == nil:
		text, ok := workspace.Decode(raw)
		if !ok {
			return fault.Tool(workspace.BinaryFile, "%s was a binary file at %s", oneLine(s.path), oneLine(r.since))
		}
		old.content, old.encoding = text.Content, text.Encoding
	case f.Reason() != workspace.NoSuchFile: // a file that is new since then is all change
		return err
	}
	return s.changed(ctx, old, oneLine(r.since)+" ("+commit[:12]+")")
}

// digest names a change, so that a cursor into it belongs to no other one.
func digest(name, text string) string {
	sum := sha256.Sum256([]byte(name + "\x00" + text))
	return hex.EncodeToString(sum[:4])
}

// changed makes a section the unified difference between an older text and the file. name is what the older text is called.
func (s *section) changed(ctx context.Context, old baseline, name string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mode = readMode{name: "diff", shown: "diff"}
	s.since, s.head = old.sha256, "diff since "+name
	out := diff.Diff("a/"+oneLine(s.path), []byte(old.content), "b/"+oneLine(s.path), []byte(s.doc.content))
	_, text, _ := strings.Cut(string(out), "\n") // without the line that git would know, and patch would not
	s.text = text
	s.pieces, s.lines = split(text)
	s.hash = digest(name, text)
	if text == "" {
		s.head = "same text as " + name
		if old.encoding != s.doc.encoding {
			s.head += ", which was " + old.encoding
		}
	}
	return nil
}
