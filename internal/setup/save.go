package setup

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// save puts new bytes into the place of the file in one step: readers see the bytes of before or the new ones, also after a
// crash. The bytes of before are kept beside it; a copy from an earlier run stays where renew is false. It gives the path of
// that copy, or "".
func (f *file) save(data []byte, modes modes, renew bool) (backup string, err error) {
	if err := f.mayBeWritten(); err != nil {
		return "", err
	}
	if !f.unchanged() {
		return "", f.changed()
	}
	dir := filepath.Dir(f.real)
	if err := os.MkdirAll(dir, modes.folder); err != nil {
		return "", f.refuse("unwritable", "cannot be written: %w", reason(err))
	}
	if backup, err = f.backUp(renew); err != nil {
		return "", err
	}
	mode := modes.file
	if f.info != nil {
		mode = f.info.Mode().Perm()
	}
	temporary, err := f.writeBeside(data, mode)
	if err != nil {
		return backup, err
	}
	defer drop(temporary)
	if !f.unchanged() {
		return backup, f.changed()
	}
	if err := os.Rename(temporary, f.real); err != nil {
		return backup, f.refuse("unwritable", "cannot be written: %w", reason(err))
	}
	syncFolder(dir)
	return backup, nil
}

func (f *file) changed() error {
	return f.refuse("changed_meanwhile", "was changed while ctxd was at it, and is left as it is now; run it again")
}

// modes are the permissions of what is not there yet.
type modes struct{ file, folder fs.FileMode }

// backUp copies the bytes of before.
func (f *file) backUp(renew bool) (string, error) {
	if f.info == nil {
		return "", nil
	}
	backup := f.real + backupSuffix
	info, err := os.Lstat(backup)
	switch {
	case err == nil && info.IsDir():
		return "", f.refuse("not_a_file", "cannot be backed up, since %s is a folder; move it away", backup)
	case err == nil && !renew:
		return backup, nil
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return "", f.refuse("unwritable", "cannot be backed up: %w", reason(err))
	}
	temporary, err := f.writeBeside(f.data, f.info.Mode().Perm())
	if err != nil {
		return "", err
	}
	defer drop(temporary)
	if err := os.Rename(temporary, backup); err != nil {
		return "", f.refuse("unwritable", "cannot be backed up: %w", reason(err))
	}
	return backup, nil
}

// writeBeside writes a temporary file in the same folder, with the owner of the file, and gives its path.
func (f *file) writeBeside(data []byte, mode fs.FileMode) (path string, err error) {
	h, err := os.CreateTemp(filepath.Dir(f.real), ".ctxd-*")
	if err != nil {
		return "", f.refuse("unwritable", "cannot be written: %w", reason(err))
	}
	defer func() {
		if closeErr := h.Close(); err == nil {
			err = closeErr
		}
		if err != nil {
			drop(h.Name())
			path, err = "", f.refuse("unwritable", "cannot be written: %w", reason(err))
		}
	}()
	if _, err := h.Write(data); err != nil {
		return "", err
	}
	if f.info != nil {
		keepOwner(h, f.info)
	}
	if err := h.Chmod(mode); err != nil {
		return "", err
	}
	return h.Name(), h.Sync()
}

// drop takes a temporary file away, where it has not become the file that it was made for.
func drop(temporary string) { _ = os.Remove(temporary) }

// syncFolder makes the new name durable. Systems that cannot do so lose nothing but the change.
func syncFolder(dir string) {
	h, err := os.Open(dir)
	if err != nil {
		return
	}
	defer h.Close()
	_ = h.Sync()
}
