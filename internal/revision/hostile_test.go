//go:build unix

package revision

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// vector is a way in which a repository makes git run a program. The program is MARK, which leaves a file that tells.
type vector struct {
	config string            // added to the repository's configuration
	files  map[string]string // written below the root
	do     string            // git command that sets it up further
	prove  string            // git command of a user that runs the program: the vector is alive
}

var vectors = map[string]vector{
	"fsmonitor":      {config: "[core]\n\tfsmonitor = MARK\n", prove: "status"},
	"hooksPath":      {config: "[core]\n\thooksPath = HOOKS\n", prove: "add a"},
	"hook":           {files: map[string]string{".git/hooks/post-index-change": "#!/bin/sh\nMARK\n"}, prove: "add a"},
	"hook ref":       {files: map[string]string{".git/hooks/reference-transaction": "#!/bin/sh\nMARK\n"}, prove: "update-ref refs/x HEAD"},
	"external diff":  {config: "[diff]\n\texternal = MARK\n", prove: "diff"},
	"diff command":   {config: "[diff \"x\"]\n\tcommand = MARK\n", files: map[string]string{".gitattributes": "* diff=x\n"}, prove: "diff"},
	"textconv":       {config: "[diff \"x\"]\n\ttextconv = MARK\n", files: map[string]string{".gitattributes": "* diff=x\n"}, prove: "diff"},
	"textconv info":  {config: "[diff \"x\"]\n\ttextconv = MARK\n", files: map[string]string{".git/info/attributes": "* diff=x\n"}, prove: "show HEAD"},
	"textconv blob":  {config: "[diff \"x\"]\n\ttextconv = MARK\n", files: map[string]string{".gitattributes": "* diff=x\n"}, prove: "cat-file --textconv HEAD:a"},
	"filter clean":   {config: "[filter \"x\"]\n\tclean = MARK\n", files: map[string]string{".gitattributes": "* filter=x\n"}, prove: "status"},
	"filter info":    {config: "[filter \"x\"]\n\tclean = MARK\n\trequired\n", files: map[string]string{".git/info/attributes": "* filter=x\n"}, prove: "status"},
	"filter smudge":  {config: "[filter \"x\"]\n\tsmudge = MARK\n", files: map[string]string{".gitattributes": "* filter=x\n"}, prove: "cat-file --filters HEAD:a"},
	"filter process": {config: "[filter \"x\"]\n\tprocess = MARK\n", files: map[string]string{".gitattributes": "* filter=x\n"}, prove: "status"},
	"include":        {config: "[include]\n\tpath = more\n", files: map[string]string{".git/more": "[core]\n\tfsmonitor = MARK\n"}, prove: "status"},
	"include if":     {config: "[includeIf \"gitdir:**\"]\n\tpath = more\n", files: map[string]string{".git/more": "[core]\n\tfsmonitor = MARK\n"}, prove: "status"},
	"config of tree": {config: "[extensions]\n\tworktreeConfig = true\n", files: map[string]string{".git/config.worktree": "[core]\n\tfsmonitor = MARK\n"}, prove: "status"},
	"alias": {config: "[alias]\n\thack = !MARK\n\tstatus = !MARK\n\trev-parse = !MARK\n\tls-tree = !MARK\n\tcat-file = !MARK\n\tsymbolic-ref = !MARK\n",
		prove: "hack"},
	"pager":     {config: "[core]\n\tpager = MARK\n\teditor = MARK\n\taskPass = MARK\n[pager]\n\tstatus = MARK\n\tls-tree = MARK\n[alias]\n\thack = !MARK\n", prove: "hack"},
	"signature": {config: "[gpg]\n\tprogram = MARK\n[log]\n\tshowSignature = true\n", do: "SIGN", prove: "log -1"},
	"ssh": {config: "[core]\n\tsshCommand = MARK\n[remote \"origin\"]\n\turl = ssh://example.invalid/x\n\tpromisor = true\n[extensions]\n\tpartialClone = origin\n",
		do: "LOSE", prove: "cat-file -p HEAD:a"},
	"remote helper": {config: "[protocol]\n\tallow = always\n[remote \"origin\"]\n\turl = ext::MARK\n\tpromisor = true\n[extensions]\n\tpartialClone = origin\n",
		do: "LOSE", prove: "cat-file -p HEAD:a"},
	"submodule":        {do: "SUBMODULE", prove: "status"},
	"submodule filter": {do: "SUBMODULE FILTER", prove: "status"},
	"attributes file":  {config: "[core]\n\tattributesFile = .git/attr\n[filter \"x\"]\n\tclean = MARK\n", files: map[string]string{".git/attr": "* filter=x\n"}, prove: "status"},
}

