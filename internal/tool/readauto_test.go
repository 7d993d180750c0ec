package tool

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ctxd/ctxd/gen/tool"
	"github.com/ctxd/ctxd/internal/action"
	"github.com/ctxd/ctxd/internal/answer"
	"github.com/ctxd/ctxd/internal/identity"
	"github.com/ctxd/ctxd/internal/token"
)

// talk is a call of a conversation.
func (b *bench) talk(conversation string) *action.Call {
	c := *b.call
	c.Principal, c.Channel, c.Conversation, c.Unit = identity.Local(), "default", conversation, &action.Unit{}
	return &c
}

// ask reads as the pipeline does: what was read counts as delivered once the call has succeeded.
func (b *bench) ask(t failer, c *action.Call, in tool.CtxReadInput) *readAnswer {
	t.Helper()
	a, err := b.tools.CtxRead(context.Background(), c, in)
	if err != nil {
		t.Fatalf("%v", err)
	}
	c.Unit.Settle()
	return a
}

const long = "a line of words that is long enough to be worth a stub, number "

func lines(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%s%d\n", long, i)
	}
	return b.String()
}

// A3, case 1: that a file is unchanged is told only to the conversation that got all of it, as it is.
func TestA3Unchanged(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	text := lines(30)
	b.write("f.txt", text)
	auto, full := readOf("f.txt", "auto", 20000, ""), readOf("f.txt", "full", 20000, "")
	const stub = "f.txt [unchanged 30 lines; fresh=true re-sends]\n"
	first := b.ask(t, b.talk("one"), auto)
	if first.Text != "f.txt 30L\n"+text || first.Fidelity != answer.Lossless || first.Mode != "full" {
		t.Fatalf("%s %+v", first.Text, first.About)
	}
	again := b.ask(t, b.talk("one"), auto)
	n, err := token.Count(t.Context(), text)
	if err != nil {
		t.Fatal(err)
	}
	if f := again.Output.Files[0]; again.Text != stub || f.Content != nil || f.Mode != "unchanged" || again.Mode != "unchanged" || again.Fidelity != answer.Lossy || again.RawTokens != n {
		t.Errorf("%s %+v %+v, of %d tokens", again.Text, again.About, f, n)
	}
	fresh := auto
	fresh.Fresh = true
	other := func(change func(*action.Call)) *action.Call {
		c := b.talk("one")
		change(c)
		return c
	}
	for name, got := range map[string]*readAnswer{
		"another conversation": b.ask(t, b.talk("two"), auto),
		"no conversation":      b.ask(t, b.talk(""), auto),
		"still none":           b.ask(t, b.talk(""), auto),
		"another channel":      b.ask(t, other(func(c *action.Call) { c.Channel = "x" }), auto),
		"another agent":        b.ask(t, other(func(c *action.Call) { c.Actor = "x" }), auto),
		"another caller":       b.ask(t, other(func(c *action.Call) { c.Principal.ID = "team:x" }), auto),
		"another workspace":    b.ask(t, other(func(c *action.Call) { c.Workspace = b.callIn("v").Workspace }), auto),
		"mode full":            b.ask(t, b.talk("one"), full),
		"fresh":                b.ask(t, b.talk("one"), fresh),
		"by pointer":           b.ask(t, b.talk("one"), readOf(*first.Output.Files[0].Pointer, "auto", 20000, "")),
	} {
		if !strings.HasSuffix(got.Text, text) {
			t.Errorf("%s: %s", name, got.Text)
		}
	}
	b.tools.delivered = newDeliveries(deliveredBytes) // as a new process has it
	if got := b.ask(t, b.talk("one"), auto); got.Text != first.Text {
		t.Errorf("a new process: %s", got.Text)
	}
}

