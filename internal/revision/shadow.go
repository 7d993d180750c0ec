package revision

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// shadow is a temporary git folder that stands for a repository: its own configuration, a copy of HEAD, links to the rest. It
// lives for one call.
type shadow struct {
	git     *Git
	program string
	dir     string
	env     []string // beside the fixed environment
	layout  *layout
}

// with calls do with a shadow of the repository, within the time of one call.
func (r *Repo) with(ctx context.Context, do func(context.Context, *shadow) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	program, err := r.programFor()
	if err != nil {
		return err
	}
	l, err := r.layout()
	if err != nil {
		return err
	}
	s := &shadow{git: r.git, program: program, layout: l}
	if s.dir, err = os.MkdirTemp(r.git.scratch, "ctxd-git-"); err != nil {
		return failed("there is no room for temporary files").With(err)
	}
	defer os.RemoveAll(s.dir)
	if s.dir, err = filepath.EvalSymlinks(s.dir); err == nil {
		err = s.lay()
	}
	if err != nil {
		return r.git.mend(ctx, err)
	}
	timed, cancel := context.WithTimeoutCause(ctx, r.git.timeout, errTimeout)
	defer cancel()
	return r.git.mend(ctx, do(timed, s))
}

// lay makes the folder. A worktree gets a shadow of the shared folder beside its own, since that is how git finds what is
// whose.
func (s *shadow) lay() error {
	common := s.dir
	if s.layout.Dir != s.layout.Common {
		common = filepath.Join(s.dir, "common")
		if err := errors.Join(os.Mkdir(common, 0o700), s.write(filepath.Join(s.dir, "commondir"), "common\n")); err != nil {
			return err
		}
		for _, name := range []string{"reftable", "logs", "refs"} {
			if err := link(filepath.Join(s.layout.Dir, name), filepath.Join(s.dir, name)); err != nil {
				return err
			}
		}
	}
	settings, err := s.layout.settings()
	if err != nil {
		return err
	}
	if err := s.write(filepath.Join(common, "config"), settings); err != nil {
		return err
	}
	for _, dir := range []string{s.dir, common} {
		if err := os.MkdirAll(filepath.Join(dir, "info"), 0o700); err != nil {
			return err
		}
	}
	if err := s.lendObjects(common); err != nil {
		return err
	}
	for _, name := range []string{"refs", "packed-refs", "shallow", "reftable", "logs", "info/exclude", "info/attributes"} {
		if err := link(filepath.Join(s.layout.Common, name), filepath.Join(common, name)); err != nil {
			return err
		}
	}
	return s.copyHeads()
}

// lendObjects makes a store of objects that borrows the repository's: should git ever write one, it goes here.
func (s *shadow) lendObjects(common string) error {
	if err := os.MkdirAll(filepath.Join(common, "objects", "info"), 0o700); err != nil {
		return err
	}
	return errors.Join(
		link(filepath.Join(s.layout.Common, "objects"), filepath.Join(common, "lent")), // its own path may need quoting
		s.write(filepath.Join(common, "objects", "info", "alternates"), "../lent\n"))
}

// copyHeads copies the files that git reads refs from, beside those below refs. HEAD may be no link to a file.
func (s *shadow) copyHeads() error {
	for _, name := range []string{"HEAD", "ORIG_HEAD", "FETCH_HEAD", "MERGE_HEAD", "CHERRY_PICK_HEAD"} {
		b, err := s.layout.head(name)
		if err != nil && name != "HEAD" {
			continue // not there, or nothing to name a commit by
		}
		if err == nil {
			err = s.write(filepath.Join(s.dir, name), string(b))
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// head reads HEAD or its like. An old HEAD is a symlink to the ref.
func (l *layout) head(name string) ([]byte, error) {
	p := filepath.Join(l.Dir, name)
	if target, err := os.Readlink(p); err == nil && strings.HasPrefix(target, "refs/") {
		return []byte("ref: " + target + "\n"), nil
	}
	return readFile(p, maxConfig)
}

func (s *shadow) write(p, content string) error { return os.WriteFile(p, []byte(content), 0o600) }

// link makes a link to what is there; nothing where nothing is.
func link(target, at string) error {
	_, err := os.Lstat(target)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return errors.Join(err, os.Symlink(target, at))
}

// Settings that say how files and refs are stored and compared. None names a program, and their values are words.
var kept = []string{
	"core.filemode", "core.symlinks", "core.ignorecase", "core.precomposeunicode", "core.trustctime", "core.checkstat",
	"core.autocrlf", "core.eol", "core.repositoryformatversion",
	// Git would make a full index of a sparse one without these, or the other way round, and write what that needs.
	"core.sparsecheckout", "core.sparsecheckoutcone", "index.sparse",
}

// settings is the configuration of the shadow.
func (l *layout) settings() (string, error) {
	var b strings.Builder
	b.WriteString("[core]\n\tbare = false\n")
	for name, v := range l.config {
		if !slices.Contains(kept, name) && !isKeptExtension(name) {
			continue
		}
		if !isWord(v) {
			return "", failed("the repository's setting %s has a value that ctxd does not know", name)
		}
		section, key, _ := strings.Cut(name, ".")
		fmt.Fprintf(&b, "[%s]\n\t%s = %s\n", section, key, v)
	}
	return b.String(), nil
}

// isKeptExtension lets git judge extensions of the format. Two do not count: nothing is fetched, and no other file is read.
func isKeptExtension(name string) bool {
	name, ok := strings.CutPrefix(name, "extensions.")
	return ok && !strings.Contains(name, ".") && name != "partialclone" && name != "worktreeconfig"
}

func isWord(s string) bool {
	return len(s) <= 32 && strings.Trim(s, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-") == ""
}

// withIndex gives git the index and the working tree too. A split index has its larger part in a file beside it, which git
// would touch: it gets a copy.
func (s *shadow) withIndex() error {
	if err := link(filepath.Join(s.layout.Dir, "info", "sparse-checkout"), filepath.Join(s.dir, "info", "sparse-checkout")); err != nil {
		return err
	}
	s.env = append(s.env, "GIT_WORK_TREE="+s.layout.Top, "GIT_INDEX_FILE="+filepath.Join(s.layout.Dir, "index"))
	parts, err := filepath.Glob(filepath.Join(escapeGlob(s.layout.Dir), "sharedindex.*"))
	if err != nil {
		return err
	}
	for _, p := range parts {
		if err := copyFile(p, filepath.Join(s.dir, filepath.Base(p))); err != nil {
			return err
		}
	}
	return nil
}

func escapeGlob(p string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(p)
}

func copyFile(from, to string) error {
	fi, err := os.Lstat(from)
	if err != nil || !fi.Mode().IsRegular() {
		return err
	}
	in, err := os.OpenFile(from, os.O_RDONLY|nonblock, 0)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}
