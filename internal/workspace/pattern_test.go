package workspace

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// deep says whether the long form of the random tests was asked for.
func deep() bool { return os.Getenv("CTXD_DEEP") != "" }

// trial is an ignore file and paths to judge by it. The paths need not exist.
type trial struct {
	ignore string
	paths  []string
}

// askGit judges many trials with one git: each has a folder with its ignore file.
func askGit(tb testing.TB, trials []trial) [][]bool {
	tb.Helper()
	dir := tb.TempDir()
	initRepo(tb, dir)
	var in strings.Builder
	for i, tr := range trials {
		write(tb, filepath.Join(dir, fmt.Sprint("t", i), ".gitignore"), tr.ignore)
		for _, p := range tr.paths {
			fmt.Fprintf(&in, "t%d/%s\x00", i, p)
		}
	}
	ignored := map[string]bool{}
	out := git(tb, dir, []byte(in.String()), "check-ignore", "--no-index", "-z", "--stdin")
	for p := range strings.SplitSeq(string(out), "\x00") {
		ignored[p] = true
	}
	verdicts := make([][]bool, len(trials))
	for i, tr := range trials {
		for _, p := range tr.paths {
			verdicts[i] = append(verdicts[i], ignored[fmt.Sprintf("t%d/%s", i, p)])
		}
	}
	return verdicts
}

func compare(tb testing.TB, trials []trial) {
	tb.Helper()
	for i, verdicts := range askGit(tb, trials) {
		g := Globs{list: parseIgnore([]byte(trials[i].ignore))}
		for j, want := range verdicts {
			if p := trials[i].paths[j]; g.Match(p, false) != want {
				tb.Errorf("%q on %q: git says %v", trials[i].ignore, p, want)
			}
		}
	}
}

