package revision

import (
	"bytes"
	"context"
	"errors"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/ctxd/ctxd/internal/fault"
	"github.com/ctxd/ctxd/internal/workspace"
)

// maxRevision bounds a caller's name of a revision in bytes.
const maxRevision = 256

// Head gives the full hash of the commit that is checked out, "" where there is none yet, and the short name of the branch,
// "" for a detached HEAD.
func (r *Repo) Head(ctx context.Context) (commit, branch string, err error) {
	err = r.with(ctx, func(ctx context.Context, s *shadow) error {
		ref, err := s.branch(ctx)
		if err != nil {
			return err
		}
		branch = strings.TrimPrefix(ref, "refs/heads/")
		commit, err = s.commit(ctx, "HEAD")
		var no *exit
		if !errors.As(err, &no) || ref == "" {
			return err
		}
		return s.unborn(ctx, ref)
	})
	if err != nil {
		return "", "", err
	}
	return commit, branch, nil
}

// branch gives the ref that HEAD names, "" for a detached one. Only the newer format of refs keeps it elsewhere than in the
// file, which git reads for us.
func (s *shadow) branch(ctx context.Context) (string, error) {
	if f := s.layout.config["extensions.refstorage"]; f == "" || f == "files" {
		b, err := readFile(filepath.Join(s.dir, "HEAD"), maxConfig)
		ref, named := strings.CutPrefix(strings.TrimRight(string(b), " \t\r\n"), "ref:")
		if ref = strings.TrimLeft(ref, " \t"); strings.Contains(ref, "..") {
			return "", failed("HEAD names no branch that there could be")
		}
		if !named {
			ref = ""
		}
		return ref, err
	}
	out, err := s.run(ctx, command{args: []string{"symbolic-ref", "--quiet", "HEAD"}, most: 64 << 10})
	var no *exit
	if errors.As(err, &no) && no.code == 1 {
		return "", nil
	}
	return strings.TrimSuffix(string(out), "\n"), err
}

// unborn is nil if the ref does not exist yet. One that exists and leads to no commit is broken.
func (s *shadow) unborn(ctx context.Context, ref string) error {
	_, err := s.run(ctx, command{args: []string{"show-ref", "--verify", "--quiet", "--end-of-options", ref}, most: 1 << 10})
	if err == nil {
		return failed("the branch %s leads to a commit that is not there", quote(ref))
	}
	if no := (*exit)(nil); errors.As(err, &no) && no.code == 1 {
		return nil
	}
	return err
}

// Resolve gives the full hash of the commit that a caller means, in git's words: a branch, a tag, a hash, "HEAD~2", "v1^". Words
// that search messages (":/fix") or name ranges are not taken.
//
// Fault reason: no_such_revision.
func (r *Repo) Resolve(ctx context.Context, rev string) (string, error) {
	var commit string
	err := r.with(ctx, func(ctx context.Context, s *shadow) (err error) {
		commit, err = s.resolve(ctx, rev)
		return err
	})
	return commit, err
}

func (s *shadow) resolve(ctx context.Context, rev string) (string, error) {
	if !validRevision(rev) {
		return "", noRevision(rev)
	}
	commit, err := s.commit(ctx, rev)
	if no := (*exit)(nil); errors.As(err, &no) {
		return "", noRevision(rev).With(err)
	}
	return commit, err
}

