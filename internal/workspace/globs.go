package workspace

import (
	"bytes"
	"strings"

	"github.com/ctxd/ctxd/internal/fault"
)

// Globs is a list of patterns in the grammar of ignore files: "*.go" at any depth, "/cmd" and "src/**/x" from the top, "x/"
// folders only, "!x" allows again. The zero value and nil match nothing.
type Globs struct {
	list []pattern
	fold bool
}

// CompileGlobs reads patterns. Unlike an ignore file, where git takes them in silence, a list refuses patterns that can match
// nothing: fault reason invalid_pattern.
func CompileGlobs(patterns []string) (*Globs, error) { return compileGlobs(patterns, false) }

func compileGlobs(patterns []string, fold bool) (*Globs, error) {
	g := &Globs{fold: fold}
	for _, s := range patterns {
		p := compile(s, fold)
		switch {
		case p.never:
			return nil, fault.Tool(InvalidPattern, "pattern %s: a bracket is not closed, its class is unknown, or a backslash "+
				"stands at the end; write \\[ and \\\\ for the characters themselves", quote(s))
		case p.prefix == "" && len(p.tail) == 0:
			return nil, fault.Tool(InvalidPattern, "pattern %s matches nothing; name something", quote(s))
		case strings.HasPrefix(s, "#"):
			return nil, fault.Tool(InvalidPattern, "pattern %s is a comment; write \\# for the character itself", quote(s))
		}
		g.list = append(g.list, p)
	}
	return g, nil
}

// Match says whether a clean relative path, or a folder that it lies in, matches. At each level the last pattern that matches
// decides; below a folder that matches, everything does.
func (g *Globs) Match(rel string, isDir bool) bool {
	if g == nil || len(g.list) == 0 || rel == "." {
		return false
	}
	if g.fold {
		rel = foldCase(rel)
	}
	for i := 0; i < len(rel); i++ {
		if rel[i] == '/' && g.one(rel[:i], true) {
			return true
		}
	}
	return g.one(rel, isDir)
}

// own judges a path by itself, for a caller who knows that no folder above it matches.
func (g *Globs) own(rel string, isDir bool) bool {
	if len(g.list) == 0 {
		return false
	}
	if g.fold {
		rel = foldCase(rel)
	}
	return g.one(rel, isDir)
}

func (g *Globs) one(rel string, isDir bool) bool {
	_, excluded := judge(g.list, rel, baseName(rel), isDir)
	return excluded
}

// judge asks a list about a path relative to the list's folder. Its last pattern that matches decides; found says whether one
// did.
func judge(list []pattern, rel, base string, isDir bool) (found, excluded bool) {
	for i := len(list) - 1; i >= 0; i-- {
		p := &list[i]
		if p.dirOnly && !isDir {
			continue
		}
		name := rel
		if p.nameOnly {
			name = base
		}
		if p.match(name) {
			return true, !p.negate
		}
	}
	return false, false
}

func baseName(rel string) string { return rel[strings.LastIndexByte(rel, '/')+1:] }

// parseIgnore reads an ignore file as git does: a BOM is skipped, one CR before LF belongs to the line's end, a NUL ends the
// line, spaces at the end go unless a backslash keeps them.
func parseIgnore(b []byte) []pattern {
	b = bytes.TrimPrefix(b, []byte("\xef\xbb\xbf"))
	var list []pattern
	for line := range bytes.Lines(b) {
		line = bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
		line, _, _ = bytes.Cut(line, []byte{0})
		if len(line) == 0 || line[0] == '#' {
			continue
		}
		list = append(list, compile(trimSpaces(string(line)), false))
	}
	return list
}

func trimSpaces(s string) string {
	end := 0 // behind the last byte that counts
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' {
			i++
		} else if s[i] == ' ' {
			continue
		}
		end = min(i+1, len(s))
	}
	return s[:end]
}
