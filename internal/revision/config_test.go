package revision

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestParseConfig(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                                      "",
		"[core]\n\tbare = true\n":               "core.bare=true",
		"[core] bare = true":                    "core.bare=true",
		"\xef\xbb\xbf[Core]\r\nBare\r\n":        "core.bare=true",
		"[core]\nbare\n":                        "core.bare=true",
		"[core]\nbare=\n":                       "core.bare=",
		"[core]\nbare\n; note\nx=1;2\n":         "core.bare=true core.x=1",
		"[core]\na = \"b # c\" d  # e\n":        "core.a=b # c d",
		"[core]\na = b\\\n c\\n\\\"\n":          "core.a=b c\n\"",
		"[core]\na=1\na=2\n[x]\na=3\n[core]b=4": "core.a=2 core.b=4 x.a=3",
		"[remote \"a]\\\"b\"]\nurl = x\n[extensions]\nobjectFormat = sha256": "extensions.objectformat=sha256",
		"[includeIf \"gitdir:**\"]\npath = x":                                "",
	} {
		got, err := parseConfig([]byte(text))
		var list []string
		for _, k := range slices.Sorted(maps.Keys(got)) {
			if !strings.Contains(k, `"`) {
				list = append(list, k+"="+got[k])
			}
		}
		if strings.Join(list, " ") != want || err != nil {
			t.Errorf("%q: %q, %v", text, list, err)
		}
	}
	for _, text := range []string{"[core", "[]\na=1", "a = 1", "[core]\n= 1", "[core]\n1a=1", "[core]\na=\"b\n", "[core]\na=\\x\n", "[core]\na b\n", "[core\n]", "[core]\nbare # yes\n", "\x00"} {
		if got, err := parseConfig([]byte(text)); err == nil {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// Whatever git makes of a configuration file, so do we.
func TestParseConfigIsGit(t *testing.T) {
	t.Parallel()
	needGit(t)
	p := filepath.Join(t.TempDir(), "config")
	pieces := rapid.SampledFrom([]string{
		"[core]", "[Core]\n", "[a-b.c]\n", "[remote \"x\"]\n", "[remote \"x\\\"]\"]", "bare", "name", "=", " = ", "true", "\n", "\r\n", " ", "\t", "#", ";", "\"", "\\\n", "\\\\", "\\n", "\\\"", "x", "0", "-",
	})
	text := rapid.Custom(func(t *rapid.T) string { return strings.Join(rapid.SliceOfN(pieces, 0, 12).Draw(t, "pieces"), "") })
	agreed := 0
	for seed := range 100 {
		content := "[core]\n" + text.Example(seed)
		write(t, p, content)
		out, gitErr := tryGit(t.TempDir(), "config", "--file", p, "--list", "-z", "--no-includes")
		got, err := parseConfig([]byte(content))
		if (err == nil) != (gitErr == nil) {
			t.Errorf("%q: we say %v, git %v", content, err, gitErr)
		}
		if err != nil || gitErr != nil {
			continue
		}
		agreed++
		maps.DeleteFunc(got, func(name, _ string) bool { return strings.Count(name, ".") != 1 || strings.Contains(name, `"`) })
		if want := fromGit(out); blanks.Replace(fmt.Sprint(got)) != blanks.Replace(fmt.Sprint(want)) {
			t.Errorf("%q: %q, git %q", content, got, want)
		}
	}
	if agreed < 20 {
		t.Errorf("only %d files that git can read", agreed)
	}
}

// blanks makes one of what versions of git keep apart or not.
var blanks = strings.NewReplacer("\t", " ")

// fromGit reads what git lists: names and values, "true" where a name stands alone. Names of three parts are no business of ours.
func fromGit(out string) config {
	c := config{}
	for record := range strings.SplitSeq(strings.TrimSuffix(out, "\x00"), "\x00") {
		name, value, has := strings.Cut(record, "\n")
		if !has {
			value = "true"
		}
		if strings.Count(name, ".") == 1 {
			c[name] = value
		}
	}
	return c
}

func FuzzParseConfig(f *testing.F) {
	f.Add([]byte("[core]\n\tbare = \"a\\n\" # x\n[remote \"x\"]\n"))
	f.Fuzz(func(_ *testing.T, b []byte) { _, _ = parseConfig(b) })
}
