package watch

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"github.com/ctxd/ctxd/internal/workspace"
	"github.com/fsnotify/fsnotify"
)

// hears says whether the system tells of changes at a bearable price: kqueue would keep every file open.
const hears = runtime.GOOS == "linux" || runtime.GOOS == "windows"

// Why changes are found by walking.
var (
	errForced  = errors.New("it was asked for")
	errSystem  = errors.New("this system would have to keep every file open to tell of changes")
	errFull    = errors.New("there are more folders than may be watched")
	errTwice   = errors.New("one folder has two names")
	errNoEar   = errors.New("the system has no more room for watchers; raise fs.inotify.max_user_instances")
	errNoWatch = errors.New("the system has no more room for watches; raise fs.inotify.max_user_watches")
	errGone    = errors.New("the root was moved, replaced or deleted, or may not be read")
)

// ear is one connection to the system with a watch on each folder that a walk shows. Watches cannot be moved with their
// folders, so an ear is thrown away and made anew when a watched folder is renamed.
type ear struct {
	w       *workspace.Workspace
	fs      *fsnotify.Watcher
	news    *news
	most    int
	folders map[string]key // watched, by path relative to the root
	keys    map[key]string // and the other way round
	dev     uint64         // file system that was last found to be a local one
	beside  *beside
	done    chan struct{}
}

// key is what the system knows a folder by: it keeps one watch for it, whatever its name.
type key struct{ dev, ino uint64 }

// listen watches everything that a walk shows. Each folder is watched before it is listed: what appears later is heard of, what
// was there before is found.
func listen(ctx context.Context, w *workspace.Workspace, most int, n *news) (*ear, error) {
	if !hears {
		return nil, errSystem
	}
	notifier, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, errors.Join(errNoEar, err)
	}
	e := &ear{
		w: w, fs: notifier, news: n, most: most, folders: map[string]key{}, keys: map[key]string{}, beside: newBeside(w), done: make(chan struct{}),
	}
	go e.collect()
	if err = e.arm("."); err == nil {
		err = e.scan(ctx, ".")
	}
	if err == nil && len(e.folders) == 0 {
		err = errGone
	}
	if err != nil {
		e.close()
		return nil, err
	}
	return e, nil
}

func (e *ear) close() {
	_ = e.fs.Close() // nothing was written
	<-e.done
}

// collect takes events off the system's queue, which is short.
func (e *ear) collect() {
	defer close(e.done)
	events, errs := e.fs.Events, e.fs.Errors
	for events != nil || errs != nil {
		select {
		case ev, ok := <-events:
			if !ok {
				events = nil
				continue
			}
			e.news.hear(ev.Name, ev.Op)
		case _, ok := <-errs:
			if !ok {
				errs = nil
				continue
			}
			e.news.fail() // the queue was full, or something else was not heard
		}
	}
}

// scan watches what a walk shows at a path and below it.
func (e *ear) scan(ctx context.Context, rel string) error {
	_, err := e.w.WalkAt(ctx, rel, workspace.WalkOptions{Hidden: true}, func(entry workspace.Entry) error {
		switch {
		case entry.Link:
			return e.beside.link(entry.Path)
		case entry.Type == workspace.TypeFolder:
			return e.arm(entry.Path)
		default:
			return nil
		}
	})
	if f := context.Cause(ctx); f != nil {
		return f
	}
	return err
}

// arm watches one folder. One that is gone again or may not be read is left out: its parent tells when that changes.
func (e *ear) arm(rel string) error {
	abs := filepath.Join(e.w.Root(), filepath.FromSlash(rel))
	if _, ok := e.folders[rel]; !ok && len(e.folders) >= e.most {
		return errFull
	}
	switch err := e.fs.Add(abs); {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.ENOTDIR), errors.Is(err, syscall.ELOOP):
		return nil
	case errors.Is(err, syscall.ENOSPC):
		return errNoWatch
	case err != nil:
		return err
	}
	k, same := e.identify(rel, abs)
	if !same {
		// The name leads elsewhere than it does for the workspace, if only for a moment: an event says more.
		_ = e.fs.Remove(abs)
		return nil
	}
	if other, ok := e.keys[k]; ok && other != rel && k.ino != 0 {
		return errTwice // moved meanwhile, or mounted twice: events would come under one name only
	}
	if k.dev != e.dev || len(e.folders) == 0 {
		if kind := remoteAt(abs); kind != "" {
			return errors.New("others may write without the system telling of it: " + kind)
		}
		e.dev = k.dev
	}
	e.forget(rel)
	e.folders[rel], e.keys[k] = k, rel
	e.beside.folder(rel)
	return nil
}

