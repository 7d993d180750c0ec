package tool

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/ctxd/ctxd/gen/catalog"
	"github.com/ctxd/ctxd/internal/contract"
	"github.com/ctxd/ctxd/internal/fault"
)

// readMode is a mode of ctx_read, understood.
type readMode struct {
	name   string      // auto | full | lines | diff | reference; of a section also unchanged, never auto
	shown  string      // as it is named to the caller: lines:1-3,12
	ranges []lineRange // of lines
}

// lineRange is a range of line numbers, both ends included; last 0: to the end.
type lineRange struct{ first, last int }

// maxRanges bounds how many ranges a lines: mode lists.
const maxRanges = 256

// parseMode reads the mode and its older spelling, start_line and end_line. Fault reasons: bad_mode.
func parseMode(mode string, start, end *int) (readMode, error) {
	if start != nil || end != nil {
		if mode != "auto" && mode != "full" && mode != "lines" {
			return readMode{}, fault.Tool("bad_mode", "start_line and end_line go with mode lines, full or auto, not with %q", mode)
		}
		return window(start, end)
	}
	switch {
	case mode == "auto" || mode == "full" || mode == "reference" || mode == "diff":
		return readMode{name: mode, shown: mode}, nil
	case strings.HasPrefix(mode, "lines:"):
		ranges, err := parseLines(strings.TrimPrefix(mode, "lines:"))
		if err != nil {
			return readMode{}, err
		}
		return readMode{name: "lines", shown: showLines(ranges), ranges: ranges}, nil
	}
	return readMode{}, unknownMode(mode)
}

func unknownMode(mode string) error {
	var known []string
	for _, m := range catalog.ReadModes {
		known = append(known, m.Mode)
	}
	if near := contract.Nearest(mode, known); near != "" && near != mode {
		return fault.Tool("bad_mode", "there is no mode %q; did you mean %s?", mode, near)
	}
	return fault.Tool("bad_mode", "there is no mode %q; there are %s", mode, strings.Join(known, ", "))
}

func window(start, end *int) (readMode, error) {
	r := lineRange{first: 1}
	if start != nil {
		r.first = *start
	}
	if end != nil {
		if r.last = *end; r.last < r.first {
			return readMode{}, fault.Tool("bad_mode", "end_line %d is before start_line %d", r.last, r.first)
		}
	}
	ranges := []lineRange{r}
	return readMode{name: "lines", shown: showLines(ranges), ranges: ranges}, nil
}

// parseLines reads 7, 5-20, 100- and lists of these, separated by commas.
func parseLines(text string) ([]lineRange, error) {
	var out []lineRange
	for part := range strings.SplitSeq(text, ",") {
		r, ok := parseRange(strings.TrimSpace(part))
		if !ok || len(out) >= maxRanges {
			return nil, fault.Tool("bad_mode", "%q is no list of lines; write lines:7, lines:5-20, lines:100- or lines:1,30-40", "lines:"+text)
		}
		out = append(out, r)
	}
	return out, nil
}

func parseRange(text string) (r lineRange, ok bool) {
	first, last, isRange := strings.Cut(text, "-")
	if r.first, ok = lineNumber(first); !ok {
		return r, false
	}
	switch {
	case !isRange:
		r.last = r.first
	case last != "":
		if r.last, ok = lineNumber(last); !ok || r.last < r.first {
			return r, false
		}
	}
	return r, true
}

func lineNumber(text string) (int, bool) {
	n, err := strconv.Atoi(text)
	return n, err == nil && n >= 1 && n <= 1<<31-1 && text[0] != '+'
}

func showLines(ranges []lineRange) string {
	var parts []string
	for _, r := range ranges {
		switch {
		case r.last == 0:
			parts = append(parts, fmt.Sprintf("%d-", r.first))
		case r.first == r.last:
			parts = append(parts, strconv.Itoa(r.first))
		default:
			parts = append(parts, fmt.Sprintf("%d-%d", r.first, r.last))
		}
	}
	return "lines:" + strings.Join(parts, ",")
}
