package revision

import (
	"bytes"
	"errors"
	"strings"
)

// maxConfig bounds a repository's configuration file in bytes.
const maxConfig = 1 << 20

var errConfig = errors.New("not a configuration file of git")

// config holds what a configuration file sets in sections without a second name, as "core.bare", the last word counting.
// Files that it includes do not count, nor do other files.
type config map[string]string

// parseConfig reads a configuration file as git does.
func parseConfig(b []byte) (config, error) {
	p := &configParser{b: bytes.TrimPrefix(b, []byte("\xef\xbb\xbf")), out: config{}}
	for {
		p.skip(" \t\r\n")
		if p.end() {
			return p.out, nil
		}
		switch p.b[p.at] {
		case '#', ';':
			p.line()
		case '[':
			if !p.section() {
				return nil, errConfig
			}
		default:
			if !p.setting() {
				return nil, errConfig
			}
		}
	}
}

// configParser stands at a byte of a configuration file.
type configParser struct {
	b   []byte
	at  int
	in  string // section
	out config
}

func (p *configParser) end() bool { return p.at >= len(p.b) }

func (p *configParser) skip(set string) {
	for !p.end() && strings.IndexByte(set, p.b[p.at]) >= 0 {
		p.at++
	}
}

func (p *configParser) line() {
	for !p.end() && p.b[p.at] != '\n' {
		p.at++
	}
}

// section reads "[core]"; `[remote "origin"]` gets a name that no setting of ours has.
func (p *configParser) section() bool {
	start, quoted := p.at+1, false
	for p.at++; !p.end() && p.b[p.at] != '\n'; p.at++ {
		switch c := p.b[p.at]; {
		case c == '"':
			quoted = !quoted
		case c == '\\' && quoted:
			p.at++
		case c == ']' && !quoted:
			p.in = strings.ToLower(string(p.b[start:p.at]))
			p.at++
			return p.in != ""
		}
	}
	return false
}

// setting reads "name = value", or "name" alone, which is true.
func (p *configParser) setting() bool {
	start := p.at
	for !p.end() && isNameByte(p.b[p.at]) {
		p.at++
	}
	name := strings.ToLower(string(p.b[start:p.at]))
	p.skip(" \t")
	if name == "" || p.in == "" || name[0] == '-' || name[0] >= '0' && name[0] <= '9' {
		return false
	}
	value := "true"
	switch {
	case p.end() || p.b[p.at] == '\n': // git takes no comment here
	case p.b[p.at] == '=':
		p.at++
		var ok bool
		if value, ok = p.value(); !ok {
			return false
		}
	case bytes.HasPrefix(p.b[p.at:], []byte("\r\n")):
	default:
		return false
	}
	p.out[p.in+"."+name] = value
	return true
}

func isNameByte(c byte) bool {
	return c == '-' || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z'
}

// value reads to the end of the line: quotes, escapes, lines that go on, comments; blanks around it do not count.
func (p *configParser) value() (string, bool) {
	var out []byte
	keep, quoted := 0, false // bytes of out that stay whatever follows
	p.skip(" \t")
	for ; !p.end(); p.at++ {
		switch c := p.b[p.at]; {
		case c == '\n' || c == '\r' && bytes.HasPrefix(p.b[p.at:], []byte("\r\n")):
			return string(out[:keep]), !quoted
		case c == '"':
			quoted = !quoted
		case (c == '#' || c == ';') && !quoted:
			p.line()
			return string(out[:keep]), true
		case c == '\\':
			c, ok := p.escape()
			if !ok {
				return "", false
			}
			out = append(out, c...)
			keep = len(out)
		case (c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f') && !quoted:
			out = append(out, c)
		default:
			out = append(out, c)
			keep = len(out)
		}
	}
	return string(out[:keep]), !quoted
}

// escape reads what follows a backslash, and stays on its last byte; a line end joins two lines.
func (p *configParser) escape() (string, bool) {
	p.at++
	if bytes.HasPrefix(p.b[p.at:], []byte("\r\n")) {
		p.at++
	}
	if p.end() {
		return "", true
	}
	c, ok := map[byte]string{'\n': "", 't': "\t", 'b': "\b", 'n': "\n", '\\': `\`, '"': `"`}[p.b[p.at]]
	return c, ok
}
