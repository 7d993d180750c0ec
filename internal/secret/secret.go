// Package secret finds secrets in text and puts a marker into their place: for what observers see, such as events and logs
// (tools.md T9). Files that a permitted caller reads never pass through it.
//
// It prefers to miss one over damaging text: a value counts by its shape, or by the name that it is given together with how it
// looks. It imports only jsondoc; eventlog and cli use it.
package secret

import (
	"math"
	"regexp"
	"strings"

	"github.com/ctxd/ctxd/internal/jsondoc"
)

// Marker stands where a secret was.
const Marker = "[redacted]"

// rule finds one kind of secret. The first group of its pattern, or else all of it, is the secret.
type rule struct {
	triggers []string // in lower case; a text without any of them has no match
	pattern  *regexp.Regexp
	judge    func(match []string) bool // nil: every match is one
}

// shape is a rule for what can be nothing else.
func shape(pattern string, triggers ...string) rule {
	return rule{triggers, regexp.MustCompile(pattern), nil}
}

// names end what a secret is assigned to.
var names = []string{"password", "passwords", "passwd", "passphrase", "secret", "token", "key"}

var rules = []rule{
	shape(`-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?s:.*?)(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|\z)`, "private key"),
	shape(`\bAGE-SECRET-KEY-1[A-Z0-9]{58}\b`, "age-secret-key-"),
	shape(`\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}\b`, "akia", "asia", "abia", "acca"),
	shape(`\bgh[pousr]_[A-Za-z0-9]{36,255}\b`, "ghp_", "gho_", "ghu_", "ghs_", "ghr_"),
	shape(`\bgithub_pat_[A-Za-z0-9_]{50,255}\b`, "github_pat_"),
	shape(`\bgl(?:pat|ptt|dt|rt|cbt)-[A-Za-z0-9_-]{20,255}`, "glpat-", "glptt-", "gldt-", "glrt-", "glcbt-"),
	shape(`\bxox[abeoprs]-[A-Za-z0-9-]{10,255}`, "xox"),
	shape(`\bhooks\.slack\.com/services/([A-Za-z0-9]+/[A-Za-z0-9]+/[A-Za-z0-9]{16,})`, "hooks.slack.com"),
	shape(`\b[rs]k_(?:live|test)_[A-Za-z0-9]{16,255}\b`, "k_live_", "k_test_"),
	shape(`\bAIza[A-Za-z0-9_-]{35}\b`, "aiza"),
	shape(`\bya29\.[A-Za-z0-9_-]{20,}`, "ya29."),
	shape(`\bnpm_[A-Za-z0-9]{36}\b`, "npm_"),
	shape(`\bpypi-[A-Za-z0-9_-]{50,}`, "pypi-"),
	shape(`\bhf_[A-Za-z0-9]{30,}\b`, "hf_"),
	shape(`\bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}`, "sg."),
	shape(`\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}`, "eyj"),
	shape(`\bAccountKey=([A-Za-z0-9+/]{60,}={0,2})`, "accountkey="),
	{[]string{"sk-"}, regexp.MustCompile(`\bsk-[A-Za-z0-9_-]{20,255}`), func(m []string) bool { return mixed(m[0][3:]) }},
	{[]string{"authorization", "bearer"}, regexp.MustCompile(`(?i)\b(?:authorization["']?\s*[:=]\s*["']?(?:bearer|basic|token)|bearer)\s+([A-Za-z0-9._~+/-]{12,}=*)`),
		func(m []string) bool { return mixed(m[1]) }},
	{[]string{"://"}, regexp.MustCompile(`\b[A-Za-z][A-Za-z0-9+.-]{1,20}://([^\s:/@"'<>{}$]{0,100}):([^\s/@"'<>{}$]{3,200})@`),
		func(m []string) bool { return m[1] != m[2] && !placeholder(m[2]) }},
	{names,
		regexp.MustCompile("(?i)([a-z0-9_.-]*(?:passwords?|passwd|passphrase|secret|token|(?:api|access|auth|account|private|encryption|signing)[_-]?key))" +
			"[\"']?\\s*(?::=|=>|[:=])\\s*(?:\"([^\"\\s]{8,200})\"|'([^'\\s]{8,200})'|([^\\s\"'`,;(){}\\[\\]<>$|&]{12,200}))"), assigned},
}

// Mask gives a text with a marker in the place of each secret, and the text itself where there is none.
func Mask(text string) string {
	lower := strings.ToLower(text)
	for _, r := range rules {
		if r.triggered(lower) {
			text = r.mask(text)
		}
	}
	return text
}

func (r rule) triggered(lower string) bool {
	named := &r.triggers[0] == &names[0]
	for _, t := range r.triggers {
		for rest := lower; ; {
			i := strings.Index(rest, t)
			if i < 0 {
				break
			}
			if rest = rest[i+len(t):]; !named || rest != "" && strings.IndexByte("\"' \t:=", rest[0]) >= 0 {
				return true // a name ends here, and is no part of another one
			}
		}
	}
	return false
}