// A3, case 1: what was read in part, or with loss, or in a call that failed, was not delivered.
func TestA3NotDelivered(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	text := lines(60)
	b.write("f.txt", text)
	b.write("lossy.txt", strings.Repeat("good: é\n", 60)+"bad: \xff\n")
	b.write("small.txt", "x\n")
	whole := func(c string, path string) bool {
		return b.ask(t, b.talk(c), readOf(path, "auto", 20000, "")).Mode == "full"
	}
	for i, in := range []tool.CtxReadInput{
		readOf("f.txt", "lines:1-", 20000, ""), readOf("f.txt", "reference", 20000, ""), readOf("f.txt", "full", 300, ""), readOf("f.txt", "auto", 300, ""),
	} {
		c := strconv.Itoa(i)
		b.ask(t, b.talk(c), in)
		if !whole(c, "f.txt") {
			t.Errorf("after %+v it is a stub", in)
		}
	}
	for range 3 {
		if !whole("a", "lossy.txt") || !whole("a", "small.txt") {
			t.Error("a stub for a text that was read with loss, or that is cheaper than the stub")
		}
	}
	failed := b.talk("b")
	if _, err := b.tools.CtxRead(t.Context(), failed, readOf("f.txt", "auto", 20000, "")); err != nil || !whole("b", "f.txt") {
		t.Error("a stub after a call that did not settle: ", err)
	}
	// Part by part it is the whole text, unless a part was left out, or it changed between two parts.
	for skip, want := range map[bool]bool{false: false, true: true} {
		c, in := fmt.Sprint("parts", skip), readOf("f.txt", "auto", 300, "")
		for n := 0; ; n++ {
			call := b.talk(c)
			a, err := b.tools.CtxRead(t.Context(), call, in)
			if err != nil {
				t.Fatal(err)
			}
			if !skip || n != 1 {
				call.Unit.Settle()
			}
			if a.Next == "" {
				break
			}
			in.Cursor = &a.Next
		}
		if whole(c, "f.txt") != want {
			t.Errorf("a part left out: %v, and then a stub: %v", skip, want)
		}
	}
}

// The changes of a file, put onto what the conversation has, give the file; asking twice gives the same.
func TestReadDiff(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c := func() *action.Call { return b.talk("one") }
	diff, auto := readOf("f.txt", "diff", 20000, ""), readOf("f.txt", "auto", 20000, "")
	before := lines(50)
	b.write("f.txt", before)
	for name, call := range map[string]*action.Call{"nothing read": c(), "no conversation": b.talk("")} {
		if _, err := b.tools.CtxRead(t.Context(), call, diff); reason(err) != "no_baseline" {
			t.Errorf("%s: %v", name, err)
		}
	}
	b.ask(t, c(), auto)
	if a := b.ask(t, c(), diff); !strings.HasPrefix(a.Text, "f.txt 50L same text as ") || *a.Output.Files[0].Content != "" {
		t.Errorf("%s", a.Text)
	}
	after := strings.Replace(before, "number 7\n", "number seven\n", 1)
	b.write("f.txt", after)
	first := b.ask(t, c(), auto)
	if f := first.Output.Files[0]; first.Mode != "diff" || first.Fidelity != answer.Partial || f.Mode != "diff" || patched(t, before, *f.Content) != after || first.RawTokens < 500 {
		t.Errorf("%s %+v", first.Text, first.About)
	}
	for range 3 { // a change is no whole text, so that the next one is of the same
		if a := b.ask(t, c(), auto); a.Text != first.Text {
			t.Errorf("%s", a.Text)
		}
		if a := b.ask(t, c(), diff); a.Text != first.Text || a.RawTokens != 0 {
			t.Errorf("%s %+v", a.Text, a.About)
		}
	}
	b.write("f.txt", strings.ToUpper(before))
	if a := b.ask(t, c(), auto); a.Mode != "full" {
		t.Errorf("a change that is dearer than the text: %s", a.Text)
	}
	if a := b.ask(t, c(), auto); a.Mode != "unchanged" {
		t.Errorf("%s", a.Text)
	}
}

