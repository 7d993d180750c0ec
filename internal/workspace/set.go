package workspace

import "errors"

// Set holds the workspaces of a server by id. It is filled before it is used.
type Set struct {
	byID  map[string]*Workspace
	order []string
	def   string
}

// NewSet makes an empty set whose default is the workspace of that id.
func NewSet(def string) *Set { return &Set{byID: map[string]*Workspace{}, def: def} }

// Add adds a workspace; its id must be new.
func (s *Set) Add(w *Workspace) {
	s.byID[w.ID()] = w
	s.order = append(s.order, w.ID())
}

// Get gives the workspace of an id, or nil.
func (s *Set) Get(id string) *Workspace { return s.byID[id] }

// Default is the id of the default workspace.
func (s *Set) Default() string { return s.def }

// IDs are the ids in the order in which they were added.
func (s *Set) IDs() []string { return append([]string(nil), s.order...) }

// Close closes all of them. Twice is fine.
func (s *Set) Close() error {
	var errs []error
	for _, id := range s.order {
		errs = append(errs, s.byID[id].Close())
	}
	return errors.Join(errs...)
}