func (r rule) mask(text string) string {
	found := r.pattern.FindAllStringSubmatchIndex(text, -1)
	if found == nil {
		return text
	}
	var b strings.Builder
	done := 0
	for _, at := range found {
		match := make([]string, len(at)/2)
		start, end := at[0], at[1]
		for i := range match {
			if at[2*i] < 0 {
				continue
			}
			match[i] = text[at[2*i]:at[2*i+1]]
			if i > 0 {
				start, end = at[2*i], at[2*i+1] // the last group that is there
			}
		}
		if r.judge != nil && !r.judge(match) {
			continue
		}
		b.WriteString(text[done:start])
		b.WriteString(Marker)
		done = end
	}
	if done == 0 {
		return text
	}
	b.WriteString(text[done:])
	return b.String()
}

// assigned judges a value by its name and by how it looks. A quoted password may be short; all else has to look drawn by lot.
func assigned(m []string) bool {
	name, quoted, bare := strings.ToLower(m[1]), m[2]+m[3], m[4]
	value := quoted + bare
	if placeholder(value) || strings.Contains(value, Marker) {
		return false
	}
	if bare != "" && identifier.MatchString(bare) && digits(bare) < 4 {
		return false // a variable, a type, a function
	}
	if quoted != "" && strings.Contains(name, "pass") {
		return digits(value) > 0 && letters(value) > 0
	}
	return mixed(value)
}

// identifier is a name of a program, qualified or not.
var identifier = regexp.MustCompile(`^[*&!]?[A-Za-z_][A-Za-z0-9_]*(?:(?:\.|::|->)[A-Za-z_][A-Za-z0-9_]*)*[.:]?$`)

// placeholder says whether a value only shows where one would stand.
func placeholder(v string) bool {
	lower := strings.ToLower(strings.Trim(v, "*.-_"))
	if strings.ContainsAny(v, "<>${}%") || len(strings.Trim(lower, "x")) == 0 || strings.Count(v, v[:1]) == len(v) {
		return true
	}
	for _, word := range []string{
		"example", "changeme", "placeholder", "your", "secret", "password", "passwd", "token", "dummy", "redacted", "process.env", "os.environ", "getenv", "...", "…", "xxxx",
	} {
		if strings.Contains(lower, word) {
			return true
		}
	}
	return lower == "pass" || lower == "pwd"
}

// mixed says whether a value looks drawn by lot: long, of letters and digits among each other, and with little repeated.
func mixed(v string) bool {
	if len(v) < 12 || digits(v) < 2 || letters(v) < 4 || version.MatchString(v) {
		return false
	}
	return entropy(v) >= 3.2 && changes(v) >= 4
}

// version is what looks mixed and is no secret: versions, dates, UUIDs, hashes, paths, host names.
var version = regexp.MustCompile(`^(?:[vV]?\d+(?:[.-]\w+)+|\d{4}-\d\d-\d\d.*|[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}|(?:sha\d+:)?[0-9a-f]{40}(?:[0-9a-f]{24})?|(?:\.{0,2}/)?[\w.-]+(?:/[\w.-]+)+/?|[a-z]+(?:[.-][a-z]+)+\d*)$`)

func digits(s string) int {
	return count(s, func(c byte) bool { return '0' <= c && c <= '9' })
}

func letters(s string) int {
	return count(s, func(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' })
}

func count(s string, is func(byte) bool) (n int) {
	for i := range len(s) {
		if is(s[i]) {
			n++
		}
	}
	return n
}

// changes counts how often a letter follows a digit, or a digit a letter, or the case changes.
func changes(s string) (n int) {
	kind := func(c byte) int {
		switch {
		case '0' <= c && c <= '9':
			return 1
		case 'a' <= c && c <= 'z':
			return 2
		case 'A' <= c && c <= 'Z':
			return 3
		default:
			return 0
		}
	}
	for i := 1; i < len(s); i++ {
		if a, b := kind(s[i-1]), kind(s[i]); a != b && a > 0 && b > 0 {
			n++
		}
	}
	return n
}

// entropy of the bytes of a text, in bits for each (Shannon).
func entropy(s string) (bits float64) {
	var n [256]float64
	for i := range len(s) {
		n[s[i]]++
	}
	for _, c := range n {
		if c > 0 {
			p := c / float64(len(s))
			bits -= p * math.Log2(p)
		}
	}
	return bits
}

// MaskJSON is Mask for every text in a JSON document, names included; the document itself where there is nothing to mask. What
// is no JSON is masked as a text.
func MaskJSON(raw []byte) []byte {
	if text := string(raw); !strings.Contains(text, `\`) && Mask(text) == text {
		return raw
	}
	v, err := jsondoc.Decode(raw)
	if err != nil {
		return []byte(Mask(string(raw)))
	}
	changed := false
	if v = walk("", v, &changed); !changed {
		return raw
	}
	return jsondoc.Canonical(v)
}

// walk masks a value. name is that of the member that holds it: what it says counts as in an assignment.
func walk(name string, v any, changed *bool) any {
	switch v := v.(type) {
	case string:
		text := Mask(v)
		if set := name + `="` + v + `"`; name != "" && text == v && Mask(set) != set {
			text = Marker
		}
		*changed = *changed || text != v
		return text
	case []any:
		for i := range v {
			v[i] = walk(name, v[i], changed)
		}
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, e := range v {
			masked := Mask(k)
			*changed = *changed || masked != k
			out[masked] = walk(k, e, changed)
		}
		return out
	}
	return v
}