// Whatever is read in which order, a conversation that keeps what it got whole, and puts changes onto that, has the file.
func TestAutoProperty(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	rapid.Check(t, func(rt *rapid.T) {
		run := rapid.StringMatching("[a-z]{12}").Draw(rt, "run") // conversations of its own
		texts := map[string]string{}
		have := map[string]string{}
		for range rapid.IntRange(1, 25).Draw(rt, "steps") {
			path := rapid.SampledFrom([]string{"p.txt", "q.txt"}).Draw(rt, "path")
			if _, ok := texts[path]; !ok || rapid.IntRange(0, 3).Draw(rt, "edit") == 0 {
				l := strings.SplitAfter(lines(20), "\n")
				l[rapid.IntRange(0, 19).Draw(rt, "at")] = rapid.SampledFrom([]string{"", "new\n", "[unchanged 20 lines; fresh=true re-sends]\n", "-x\n", "@@ -1 +1 @@\n"}).Draw(rt, "line")
				texts[path] = strings.TrimSuffix(strings.Join(l, ""), rapid.SampledFrom([]string{"", "\n"}).Draw(rt, "end"))
				b.write(path, texts[path])
			}
			c := run + rapid.SampledFrom([]string{"1", "2"}).Draw(rt, "conversation")
			in := readOf(path, rapid.SampledFrom([]string{"auto", "auto", "full", "lines:1-", "reference"}).Draw(rt, "mode"), rapid.SampledFrom([]int{20000, 20000, 150}).Draw(rt, "budget"), "")
			in.Fresh = rapid.IntRange(0, 9).Draw(rt, "fresh") == 0
			var got, mode string
			for {
				a := b.ask(rt, b.talk(c), in)
				f := a.Output.Files[0]
				if mode = f.Mode; f.Content != nil {
					got += *f.Content
				}
				if a.Next == "" {
					break
				}
				if rapid.IntRange(0, 4).Draw(rt, "stop") == 0 {
					mode = "a part"
					break
				}
				in.Cursor = &a.Next
			}
			switch key := c + path; mode {
			case "full":
				if have[key] = got; got != texts[path] {
					rt.Fatalf("%q", got)
				}
			case "unchanged":
				if have[key] != texts[path] {
					rt.Fatalf("a stub for %q, which has %q", texts[path], have[key])
				}
			case "diff":
				if now := patched(rt, have[key], got); now != texts[path] {
					rt.Fatalf("a change %q that leads to %q, not to %q", got, now, texts[path])
				}
			}
		}
	})
}

// patched puts a unified difference onto a text.
func patched(t failer, old, change string) string {
	t.Helper()
	from, at := strings.SplitAfter(old, "\n"), 0
	var out strings.Builder
	list := strings.SplitAfter(change, "\n")
	for i, l := range list {
		text := strings.TrimPrefix(l, l[:min(1, len(l))])
		if i+1 < len(list) && strings.HasPrefix(list[i+1], "\\ No newline") {
			text = strings.TrimSuffix(text, "\n")
		}
		switch {
		case i < 2 || l == "" || l[0] == '\\':
		case strings.HasPrefix(l, "@@ -"):
			var start, count int
			if n, _ := fmt.Sscanf(l, "@@ -%d,%d ", &start, &count); n == 2 && count == 0 {
				start++
			}
			for ; at < start-1; at++ {
				out.WriteString(from[at])
			}
		case l[0] == '+':
			out.WriteString(text)
		default:
			if at >= len(from) || from[at] != text {
				t.Fatalf("%q does not fit %q", l, old)
			}
			if at++; l[0] == ' ' {
				out.WriteString(text)
			}
		}
	}
	for ; at < len(from); at++ {
		out.WriteString(from[at])
	}
	return out.String()
}