// identify says whether the absolute path leads to the folder that the workspace knows by the relative one.
func (e *ear) identify(rel, abs string) (key, bool) {
	info, err := e.w.Stat(rel)
	if err != nil || info.Type != workspace.TypeFolder {
		return key{}, false
	}
	fi, err := os.Lstat(abs)
	if err != nil || !fi.IsDir() {
		return key{}, false
	}
	k, id := key{info.Identity.Dev, info.Identity.Ino}, workspace.IdentityOf(fi)
	return k, k == key{id.Dev, id.Ino}
}

// forget takes a folder out of the books. The system has dropped its watch with it.
func (e *ear) forget(rel string) {
	if k, ok := e.folders[rel]; ok {
		delete(e.folders, rel)
		if e.keys[k] == rel {
			delete(e.keys, k)
		}
	}
}

// moved is the error of a folder that was renamed, which no ear survives.
var errMoved = errors.New("a watched folder was renamed")

// follow draws from events what has to be watched from now on, and adds to c what they say.
func (e *ear) follow(ctx context.Context, events map[string]fsnotify.Op, c *changes) error {
	var scan []string
	for abs, op := range events {
		rel, ok := e.relative(abs)
		if !ok {
			continue
		}
		_, watched := e.folders[rel]
		switch {
		case rel == "." && op.Has(fsnotify.Remove|fsnotify.Rename):
			return errGone
		case watched && op.Has(fsnotify.Rename):
			return errMoved
		case watched && op.Has(fsnotify.Remove):
			e.forget(rel)
			e.beside.gone(rel)
		}
		switch dir, name := split(rel); {
		case strings.EqualFold(name, ".git"):
			c.revision = true
			c.add(dir)
			scan = append(scan, dir)
		case name == ".gitignore":
			c.add(dir)
			scan = append(scan, dir)
		case rel == "." && !op.Has(fsnotify.Chmod), e.refused(rel):
		default:
			c.add(rel)
			if manyNames(abs) {
				c.all() // nobody knows the others
			}
			if op.Has(fsnotify.Create | fsnotify.Chmod) {
				scan = append(scan, rel)
			}
		}
	}
	return e.scanAll(ctx, scan)
}

// scanAll scans what is a folder or a symlink, each once.
func (e *ear) scanAll(ctx context.Context, list []string) error {
	slices.SortFunc(list, byNames)
	for i, rel := range list {
		if i > 0 && isAt(list[i-1], rel) {
			list[i] = list[i-1] // scanned with the folder above
			continue
		}
		fi, err := os.Lstat(filepath.Join(e.w.Root(), filepath.FromSlash(rel)))
		if err != nil || fi.Mode().IsRegular() {
			continue
		}
		if err := e.scan(ctx, rel); err != nil {
			return err
		}
	}
	return nil
}

func (e *ear) refused(rel string) bool {
	_, err := e.w.Resolve(rel)
	return err != nil
}

// relative gives the path of an event relative to the root.
func (e *ear) relative(abs string) (string, bool) {
	rel, err := filepath.Rel(e.w.Root(), abs)
	rel = filepath.ToSlash(rel)
	return rel, err == nil && rel != ".." && !strings.HasPrefix(rel, "../")
}

// byNames sorts folders right before what is in them.
func byNames(a, b string) int { return slices.Compare(strings.Split(a, "/"), strings.Split(b, "/")) }

// isAt says whether a path is another one or lies below it.
func isAt(above, rel string) bool {
	rest, ok := strings.CutPrefix(rel, above)
	return above == "." || ok && (rest == "" || rest[0] == '/')
}

func split(rel string) (dir, name string) {
	if i := strings.LastIndexByte(rel, '/'); i >= 0 {
		return rel[:i], rel[i+1:]
	}
	return ".", rel
}
