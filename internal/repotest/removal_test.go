package repotest

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// deprecation is a row of api/catalog/deprecations.yaml.
type deprecation struct {
	Surface     string `yaml:"surface"`
	Since       string `yaml:"since"`
	Replacement string `yaml:"replacement"`
	Removal     string `yaml:"removal"`
}

// minorsKept is for how many minor releases a deprecated surface stays (http.md R8).
const minorsKept = 2

var (
	semver    = regexp.MustCompile(`^(\d+)\.(\d+)\.(\d+)$`)
	changelog = regexp.MustCompile(`(?m)^## \[?v?(\d+\.\d+\.\d+)\]?\b(.*)$`)
)

// version is major, minor, patch.
type version [3]int

func parseVersion(text string) (version, bool) {
	m := semver.FindStringSubmatch(text)
	if m == nil {
		return version{}, false
	}
	var v version
	for i := range v {
		v[i], _ = strconv.Atoi(m[i+1]) // the pattern matches digits
	}
	return v, true
}

// released are the versions that a changelog has headings of.
func released(log []byte) []string {
	var out []string
	for _, m := range changelog.FindAllStringSubmatch(string(log), -1) {
		out = append(out, m[1])
	}
	return out
}

// minorsSince counts the minor releases after a version, with the one that is being made.
func minorsSince(since version, versions []string, next version) int {
	minors := map[int]bool{}
	for _, text := range versions {
		if v, ok := parseVersion(text); ok && v[0] == since[0] && v[1] > since[1] {
			minors[v[1]] = true
		}
	}
	if next[0] == since[0] && next[1] > since[1] {
		minors[next[1]] = true
	}
	return len(minors)
}

// checkRemoved judges what was released and is gone now: it was deprecated, and long enough ago. It gives what may go.
func checkRemoved(before, now []string, rows []deprecation, versions []string, next string) (gone []string, out []problem) {
	making, ok := parseVersion(next)
	if !ok {
		return nil, []problem{{"internal/app", next + " is no version", "write it as 1.2.3"}}
	}
	for _, row := range rows {
		since, ok := parseVersion(row.Since)
		removal, ok2 := parseVersion(row.Removal)
		if !ok || !ok2 || removal[0] == since[0] && removal[1] < since[1]+minorsKept {
			out = append(out, problem{row.Surface, fmt.Sprintf("is deprecated since %s and may go in %s", row.Since, row.Removal), fmt.Sprintf("let it stay for %d minor releases", minorsKept)})
		}
	}
	for _, surface := range before {
		if slices.Contains(now, surface) {
			continue
		}
		i := slices.IndexFunc(rows, func(r deprecation) bool { return r.Surface == surface })
		if i < 0 {
			out = append(out, problem{surface, "was released, and is gone without a deprecation", "bring it back, and add a row to api/catalog/deprecations.yaml"})
			continue
		}
		since, _ := parseVersion(rows[i].Since)
		removal, _ := parseVersion(rows[i].Removal)
		n := minorsSince(since, versions, making)
		if making[0] == since[0] && (n < minorsKept || slices.Compare(making[:], removal[:]) < 0) {
			out = append(out, problem{surface, fmt.Sprintf("is deprecated since %s, and gone after %d minor releases", rows[i].Since, n), "bring it back until " + rows[i].Removal})
			continue
		}
		gone = append(gone, surface)
	}
	return gone, out
}

func TestEarlyRemovalsAreCaught(t *testing.T) {
	t.Parallel()
	log := []byte("# Changes\n\n## 1.5.0\n\nNext.\n\n## [1.4.0] - 2026-05-01\n\n## v1.3.1 - 2026-04-01\n\n## 1.3.0\n\n### 1.2.9\n\n## 1.2.0\n")
	versions := released(log)
	if want := "1.5.0 1.4.0 1.3.1 1.3.0 1.2.0"; strings.Join(versions, " ") != want {
		t.Errorf("the changelog has %v", versions)
	}
	rows := []deprecation{
		{"tool long", "1.2.0", "tool new", "1.4.0"},
		{"tool late", "1.4.0", "tool new", "1.6.0"},
		{"tool later", "1.3.0", "tool new", "1.6.0"},
		{"tool hasty", "1.3.0", "tool new", "1.4.0"},
		{"tool vague", "soon", "tool new", "1.9.0"},
	}
	before := []string{"tool kept", "tool long", "tool late", "tool later", "operation bare"}
	gone, found := checkRemoved(before, []string{"tool kept", "tool new"}, rows, versions, "1.5.0")
	catches(t, found,
		"tool hasty: is deprecated since 1.3.0 and may go in 1.4.0",
		"tool vague: is deprecated since soon",
		"tool late: is deprecated since 1.4.0, and gone after 1 minor releases",
		"tool later: is deprecated since 1.3.0, and gone after 2 minor releases",
		"operation bare: was released, and is gone without a deprecation",
	)
	if !slices.Equal(gone, []string{"tool long"}) {
		t.Errorf("may go: %v", gone)
	}
	if gone, found := checkRemoved([]string{"tool late"}, nil, rows[1:2], versions, "2.0.0"); len(gone) != 1 || len(found) != 0 {
		t.Errorf("a major release keeps %v", found)
	}
}
