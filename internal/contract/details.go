package contract

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"github.com/ctxd/ctxd/internal/fault"
)

// maxDetails bounds how many faults of one document are told.
const maxDetails = 16

// details flattens a validation error into its leaves.
func details(err error) []fault.Detail {
	var ve *jsonschema.ValidationError
	if !errors.As(err, &ve) {
		return []fault.Detail{{Message: "the document cannot be judged"}}
	}
	var out []fault.Detail
	leaves(ve, func(leaf *jsonschema.ValidationError) {
		for _, d := range explain(leaf) {
			if len(out) < maxDetails && !slices.Contains(out, d) {
				out = append(out, d)
			}
		}
	})
	slices.SortStableFunc(out, func(a, b fault.Detail) int {
		return strings.Compare(a.Pointer+"\x00"+a.Message, b.Pointer+"\x00"+b.Message)
	})
	return out
}

func leaves(e *jsonschema.ValidationError, visit func(*jsonschema.ValidationError)) {
	causes := e.Causes
	switch e.ErrorKind.(type) {
	case *kind.OneOf, *kind.AnyOf:
		if meant := slices.DeleteFunc(slices.Clone(causes), wrongForm(e)); len(meant) == 1 {
			causes = meant // one form was meant: what is wrong with the others helps nobody
		} else {
			causes = nil
		}
	}
	if len(causes) == 0 {
		visit(e)
		return
	}
	for _, c := range causes {
		leaves(c, visit)
	}
}

// wrongForm says whether a form of a oneOf was not meant: the value has another type, or another word in the member that tells
// the forms apart, which is the one whose word is wrong in most of them.
func wrongForm(choice *jsonschema.ValidationError) func(*jsonschema.ValidationError) bool {
	depth := len(choice.InstanceLocation)
	votes := map[string]int{}
	for _, form := range choice.Causes {
		for name := range wrongWords(form, depth) {
			votes[name]++
		}
	}
	tag := ""
	for _, name := range slices.Sorted(maps.Keys(votes)) {
		if tag == "" || votes[name] > votes[tag] {
			tag = name
		}
	}
	return func(form *jsonschema.ValidationError) bool {
		return wrongType(form, depth) || wrongWords(form, depth)[tag]
	}
}

// wrongWords are the members of a value at a depth that have a word which its form does not allow.
func wrongWords(e *jsonschema.ValidationError, depth int) map[string]bool {
	out := map[string]bool{}
	switch e.ErrorKind.(type) {
	case *kind.Const, *kind.Enum:
		if len(e.InstanceLocation) == depth+1 {
			out[e.InstanceLocation[depth]] = true
		}
	case *kind.OneOf, *kind.AnyOf: // its forms are another choice
	default:
		for _, c := range e.Causes {
			maps.Copy(out, wrongWords(c, depth))
		}
	}
	return out
}

func wrongType(e *jsonschema.ValidationError, depth int) bool {
	if _, ok := e.ErrorKind.(*kind.Type); ok {
		return len(e.InstanceLocation) == depth
	}
	return slices.ContainsFunc(e.Causes, func(c *jsonschema.ValidationError) bool { return wrongType(c, depth) })
}

// explain says in our words what is wrong at one place. Values are not repeated: they may be long, or secret.
func explain(e *jsonschema.ValidationError) []fault.Detail {
	at := pointer(e.InstanceLocation)
	one := func(format string, args ...any) []fault.Detail {
		return []fault.Detail{{Pointer: at, Reason: reason(e.ErrorKind), Message: fmt.Sprintf(format, args...)}}
	}
	switch k := e.ErrorKind.(type) {
	case *kind.AdditionalProperties:
		var out []fault.Detail
		for _, name := range k.Properties {
			out = append(out, fault.Detail{Pointer: at + pointer([]string{name}), Reason: "unknown", Message: fmt.Sprintf("%q is unknown", name)})
		}
		return out
	case *kind.Required:
		var out []fault.Detail
		for _, name := range k.Missing {
			out = append(out, fault.Detail{Pointer: at, Reason: "missing", Message: fmt.Sprintf("%q is missing", name)})
		}
		return out
	case *kind.Type:
		return one("must be of type %s, is of type %s", strings.Join(k.Want, " or "), k.Got)
	case *kind.Enum:
		return one("must be one of %s", list(k.Want))
	case *kind.Const:
		return one("must be %v", k.Want)
	case *kind.Pattern:
		return one("must match %s", k.Want)
	case *kind.Format:
		return one("must be a %s", k.Want)
	case *kind.MinLength:
		return one("must have at least %d characters, has %d", k.Want, k.Got)
	case *kind.MaxLength:
		return one("must have at most %d characters, has %d", k.Want, k.Got)
	case *kind.MinItems:
		return one("must have at least %d elements, has %d", k.Want, k.Got)
	case *kind.MaxItems:
		return one("must have at most %d elements, has %d", k.Want, k.Got)
	case *kind.Not:
		return []fault.Detail{{Pointer: at, Reason: "not", Message: "is one of the values that are excluded"}}
	case *kind.Minimum:
		return one("must be at least %s", k.Want.RatString())
	case *kind.Maximum:
		return one("must be at most %s", k.Want.RatString())
	case *kind.OneOf, *kind.AnyOf:
		return one("has none of the forms that it may have")
	default:
		return one("%s", e.ErrorKind.LocalizedString(message.NewPrinter(language.English)))
	}
}

// reason is the keyword that was broken.
func reason(k jsonschema.ErrorKind) string {
	path := k.KeywordPath()
	if len(path) == 0 {
		return "invalid"
	}
	return strings.ToLower(path[0])
}

func list(values []any) string {
	words := make([]string, len(values))
	for i, v := range values {
		words[i] = fmt.Sprint(v)
	}
	return strings.Join(words, ", ")
}

// pointer writes a JSON pointer (RFC 6901).
func pointer(path []string) string {
	var b strings.Builder
	for _, p := range path {
		b.WriteString("/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(p))
	}
	return b.String()
}

// Nearest is the candidate that a mistyped name most likely meant, or "": at most a third of its letters differ.
func Nearest(name string, candidates []string) string {
	best, distance := "", len(name)/3+1
	for _, c := range candidates {
		if d := edits(strings.ToLower(name), strings.ToLower(c), distance); d <= distance && (d < distance || best == "") {
			best, distance = c, d
		}
	}
	return best
}

// edits is the number of letters to add, drop, change or swap with their neighbour (optimal string alignment), or more than
// limit where it is more.
func edits(a, b string, limit int) int {
	if len(a)-len(b) > limit || len(b)-len(a) > limit || len(a) > 64 || len(b) > 64 {
		return limit + 1
	}
	rows := [3][]int{make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)}
	for j := range rows[1] {
		rows[1][j] = j
	}
	for i := 1; i <= len(a); i++ {
		before, last, row := rows[(i-1)%3], rows[i%3], rows[(i+1)%3]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
	}
	return rows[(len(a)+1)%3][len(b)]
}