// Hostile and odd patterns; each is judged on names made to meet it.
func TestPatternCorpus(t *testing.T) {
	t.Parallel()
	needGit(t)
	paths := []string{
		"a", "b", "ab", "abc", "a/b", "a/b/c", "b/a", "b/a/c", "x/a/b", "foo", "foo/bar", "foobar", "fooXbar", "foo/x/bar", "foo/x/y/bar",
		"coverage", "coverage/x", "x/coverage", "x/coverage/y", "build/out.o", "src/build/out.o", "a.o", "x/a.o", "a ", "a  ", " a", "a\t",
		"#a", "!a", "#", "!", `\`, `a\`, `\a`, "*", "**", "?", "[", "]", "[a]", "[ab]", "a]", "-", "^", "[!a]", "a*b", "a[b", "é", "ж/é",
		"A", "AB", "Foo", ".a", ".a/b", "...", "a\rb", "a\r", "\xff", "a\xffb", "x.tar.gz", "x.GZ", "deep/1/2/3/4/5", "a//b"[:1] + "/b",
		"foobar/baz", "foo/baz", "bar", "x/foobar", "\xef\xbb\xbfa", "a-c", "d", "a:", ":", "e", "1", "=", "_", "~", "a\nb"[:1],
	}
	patterns := []string{
		"/coverage", "coverage/", "/coverage/", "coverage", "*.o", "/*.o", "**/*.o", "build/**", "**/build", "**/build/**", "a/**/b",
		"a/**/c", "/**", "**", "***", "/***", "**/", "**/**", "**/**/b", "a/***/c", "a**", "/a**", "a**b", "/a**/b", "/foo**/bar", "foo**/bar",
		"foo/**bar", "foo/**x/bar", "foo/*/bar", "foo/**/bar", "/foo*", "foo*/bar", "/*/a", "*/a", "*/*", "*/*/*", "/", "//", "///", "/ ",
		"a ", "a  ", `a\ `, `a\  `, `a \ `, `a\\ `, `\a`, `\`, `a\`, `\\`, `\\a`, `a\\`, " a", "a\t", "a\t ", `\#a`, "#a", `\!a`, "!a", "!", "!!a",
		"\\[", "[", "[a", "[]", "[]]", "[]a]", "[!a]", "[^a]", "[!]", "[^]", "[!]a]", "[^]a]", "[a-c]", "[c-a]", "[a-]", "[-a]", "[!a-c]",
		"[a-c-e]", "[a-c-]", `[\]]`, `[\a]`, `[a\-c]`, `[a-\c]`, `[\\]`, `[\`, `[a\`, "[[]", "[[a]", "[[:alpha:]]", "[![:alpha:]]",
		"[[:alpha:]", "[[:foo:]]", "[[:alpha:][:digit:]]", "[[:]", "[[:a]", "[[:]]", "[[:alpha]]", "[:alpha:]", "[a[:digit:]b]",
		"[[:alpha:]-z]", "[a-[:digit:]]", "a[/]b", "a[!x]b", "a?b", "?", "??", "*?", "?*", "*a*", "*b*/c", "[a]/b", "a/[b]", "!a\na", "a\n!a",
		"*\n!a", "*\n!*/", "/*\n!/foo", "/*\n!/foo\n/foo/*\n!/foo/bar", "foo/\n!foo/bar", "foo/*\n!foo/bar", "**\n!**/b", "a\r\nb\r\n",
		"a\r", "a\r\r\n", "\r\n", "a \r\n", "\xef\xbb\xbfa", "\xef\xbb\xbf#a\nb", "\n\n\na", "a\x00b\nb", "\x00", "#\x00\nb", "é", "?/?", "??/?",
		"\xff", "[\xff]", "a[\x80-\xff]b", "[é]", "*.tar.*", "*.gz", "*.?z", "deep/**/5", "deep/*/5", "deep/1/2/3/4/5/", "**/1/**/5", "/**/a",
		"a/", "/a/", "a/b/", "*/", "**/a/", "!*/", "/a/**/", "a/*", "a/**", "/a/b", "a/b", "./a", "../a", "a/./b", "a//b", "//a", "a/b//",
		"\\*", "a\\*b", "\\?", "\\/", "a\\/b", "**\\/b", "a/**\\/c", "x/**\\/b", "*\\", "foo\\bar", "[[:upper:]]", "[A-Z]*", "[]-a]", "[--0]", "[+--]",
		"[!!]", "[^^]", "[!^]", "*\\ ", "\\ a", "[ ]a", "a[ ]", "a[\t]", "[/]", "[!/]", "x/[a/]b", "{a,b}", "(a|b)", "a+", "$", "^a", ".*", ".", "..", "...",
		strings.Repeat("a*", 9) + "b", strings.Repeat("**/", 9) + "b", strings.Repeat("*", 500), strings.Repeat("[a", 50), strings.Repeat("\\", 33),
	}
	var trials []trial
	for _, p := range patterns {
		trials = append(trials, trial{p, paths}, trial{p + "\n", paths})
	}
	compare(t, trials)
}

// Every class against every byte.
func TestPatternClasses(t *testing.T) {
	t.Parallel()
	needGit(t)
	var paths []string
	for b := 1; b < 256; b++ {
		if b != '/' && b != '.' {
			paths = append(paths, string([]byte{byte(b)}))
		}
	}
	trials := []trial{{"[a-[:digit:]]", paths}, {"[!a-c\x80-\x90]", paths}, {"[^[:punct:]]", paths}}
	for name := range classes {
		trials = append(trials, trial{"[[:" + name + ":]]", paths})
	}
	compare(t, trials)
}

var (
	someBits = rapid.SampledFrom([]string{
		"a", "b", "c", "foo", "bar", "A", "*", "*", "**", "**", "?", "/", "/", "/", "[ab]", "[!a]", "[a-c]", "[^b-]", "[]a]", "[[:alpha:]]", `\`,
		`\ `, " ", "!", "#", ".", "[", "]", "-", "^", ":", "é", "\t", "**/", "/**", "/**/", "*/", "\r", "\xff",
	})
	someNames = rapid.SampledFrom([]string{
		"a", "b", "c", "ab", "ac", "ba", "abc", "foo", "bar", "foobar", "A", ".a", "a b", "a ", "#a", "!a", "a]", "[a", `\`, "é", "*", "-", "a-", "\xff",
	})
	someTrial = rapid.Custom(func(t *rapid.T) trial {
		var tr trial
		for range rapid.IntRange(1, 3).Draw(t, "lines") {
			line := strings.Join(rapid.SliceOfN(someBits, 1, 6).Draw(t, "bits"), "")
			tr.ignore += line + rapid.SampledFrom([]string{"\n", "\r\n", " \n", ""}).Draw(t, "end")
		}
		for range 12 {
			tr.paths = append(tr.paths, strings.Join(rapid.SliceOfN(someNames, 1, 4).Draw(t, "names"), "/"))
		}
		return tr
	})
)

func TestPatternRandom(t *testing.T) {
	t.Parallel()
	needGit(t)
	rounds := 2
	if deep() {
		rounds = 200
	}
	for round := range rounds {
		var trials []trial
		for i := range 400 {
			trials = append(trials, someTrial.Example(round*400+i))
		}
		compare(t, trials)
	}
}

// A pattern made to take for ever does not.
func TestPatternTime(t *testing.T) {
	t.Parallel()
	name := strings.Repeat("a", 250)
	long := strings.Repeat(name+"/", 16) + name
	start := time.Now()
	for _, pattern := range []string{
		strings.Repeat("a*", 100) + "b", strings.Repeat("*a", 100) + "b", "/" + strings.Repeat("**/a*", 100) + "b",
		strings.Repeat("**/", 300) + "b", strings.Repeat("?*", 60) + "b", strings.Repeat("[!b]*", 80) + "b", "**/" + strings.Repeat("*a", 120) + "b/**/c",
	} {
		p := compile(pattern, false)
		if p.match(name) || p.match(long) {
			t.Errorf("%.20q matches", pattern)
		}
	}
	if took := time.Since(start); took > 20*time.Second {
		t.Errorf("took %v", took)
	}
}

func TestGlobs(t *testing.T) {
	t.Parallel()
	g, err := CompileGlobs([]string{"*.go", "!*_test.go", "/vendor/", "docs/**/*.md"})
	if err != nil {
		t.Fatal(err)
	}
	for rel, want := range map[string]bool{
		"a.go": true, "x/y/a.go": true, "a_test.go": false, "vendor/x.txt": true, "x/vendor/y.txt": false, "vendor": false,
		"docs/a.md": true, "docs/x/y.md": true, "x/docs/a.md": false, ".": false, "A.GO": false,
	} {
		if got := g.Match(rel, false); got != want {
			t.Errorf("%s: %v", rel, got)
		}
	}
	if !g.Match("vendor", true) {
		t.Error("a folder is not matched by a folder pattern")
	}
	if (&Globs{}).Match("a", false) || (*Globs)(nil).Match("a", false) {
		t.Error("no pattern matches")
	}
}

func TestGlobsRefuseNonsense(t *testing.T) {
	t.Parallel()
	for _, p := range []string{"", "!", "/", "[a", `a\`, "[[:foo:]]", "# x"} {
		if _, err := CompileGlobs([]string{"a", p}); reasonOf(err) != InvalidPattern {
			t.Errorf("%q: %v", p, err)
		}
	}
}

func TestFoldedGlobs(t *testing.T) {
	t.Parallel()
	g, err := compileGlobs([]string{".env*", "!.env.example", "*.PEM", "[A-C]x", "Ключ*", "b\xffÄ"}, true)
	if err != nil {
		t.Fatal(err)
	}
	for rel, want := range map[string]bool{
		".ENV": true, "a/.Env.local": true, ".ENV.EXAMPLE": false, "k.pem": true, "K.Pem": true, "bX": true, "Bx": true, "dx": false,
		"ключ.txt": true, "КЛЮЧ": true, "B\xffä": true, ".env/x": true,
	} {
		if got := g.Match(rel, false); got != want {
			t.Errorf("%q: %v", rel, got)
		}
	}
}

// Patterns hold what they say and nothing panics.
func FuzzPattern(f *testing.F) {
	for _, p := range []string{"a/**/b", "[a-c]*", `\#x`, "[[:alpha:]]?", "**", "!a/"} {
		f.Add(p, "a/x/b")
	}
	f.Fuzz(func(t *testing.T, line, name string) {
		p := compile(line, false)
		p.match(name)
		folded := compile(line, true)
		folded.match(foldCase(name))
		if !strings.ContainsAny(line, `*?[\!/`) && line != "" && !p.match(line) {
			t.Errorf("%q does not match itself", line)
		}
		parseIgnore([]byte(line))
	})
}
