package tool

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// oneLine shows a name on one line: as it is, unless it holds something that would break the line or mislead a reader.
func oneLine(name string) string {
	for _, r := range name {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' || r == unicode.ReplacementChar {
			return strconv.Quote(name)
		}
	}
	return name
}

// skipped says what was left out: "3 ignored, 1 refused".
func skipped(counts map[string]int) string {
	var parts []string
	for _, reason := range slices.Sorted(maps.Keys(counts)) {
		if counts[reason] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", counts[reason], reason))
		}
	}
	return strings.Join(parts, ", ")
}
