package setup

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/ctxd/ctxd/internal/fault"
)

// Bounds of files that are edited, in bytes. Claude Code keeps its history in the file of a user; the parser of TOML takes time
// by the square of the number of tables.
const (
	maxJSON = 16 << 20
	maxTOML = 256 << 10
)

// backupSuffix names the copy of a file as it was before ctxd.
const backupSuffix = ".ctxd-backup"

// file is a configuration file as it was read.
type file struct {
	path string // as it is named
	real string // as it is written: links are followed
	data []byte
	info fs.FileInfo // nil where there is none
	most int         // bytes that are read
}

// openFile reads a file of at most so many bytes. Within is the folder that its links must not lead out of; "" lets them lead
// anywhere.
func openFile(path, within string, most int) (*file, error) {
	f := &file{path: path, most: most}
	if err := f.resolve(within); err != nil {
		return nil, err
	}
	info, err := os.Stat(f.real)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return f, nil
	case err != nil:
		return nil, f.refuse("unreadable", "cannot be read: %w", reason(err))
	case info.IsDir():
		return nil, f.refuse("not_a_file", "is a folder; move it away")
	case !info.Mode().IsRegular():
		return nil, f.refuse("not_a_file", "is no regular file; move it away")
	case info.Size() > int64(most):
		return nil, f.tooLarge()
	}
	return f, f.read()
}

func (f *file) refuse(word, format string, args ...any) error {
	return fault.Tool(word, "%s "+format, append([]any{f.path}, args...)...)
}

// reason leaves out the operation and the path, which the message has already.
func reason(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

// resolve follows the links on the way to the file, the file itself included.
func (f *file) resolve(within string) error {
	resolved, err := filepath.EvalSymlinks(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Lstat(f.path); err == nil {
			return f.refuse("dangling_link", "is a link to nothing; take it away, or make the file that it names")
		}
		resolved, err = resolveMissing(f.path)
	}
	if err != nil {
		return f.refuse("unreadable", "cannot be reached: %w", reason(err))
	}
	f.real = resolved
	if within == "" {
		return nil
	}
	root, err := filepath.EvalSymlinks(within)
	if err != nil {
		return f.refuse("unreadable", "cannot be reached: %w", reason(err))
	}
	if !strings.HasPrefix(resolved, strings.TrimSuffix(root, string(filepath.Separator))+string(filepath.Separator)) {
		return f.refuse("leaves_project", "is a link out of the project, to %s; ctxd does not follow it, so edit that file by hand, --print shows the entry", resolved)
	}
	return nil
}

// resolveMissing follows the links of the folders that are there.
func resolveMissing(path string) (string, error) {
	dir := filepath.Dir(path)
	if dir == path {
		return "", fs.ErrNotExist
	}
	resolved, err := filepath.EvalSymlinks(dir)
	if errors.Is(err, fs.ErrNotExist) {
		resolved, err = resolveMissing(dir)
	}
	return filepath.Join(resolved, filepath.Base(path)), err
}

// mayBeWritten refuses a read-only file, which a rename would get round, and a folder that is none or read-only: the file's,
// or else the nearest one that is there.
func (f *file) mayBeWritten() error {
	if f.info != nil && f.info.Mode().Perm()&0o200 == 0 {
		return f.refuse("read_only", "is read-only; allow writing (chmod u+w), or edit it by hand, --print shows the entry")
	}
	for dir := filepath.Dir(f.real); ; dir = filepath.Dir(dir) {
		info, err := os.Stat(dir)
		switch {
		case errors.Is(err, fs.ErrNotExist) && dir != filepath.Dir(dir):
			continue
		case err != nil:
			return f.refuse("unreadable", "cannot be reached: %w", reason(err))
		case !info.IsDir():
			return f.refuse("not_a_folder", "cannot be made, since %s is a file", dir)
		case info.Mode().Perm()&0o200 == 0:
			return f.refuse("read_only", "cannot be written, since the folder %s is read-only; allow writing (chmod u+w)", dir)
		}
		return nil
	}
}

// read reads at most what is edited, and remembers which file it was.
func (f *file) read() error {
	h, err := os.Open(f.real)
	if err != nil {
		return f.refuse("unreadable", "cannot be read: %w", reason(err))
	}
	defer h.Close()
	if f.info, err = h.Stat(); err != nil {
		return f.refuse("unreadable", "cannot be read: %w", reason(err))
	}
	if f.data, err = io.ReadAll(io.LimitReader(h, int64(f.most)+1)); err != nil {
		return f.refuse("unreadable", "cannot be read: %w", reason(err))
	}
	switch {
	case len(f.data) > f.most:
		return f.tooLarge()
	case !utf8.Valid(f.data):
		return f.refuse("not_utf8", "is not in UTF-8; save it in UTF-8")
	}
	return nil
}

func (f *file) tooLarge() error {
	return f.refuse("too_large", "has more than %d bytes, the most that ctxd edits; edit it by hand, --print shows the entry", f.most)
}

// unchanged says whether the file is still the one that was read, with the same bytes.
func (f *file) unchanged() bool {
	now := &file{path: f.path, real: f.real, most: f.most}
	info, err := os.Lstat(f.real)
	if f.info == nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	return err == nil && os.SameFile(info, f.info) && now.read() == nil && bytes.Equal(now.data, f.data)
}
