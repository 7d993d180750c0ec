package workspace

import (
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// project is a repository to compare with git: files by path, and what of them is tracked.
type project struct {
	files    map[string]string
	links    map[string]string
	tracked  []string
	nested   []string // folders with a repository of their own
	exclude  string   // info/exclude
	global   string
	root     string // folder that is the workspace, "." for the top
	version  string // of the index
	asParent bool   // the top's .git is a file that names a folder elsewhere
}

var (
	dirNames  = rapid.SampledFrom([]string{"a", "b", "c", "build", "foo", ".hid", "a b", "é"})
	fileNames = rapid.SampledFrom([]string{"a", "b", "x.o", "x.c", "foo", "bar", ".env", "a b", "é", "#x", "!y", `back\slash`, "new\nline", "%20"})
	ruleLines = rapid.SampledFrom([]string{
		"a", "b/", "*.o", "!x.o", "/a", "/a/", "a/b", "a/*", "!a/b", "**/foo", "foo/**", "build/", "!build/", "!build/**", "/*", "!/foo", ".*", "!.env",
		"*", "!*/", "!*.c", "a/**/b", `\#x`, `\!y`, "a\\ b", "a b ", "é", "# note", "", "*.o\r", "new*", `back\\slash`, "%20", "c", "!c/", "!bar",
	})
	someProject = rapid.Custom(drawProject)
)

func drawProject(t *rapid.T) project {
	p := project{files: map[string]string{}, links: map[string]string{}, root: "."}
	rules := func() string { return strings.Join(rapid.SliceOfN(ruleLines, 1, 4).Draw(t, "rules"), "\n") + "\n" }
	dirs := []string{"."}
	for range rapid.IntRange(1, 9).Draw(t, "dirs") {
		d := path.Join(rapid.SampledFrom(dirs).Draw(t, "in"), dirNames.Draw(t, "dir"))
		if p.files[d] == "" && !slices.Contains(dirs, d) {
			dirs = append(dirs, d)
		}
	}
	for range rapid.IntRange(3, 25).Draw(t, "files") {
		f := path.Join(rapid.SampledFrom(dirs).Draw(t, "in"), fileNames.Draw(t, "file"))
		if !slices.Contains(dirs, f) {
			p.files[f] = "x"
		}
	}
	p.tracked = rapid.SliceOfNDistinct(rapid.SampledFrom(slices.Sorted(maps.Keys(p.files))), 0, min(4, len(p.files)), rapid.ID).Draw(t, "tracked")
	for range rapid.IntRange(1, 4).Draw(t, "ignore files") {
		p.files[path.Join(rapid.SampledFrom(dirs).Draw(t, "in"), ".gitignore")] = rapid.SampledFrom([]string{"", "", "\xef\xbb\xbf"}).Draw(t, "bom") + rules()
	}
	if rapid.Bool().Draw(t, "has link") {
		p.links[path.Join(rapid.SampledFrom(dirs).Draw(t, "in"), "ln")] = rapid.SampledFrom([]string{"a", "..", "../a", ".", "nowhere"}).Draw(t, "to")
	}
	p.exclude = rapid.SampledFrom([]string{"", "", "!a\n", "*.c\n", rules()}).Draw(t, "exclude")
	p.global = rapid.SampledFrom([]string{"", "", "x.c\n", rules()}).Draw(t, "global")
	p.version = rapid.SampledFrom([]string{"2", "3", "4"}).Draw(t, "version")
	p.asParent = rapid.Bool().Draw(t, "gitfile")
	if rapid.IntRange(0, 2).Draw(t, "sub") == 0 {
		p.root = rapid.SampledFrom(dirs).Draw(t, "root")
	}
	if len(dirs) > 1 && rapid.IntRange(0, 2).Draw(t, "nest") == 0 {
		if d := rapid.SampledFrom(dirs[1:]).Draw(t, "nested"); !holdsTracked(p.tracked, d) && d != p.root && !strings.HasPrefix(p.root, d+"/") {
			p.nested = append(p.nested, d)
		}
	}
	return p
}

// A folder with tracked files that becomes a repository is a case of its own: TestNestedOverTracked.
func holdsTracked(tracked []string, dir string) bool {
	return slices.ContainsFunc(tracked, func(f string) bool { return strings.HasPrefix(f, dir+"/") })
}

// lay makes the project in a folder and gives the workspace and the arguments that git needs.
func (p project) lay(tb testing.TB, top string) (*Workspace, []string) {
	tb.Helper()
	initRepo(tb, top)
	mkdir(tb, filepath.Join(top, p.root))
	for f, content := range p.files {
		write(tb, filepath.Join(top, f), content)
	}
	for l, target := range p.links {
		symlink(tb, target, filepath.Join(top, l))
	}
	if len(p.tracked) > 0 {
		git(tb, top, []byte(strings.Join(p.tracked, "\x00")), "--literal-pathspecs", "add", "-f", "--pathspec-from-file=-", "--pathspec-file-nul")
		git(tb, top, nil, "update-index", "--index-version", p.version)
	}
	for _, d := range p.nested {
		initRepo(tb, filepath.Join(top, d))
	}
	write(tb, filepath.Join(top, ".git/info/exclude"), p.exclude)
	if p.asParent {
		elsewhere := filepath.Join(tb.TempDir(), "git")
		if err := os.Rename(filepath.Join(top, ".git"), elsewhere); err != nil {
			tb.Fatal(err)
		}
		write(tb, filepath.Join(top, ".git"), "gitdir: "+elsewhere+"\n")
	}
	global := filepath.Join(tb.TempDir(), "ignore")
	write(tb, global, p.global)
	w := open(tb, Options{Root: filepath.Join(top, p.root), GlobalExcludes: true, GlobalExcludesFile: global})
	return w, []string{"-c", "core.excludesFile=" + global}
}

// want is what git lists, nested repositories by their own listing where the outer one shows them.
func (p project) want(tb testing.TB, top string, args []string) []string {
	tb.Helper()
	root := filepath.Join(top, p.root)
	list := lsFiles(tb, root, args...)
	for _, d := range p.nested {
		rel, err := filepath.Rel(root, filepath.Join(top, d))
		if err != nil || strings.HasPrefix(rel, "..") {
			continue
		}
		list = slices.DeleteFunc(list, func(f string) bool { return strings.HasPrefix(f, rel+"/") })
		out := string(git(tb, root, nil, append(args, "ls-files", "-o", "--exclude-standard", "-z")...))
		if strings.Contains("\x00"+out, "\x00"+rel+"/\x00") {
			for _, f := range lsFiles(tb, filepath.Join(root, rel), args...) {
				list = append(list, rel+"/"+f)
			}
		}
	}
	slices.SortFunc(list, byNames)
	return list
}

// excludedRoot says whether git lists nothing because the root itself is excluded: a workspace then goes by its own files.
func (p project) excludedRoot(tb testing.TB, top string, args []string) bool {
	if p.root == "." {
		return false
	}
	return len(git(tb, top, []byte(p.root+"/"), append(args, "check-ignore", "--stdin", "-z")...)) > 0
}

func checkProject(tb testing.TB, p project) {
	tb.Helper()
	top := tb.TempDir()
	w, args := p.lay(tb, top)
	if p.excludedRoot(tb, top, args) {
		return
	}
	got, skips := walkAll(tb, w, ".", WalkOptions{Hidden: true})
	if d := differ(p.want(tb, top, args), got); d != "" {
		tb.Fatalf("%s\nskips %v\n%+v", d, skips, p)
	}
	checkParts(tb, w, got)
}

// checkParts holds that a walk of a folder is its part of the whole walk, and that Ignored says the same.
func checkParts(tb testing.TB, w *Workspace, all []string) {
	tb.Helper()
	_, err := w.Walk(tb.Context(), ".", WalkOptions{Hidden: true, Ignored: true}, func(e Entry) error {
		if e.Type == TypeFolder {
			part, _ := walkAll(tb, w, e.Path, WalkOptions{Hidden: true})
			want := slices.DeleteFunc(slices.Clone(all), func(f string) bool { return !strings.HasPrefix(f, e.Path+"/") })
			if d := differ(want, part); d != "" {
				tb.Fatalf("walk of %q and of the root differ:%s", e.Path, d)
			}
			return nil
		}
		if ignored, err := w.Ignored(e.Path); err != nil || ignored == slices.Contains(all, e.Path) {
			tb.Fatalf("Ignored(%q) = %v, %v", e.Path, ignored, err)
		}
		return nil
	})
	if err != nil {
		tb.Fatal(err)
	}
}

func TestWalkIsGit(t *testing.T) {
	t.Parallel()
	needGit(t)
	rounds := 100
	if deep() {
		rounds = 3000
	}
	for part := range 4 {
		t.Run(strconv.Itoa(part), func(t *testing.T) {
			t.Parallel()
			for seed := part; seed < rounds; seed += 4 {
				checkProject(t, someProject.Example(seed))
			}
		})
	}
}

// FuzzWalk is TestWalkIsGit for as long as one likes.
func FuzzWalk(f *testing.F) {
	needGit(f)
	f.Add(1)
	f.Fuzz(func(t *testing.T, seed int) { checkProject(t, someProject.Example(seed)) })
}
