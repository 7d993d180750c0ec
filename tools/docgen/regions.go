package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ctxd/ctxd/tools/internal/doc"
	"github.com/ctxd/ctxd/tools/internal/sources"
)

// regions are the tables by the name of their region.
var regions = map[string]func(*sources.Sources) string{
	"capabilities-top-level-keys": capabilityKeys,
	"configuration":               configuration,
	"deprecations":                deprecations,
	"errors":                      errors,
	"events":                      events,
	"features":                    features,
	"metrics":                     metrics,
	"read-modes":                  readModes,
	"routes":                      routes,
	"scopes":                      scopes,
	"tools":                       tools,
}

// table writes a Markdown table.
func table(head []string, rows [][]string) string {
	var b strings.Builder
	line := func(cells []string) {
		for i, c := range cells {
			if c == "" {
				c = "–"
			}
			cells[i] = strings.ReplaceAll(strings.Join(strings.Fields(c), " "), "|", `\|`)
		}
		b.WriteString("| " + strings.Join(cells, " | ") + " |\n")
	}
	line(head)
	b.WriteString("|" + strings.Repeat("---|", len(head)) + "\n")
	for _, r := range rows {
		line(r)
	}
	return b.String()
}

func code(s string) string {
	if s == "" {
		return ""
	}
	return "`" + s + "`"
}

func codes(list []string) string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = code(s)
	}
	return strings.Join(out, ", ")
}

func capabilityKeys(s *sources.Sources) string {
	return strings.Join(s.Schema("capabilities.schema.json").Doc.Object("properties").Keys(), ", ") + "\n"
}

func errors(s *sources.Sources) string {
	var rows [][]string
	for _, e := range s.Errors {
		rows = append(rows, []string{fmt.Sprint(e.Status), code(e.Code), e.When, e.Mend, map[bool]string{true: "yes", false: "no"}[e.Retryable]})
	}
	return table([]string{"status", "code", "when", "how to mend it", "retryable"}, rows)
}

func scopes(s *sources.Sources) string {
	var rows [][]string
	for _, r := range s.Scopes {
		var uses []string
		for _, t := range s.Tools {
			for _, c := range t.Capabilities {
				if slices.Contains(c.Scopes, r.Scope) {
					uses = append(uses, call(t, c))
				}
			}
		}
		paths := s.OpenAPI.Object("paths")
		for _, p := range paths.Keys() {
			for _, m := range paths.Object(p).Keys() {
				if slices.Contains(paths.Object(p).Object(m).Strings("x-scopes"), r.Scope) {
					uses = append(uses, strings.ToUpper(m)+" "+p)
				}
			}
		}
		rows = append(rows, []string{code(r.Scope), r.Grants, codes(uses)})
	}
	return table([]string{"scope", "grants", "needed by"}, rows)
}

func call(t *sources.Tool, c *sources.Capability) string {
	if c.Action == "" {
		return t.Name
	}
	return t.Name + " action=" + c.Action
}

func events(s *sources.Sources) string {
	var rows [][]string
	for _, e := range s.Events {
		rows = append(rows, []string{code(e.Kind), e.Consistency, e.Role, e.When})
	}
	return table([]string{"kind", "consistency", "role", "when"}, rows)
}

func metrics(s *sources.Sources) string {
	var rows [][]string
	for _, m := range s.Metrics {
		rows = append(rows, []string{code(m.Name), m.Surface, m.Type, m.Unit, codes(m.Labels), m.Help})
	}
	return table([]string{"name", "surface", "type", "unit", "labels", "meaning"}, rows)
}

func deprecations(s *sources.Sources) string {
	if len(s.Deprec) == 0 {
		return "Nothing is deprecated.\n"
	}
	var rows [][]string
	for _, d := range s.Deprec {
		rows = append(rows, []string{code(d.Surface), d.Since, d.Replacement, d.Removal})
	}
	return table([]string{"surface", "since", "use instead", "removed in, at the earliest"}, rows)
}

func readModes(s *sources.Sources) string {
	var rows [][]string
	for _, m := range s.ReadModes {
		rows = append(rows, []string{code(m.Mode), m.Gives, m.Fidelity})
	}
	return table([]string{"mode", "gives", "fidelity"}, rows)
}

func tools(s *sources.Sources) string {
	var rows [][]string
	for _, t := range s.Tools {
		for _, c := range t.Capabilities {
			rows = append(rows, []string{code(call(t, c)), code(c.ID), codes(c.Scopes), codes(c.SideEffects), c.Doc().String("description")})
		}
	}
	return table([]string{"call", "capability", "scopes", "side effects", "what it does"}, rows)
}

func routes(s *sources.Sources) string {
	var rows [][]string
	paths := s.OpenAPI.Object("paths")
	for _, p := range paths.Keys() {
		for _, m := range paths.Object(p).Keys() {
			op := paths.Object(p).Object(m)
			auth := "token"
			if sec, ok := op.Get("security").([]any); ok && len(sec) == 0 {
				auth = "none"
			}
			if sc := op.Strings("x-scopes"); len(sc) > 0 {
				auth = "token with " + codes(sc)
			}
			rows = append(rows, []string{strings.ToUpper(m), code(p), auth, op.String("x-contract"), op.String("summary")})
		}
	}
	return table([]string{"method", "path", "needs", "contract", "what"}, rows)
}

func features(s *sources.Sources) string {
	props := s.Schema("capabilities.schema.json").Doc.Object("$defs").Object("Features").Object("properties")
	var rows [][]string
	for _, name := range props.Keys() {
		rows = append(rows, []string{code(name), props.Object(name).String("description")})
	}
	return table([]string{"flag", "is true when"}, rows)
}

func configuration(s *sources.Sources) string {
	props := s.Schema("config.schema.json").Doc.Object("properties")
	var rows [][]string
	for _, name := range props.Keys() {
		p := props.Object(name)
		if strings.HasPrefix(name, "$") {
			continue
		}
		flag, env := "", ""
		if f := p.String("x-flag"); f != "" {
			flag, env = "--"+f, "CTXD_"+strings.ToUpper(strings.ReplaceAll(f, "-", "_"))
		}
		def := ""
		if p.Has("default") {
			def = string(doc.Compact(p.Get("default")))
		}
		if len(def) > 40 {
			def = "see the schema"
		} else {
			def = code(def)
		}
		rows = append(rows, []string{code(name), code(flag), code(env), def, p.String("description")})
	}
	return table([]string{"key", "flag", "environment", "default", "meaning"}, rows)
}