// since=REV compares with git; a file that is new since then is all change.
func TestReadSince(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	old := lines(30)
	b.write("f.txt", old)
	b.write("bin", "a\x00b")
	git(t, b.root, "init", "-q")
	git(t, b.root, "add", ".")
	git(t, b.root, "commit", "-qm", "one")
	now := strings.Replace(old, "number 9\n", "number nine\n", 1) + "end"
	b.write("f.txt", now)
	b.write("new.txt", "new\n")
	b.write("bin", "text now\n")
	since := func(path, rev string) tool.CtxReadInput {
		in := readOf(path, "auto", 20000, "")
		in.Since = &rev
		return in
	}
	a := b.ask(t, b.call, since("f.txt", "HEAD"))
	if f := a.Output.Files[0]; patched(t, old, *f.Content) != now || len(*f.Since) != 40 || !strings.HasPrefix(a.Text, "f.txt 31L diff since HEAD ("+(*f.Since)[:12]+")\n--- a/f.txt\n+++ b/f.txt\n@@ -7,7 +7,7 @@\n") {
		t.Errorf("%s", a.Text)
	}
	if a := b.ask(t, b.call, since("new.txt", "HEAD")); !strings.Contains(a.Text, "@@ -0,0 +1,1 @@\n+new\n") {
		t.Errorf("%s", a.Text)
	}
	for _, c := range []struct{ path, rev, reason string }{
		{"f.txt", "nope", "no_such_revision"}, {"f.txt", "--output=x", "no_such_revision"}, {"bin", "HEAD", "binary_file"}, {"none.txt", "HEAD", "no_such_file"}, {".env", "HEAD", "refused"},
	} {
		if _, err := b.tools.CtxRead(t.Context(), b.call, since(c.path, c.rev)); reason(err) != c.reason {
			t.Errorf("%+v: %v", c, err)
		}
	}
	full := since("f.txt", "HEAD")
	full.Mode = "full"
	if _, err := b.tools.CtxRead(t.Context(), b.call, full); reason(err) != "bad_mode" {
		t.Errorf("%v", err)
	}
	none := newBench(t)
	none.write("f.txt", old)
	if _, err := none.tools.CtxRead(t.Context(), none.call, since("f.txt", "HEAD")); reason(err) != "no_repository" {
		t.Errorf("%v", err)
	}
}

func git(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=t", "-c", "user.email=t@localhost", "-c", "init.defaultBranch=main"}, args...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+filepath.Join(dir, "none"))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %s: %v %s", args, err, out)
	}
}

// What is remembered of conversations stays within its bound, the newest last.
func TestDeliveriesAreBounded(t *testing.T) {
	t.Parallel()
	d := newDeliveries(20000)
	doc := func(text string) *document {
		p, n := split(text)
		return &document{content: text, sha256: digest("", text) + "0000", pieces: p, lines: n, price: &price{}}
	}
	key := func(i int) deliveryKey { return deliveryKey{path: fmt.Sprint(i)} }
	for i := range 1000 {
		x := doc(strings.Repeat("x", i))
		d.add(key(i), x, 0, len(x.pieces))
		d.add(key(i), x, 0, len(x.pieces))
	}
	if d.size > d.limit || len(d.entries) != d.order.Len() || len(d.entries) == 0 {
		t.Errorf("%d bytes, %d of %d entries", d.size, len(d.entries), d.order.Len())
	}
	if _, ok := d.last(key(999)); !ok {
		t.Error("the newest is forgotten")
	}
	if _, ok := d.last(key(0)); ok {
		t.Error("the oldest is not")
	}
	huge := doc(strings.Repeat("x", maxBaseline+1))
	big := newDeliveries(deliveredBytes)
	big.add(key(0), huge, 0, len(huge.pieces))
	if b, ok := big.last(key(0)); !ok || b.kept {
		t.Errorf("%v %v", ok, b.kept)
	}
}

// A text that is too large to be kept is known to be unchanged all the same, and seen to change.
func TestUnchangedLarge(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	text := lines(readCacheEntry/2/len(long) + 1)
	settle(t, b.write("f.txt", text))
	auto := readOf("f.txt", "auto", 1<<20, "")
	for i, want := range []string{"full", "unchanged", "unchanged", "unchanged"} {
		if a := b.ask(t, b.talk("one"), auto); a.Mode != want || a.Source != map[bool]string{true: "cache", false: "disk"}[i > 1] || *a.Output.Files[0].Lines != strings.Count(text, "\n") {
			t.Errorf("%d: %+v", i, a.About)
		}
	}
	if a := b.ask(t, b.talk("two"), auto); a.Mode != "full" || *a.Output.Files[0].Content != text {
		t.Errorf("another conversation: %+v", a.About)
	}
	if a := b.ask(t, b.talk("one"), readOf("f.txt", "lines:1", 1000, "")); !strings.Contains(a.Text, "1| "+long+"0\n") {
		t.Errorf("%s", a.Text)
	}
	b.write("f.txt", "x"+text)
	if a := b.ask(t, b.talk("one"), auto); a.Mode != "diff" || patched(t, text, *a.Output.Files[0].Content) != "x"+text {
		t.Errorf("%+v", a.About)
	}
}
