package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/ctxd/ctxd/gen/tool"
	"github.com/ctxd/ctxd/internal/jsondoc"
)

// maxInput bounds what is read for an argument, in bytes: what stdio and the server take at most.
const maxInput = 16 << 20

// parameter is what the input schema says of one parameter.
type parameter struct {
	Type  string `json:"type"`
	Items struct {
		Type string `json:"type"`
	} `json:"items"`
	Enum []string `json:"enum"`
}

func parameters(name string) map[string]parameter {
	i := slices.IndexFunc(tool.Specs, func(t tool.Spec) bool { return t.Name == name })
	if i < 0 {
		return nil
	}
	var in struct {
		Properties map[string]parameter `json:"properties"`
	}
	if err := json.Unmarshal(tool.Specs[i].Input, &in); err != nil {
		return nil // the schemas of built-in tools are admitted, or nothing starts
	}
	return in.Properties
}

// argumentReader reads the arguments of one call.
type argumentReader struct {
	known map[string]parameter
	out   map[string]any
	whole map[string]bool // keys that have their value: a second one would silently win
	stdin io.Reader       // nil once it was read
}

// readArguments reads --args, then KEY=VALUE and KEY:=JSON by the types of the tool. What the tool does not know is passed on as
// text: the pipeline says what is wrong with it.
func (c *command) readArguments(name, all string, words []string) ([]byte, error) {
	r := &argumentReader{known: parameters(name), out: map[string]any{}, whole: map[string]bool{}, stdin: c.Stdin}
	if all != "" {
		if err := r.object(all); err != nil {
			return nil, err
		}
	}
	for _, w := range words {
		if err := r.word(w); err != nil {
			return nil, err
		}
	}
	return jsondoc.Canonical(r.out), nil
}

// object reads --args: JSON, @FILE or -.
func (r *argumentReader) object(all string) error {
	text := []byte(all)
	if file, ok := strings.CutPrefix(all, "@"); ok || all == "-" {
		if !ok {
			file = "-"
		}
		var err error
		if text, err = r.read(file); err != nil {
			return err
		}
	}
	o, err := jsondoc.DecodeObject(text)
	if err != nil {
		return usage{fmt.Errorf("--args: %w", err)}
	}
	for key, v := range o {
		r.out[key], r.whole[key] = v, true
	}
	return nil
}

func (r *argumentReader) word(w string) error {
	name, value, ok := strings.Cut(w, "=")
	key := strings.TrimSuffix(name, ":")
	if !ok || key == "" {
		return usage{fmt.Errorf("%q is neither KEY=VALUE nor KEY:=JSON", w)}
	}
	isJSON, p := key != name, r.known[key]
	if _, there := r.out[key]; there && (isJSON || r.whole[key] || p.Type != "array") {
		return usage{fmt.Errorf("%s stands twice", key)}
	}
	value, err := r.value(value)
	if err != nil {
		return err
	}
	switch r.whole[key] = isJSON; {
	case isJSON:
		v, err := jsondoc.Decode([]byte(value))
		if err != nil {
			return usage{fmt.Errorf("%s: %w", key, err)}
		}
		r.out[key] = v
	case p.Type != "array":
		r.out[key] = typed(p.Type, value)
	default:
		list, _ := r.out[key].([]any)
		r.out[key] = append(list, typed(p.Items.Type, value))
	}
	return nil
}

// value gives a text, or what the file holds that it names.
func (r *argumentReader) value(text string) (string, error) {
	file, ok := strings.CutPrefix(text, "@")
	if !ok || strings.HasPrefix(file, "@") {
		return file, nil // of two @ the second one
	}
	raw, err := r.read(file)
	if err == nil && !utf8.Valid(raw) {
		err = usage{fmt.Errorf("%s is no text in UTF-8", file)}
	}
	return string(raw), err
}

func (r *argumentReader) read(file string) ([]byte, error) {
	if file != "-" {
		return readAll(file, nil)
	}
	if r.stdin == nil {
		return nil, usage{errors.New("stdin stands twice")}
	}
	raw, err := readAll("stdin", r.stdin)
	r.stdin = nil
	return raw, err
}

// readAll reads a file, or else what is given.
func readAll(name string, from io.Reader) ([]byte, error) {
	if from == nil {
		info, err := os.Stat(name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil, usage{fmt.Errorf("there is no file %q (@FILE is what a file holds, @@ begins a text with an @)", name)}
		case err == nil && info.IsDir():
			return nil, usage{fmt.Errorf("%s is a folder", name)}
		}
		f, err := os.Open(name)
		if err != nil {
			return nil, usage{err}
		}
		defer f.Close()
		from = f
	}
	raw, err := io.ReadAll(io.LimitReader(from, maxInput+1))
	if err == nil && len(raw) > maxInput {
		err = usage{fmt.Errorf("%s holds more than %d bytes", name, maxInput)}
	}
	return raw, err
}

// typed reads a word as a type of JSON; what does not fit stays text, for the schema to refuse.
func typed(kind, text string) any {
	switch kind {
	case "integer", "number", "boolean":
		if v, err := jsondoc.Decode([]byte(text)); err == nil {
			return v
		}
	}
	return text
}