// validRevision lets through what names one commit without a search: regular expressions would cost what their author likes.
func validRevision(rev string) bool {
	if rev == "" || len(rev) > maxRevision || rev[0] == '-' || strings.Contains(rev, "..") || strings.Contains(rev, "{/") {
		return false
	}
	return strings.IndexFunc(rev, func(c rune) bool { return c <= ' ' || c == 0x7f || strings.ContainsRune(`:?*[\`, c) }) < 0
}

// commit gives the hash of the commit that a valid name means; *exit where there is none.
func (s *shadow) commit(ctx context.Context, rev string) (string, error) {
	out, err := s.run(ctx, command{args: []string{"rev-parse", "--verify", "--quiet", "--end-of-options", rev + "^{commit}"}, most: 4 << 10})
	if err != nil {
		return "", err
	}
	hash := strings.TrimSuffix(string(out), "\n")
	if !isHash(hash) {
		return "", &exit{code: 0, stderr: "no single commit"} // a name such as "^main" means a set
	}
	return hash, nil
}

func isHash(s string) bool {
	return (len(s) == 40 || len(s) == 64) && strings.Trim(s, "0123456789abcdef") == ""
}

// Show gives a file of at most limit bytes, 0 meaning workspace.DefaultMax, as it was committed: line ends and filters (a large
// file's pointer) are not applied. The path is resolved and refused as for reading; symlinks are not followed.
//
// Fault reasons: those of Resolve and of workspace.Resolve, no_such_file, is_a_folder, not_a_file, too_large, object_missing.
func (r *Repo) Show(ctx context.Context, rev, p string, limit int64) ([]byte, error) {
	rel, err := r.w.Resolve(p)
	if err != nil {
		return nil, err
	}
	if limit <= 0 {
		limit = workspace.DefaultMax
	}
	var content []byte
	err = r.with(ctx, func(ctx context.Context, s *shadow) error {
		commit, err := s.resolve(ctx, rev)
		if err != nil {
			return err
		}
		hash, err := s.blob(ctx, commit, rev, rel)
		if err != nil {
			return err
		}
		content, err = s.content(ctx, hash, rel, limit)
		return err
	})
	return content, err
}

// blob finds the object of a file in a commit.
func (s *shadow) blob(ctx context.Context, commit, rev, rel string) (string, error) {
	inRepo := path.Join(s.layout.prefix, rel)
	if inRepo == "." {
		return "", fault.Tool(workspace.IsAFolder, "%s is a folder; name a file in it", quote(rel))
	}
	out, err := s.run(ctx, command{args: []string{"ls-tree", "-z", "--full-tree", "--end-of-options", commit, inRepo}, most: 256 << 10})
	if err != nil {
		return "", err
	}
	head, _, _ := strings.Cut(string(out), "\t")
	words := strings.Fields(head) // mode, type, hash
	switch {
	case len(words) < 3:
		return "", fault.Tool(workspace.NoSuchFile, "%s was not there at %s; files that were moved had another path", quote(rel), quote(rev))
	case words[1] == "tree":
		return "", fault.Tool(workspace.IsAFolder, "%s was a folder at %s; name a file in it", quote(rel), quote(rev))
	case words[1] != "blob" || words[0] == "120000":
		return "", fault.Tool(workspace.NotAFile, "%s was a symlink or a submodule at %s, which has no content of its own", quote(rel), quote(rev))
	}
	return words[2], nil
}

// content gives the bytes of an object.
func (s *shadow) content(ctx context.Context, hash, rel string, limit int64) ([]byte, error) {
	const around = 128 // "<hash> blob <size>\n" and the newline behind the content
	out, err := s.run(ctx, command{args: []string{"cat-file", "--batch"}, stdin: hash + "\n", most: limit + around})
	head, rest, _ := bytes.Cut(out, []byte("\n"))
	if bytes.HasSuffix(head, []byte(" missing")) {
		return nil, fault.Tool(ObjectMissing, "the content of %s was never fetched into this partial clone; fetch it with git", quote(rel))
	}
	size := int64(-1)
	if words := bytes.Fields(head); len(words) == 3 {
		if n, err := strconv.ParseInt(string(words[2]), 10, 64); err == nil {
			size = n
		}
	}
	switch {
	case size > limit:
		return nil, fault.Tool(TooLarge, "%s held %d bytes; %d are the most that is read here at once", quote(rel), size, limit)
	case err != nil:
		return nil, err
	case size < 0 || int64(len(rest)) != size+1:
		return nil, failed("git gave another content of %s than it announced", quote(rel))
	}
	return rest[:size], nil
}