// A8: nothing that a repository names is run, and nothing of it is written.
func TestHostileRepository(t *testing.T) {
	t.Parallel()
	for name, v := range vectors {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, mark := v.lay(t)
			_ = os.Remove(mark) // by what set it up
			if _, err := tryGit(dir, strings.Fields(v.prove)...); !fired(mark) {
				t.Fatalf("git %s runs nothing, so this test says nothing: %v", v.prove, err)
			}
			if err := os.Remove(mark); err != nil {
				t.Fatal(err)
			}
			touch(t, dir)
			before := snapshot(t, dir)
			everything(t, repoAt(t, dir))
			if fired(mark) {
				t.Error("a program of the repository was run")
			}
			untouched(t, dir, before)
		})
	}
}

// everything calls everything; what it answers is another test's.
func everything(t *testing.T, r *Repo) {
	t.Helper()
	if commit, _, err := r.Head(t.Context()); err != nil || commit == "" {
		t.Errorf("head: %v", err)
	}
	if _, err := r.Resolve(t.Context(), "HEAD~0"); err != nil {
		t.Errorf("resolve: %v", err)
	}
	if list, err := r.Dirty(t.Context()); err != nil || len(list) == 0 {
		t.Errorf("dirty: %v, %v", list, err)
	}
	if _, err := r.Show(t.Context(), "HEAD", "a", 0); err != nil && reasonOf(err) != ObjectMissing {
		t.Errorf("show: %v", err)
	}
}

func fired(mark string) bool {
	_, err := os.Stat(mark)
	return err == nil
}

// touch makes every file one whose content git has to look at: same size, other time stamps.
func touch(t *testing.T, dir string) {
	t.Helper()
	write(t, filepath.Join(dir, "a"), "2\n")
	write(t, filepath.Join(dir, "b.txt"), "2\n")
}

// lay makes the repository, and gives the file by which the program tells that it ran.
func (v vector) lay(t *testing.T) (dir, mark string) {
	t.Helper()
	dir = project(t, map[string]string{"a": "1\n", "b.txt": "1\n"})
	tools := t.TempDir()
	mark = filepath.Join(tools, "ran")
	program := filepath.Join(tools, "program")
	write(t, program, "#!/bin/sh\necho ran >"+mark+"\ncat 2>/dev/null </dev/null\nexit 1\n")
	write(t, filepath.Join(tools, "hooks/post-index-change"), "#!/bin/sh\n"+program+"\n")
	fill := strings.NewReplacer("MARK", program, "HOOKS", filepath.Join(tools, "hooks"))
	for p, content := range v.files {
		write(t, filepath.Join(dir, p), fill.Replace(content))
	}
	for _, p := range []string{program, filepath.Join(tools, "hooks/post-index-change"), filepath.Join(dir, ".git/hooks/post-index-change"), filepath.Join(dir, ".git/hooks/reference-transaction")} {
		if err := os.Chmod(p, 0o755); err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
	}
	v.further(t, dir, program)
	if v.config != "" {
		appendTo(t, filepath.Join(dir, ".git/config"), fill.Replace(v.config))
	}
	touch(t, dir)
	return dir, mark
}

// further sets up what no file alone does.
func (v vector) further(t *testing.T, dir, program string) {
	t.Helper()
	switch what, more, _ := strings.Cut(v.do, " "); what {
	case "LOSE": // the object of a file, as if a partial clone had not fetched it
		hash := commitOf(t, dir, "HEAD:a")
		if err := os.Remove(filepath.Join(dir, ".git/objects", hash[:2], hash[2:])); err != nil {
			t.Fatal(err)
		}
	case "SIGN":
		commit := git(t, dir, "cat-file", "commit", "HEAD")
		head, body, _ := strings.Cut(commit, "\n\n")
		p := filepath.Join(t.TempDir(), "commit")
		write(t, p, head+"\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----\n\n"+body)
		git(t, dir, "update-ref", "HEAD", strings.TrimSpace(git(t, dir, "hash-object", "-t", "commit", "-w", p)))
	case "SUBMODULE":
		git(t, dir, "submodule", "--quiet", "add", project(t, map[string]string{"s": "1\n"}), "sub")
		git(t, dir, "commit", "-q", "-m", "sub")
		config := "[core]\n\tfsmonitor = " + program + "\n"
		if more != "" {
			config = "[filter \"x\"]\n\tclean = " + program + "\n"
			write(t, filepath.Join(dir, ".git/modules/sub/info/attributes"), "* filter=x\n")
		}
		appendTo(t, filepath.Join(dir, ".git/modules/sub/config"), config)
		write(t, filepath.Join(dir, "sub/s"), "2\n")
	}
}
