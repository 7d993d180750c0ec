// Package config turns flags, environment, a file and the defaults of schemas/config.schema.json into one configuration,
// and remembers where each value came from.
//
// It is pure: it reads no environment, no flags and no file; app and cli hand it what they have read.
package config

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/ctxd/ctxd/gen/catalog"
	"github.com/ctxd/ctxd/gen/schema"
	"github.com/ctxd/ctxd/internal/contract"
	"github.com/ctxd/ctxd/internal/fault"
	"github.com/ctxd/ctxd/internal/jsondoc"
)

// Layer is one source of values. Later layers win over earlier ones.
type Layer struct {
	Name   string // file, environment, flag
	Values map[string]any
}

// Config is a configuration in force. It does not change.
type Config struct {
	schema.Config
	values  map[string]any
	sources map[string]string
}

// Merge puts the layers over the defaults and judges the result. Faults are invalid_request, with a detail for each value
// at fault.
func Merge(layers ...Layer) (*Config, error) {
	c := &Config{values: map[string]any{}, sources: map[string]string{}}
	for _, l := range layers {
		for key, v := range l.Values {
			c.values[key] = v
			c.sources[key] = l.Name
		}
	}
	s, err := contract.Named("config")
	if err != nil {
		return nil, err
	}
	if details := s.Judge(c.values); details != nil {
		return nil, invalid("the configuration", details)
	}
	s.Complete(c.values)
	delete(c.values, "$schema")
	if err := json.Unmarshal(jsondoc.Canonical(c.values), &c.Config); err != nil {
		return nil, fault.New(catalog.InvalidRequest, "the configuration: %w", err)
	}
	return c, nil
}

// ParseFile reads a configuration file.
func ParseFile(data []byte) (map[string]any, error) {
	values, err := jsondoc.DecodeObject(data)
	if err != nil {
		return nil, fault.New(catalog.InvalidRequest, "the configuration file is no JSON: %w", err)
	}
	s, err := contract.Named("config")
	if err != nil {
		return nil, err
	}
	if details := s.Judge(values); details != nil {
		return nil, invalid("the configuration file", details)
	}
	return values, nil
}

// invalid makes one fault of all details, naming the nearest known key of each unknown one.
func invalid(what string, details []fault.Detail) error {
	var keys, said []string
	for _, k := range catalog.ConfigKeys {
		keys = append(keys, k.Name)
	}
	for i, d := range details {
		if name := strings.TrimPrefix(d.Pointer, "/"); d.Reason == "unknown" {
			if near := contract.Nearest(name, keys); near != "" {
				details[i].Message += fmt.Sprintf("; did you mean %q?", near)
			}
		}
		said = append(said, strings.TrimSpace(d.Pointer+" "+details[i].Message))
	}
	return fault.New(catalog.InvalidRequest, "%s is wrong: %s", what, strings.Join(said, "; ")).WithDetails(details)
}

// FromText reads a value as a flag or an environment variable gives it. An array is a JSON array, or words separated by
// commas. The faults name no value of a secret key.
func FromText(key catalog.ConfigKey, text string) (any, error) {
	switch key.Type {
	case "integer":
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			return json.Number(strconv.FormatInt(n, 10)), nil
		}
		return nil, fault.New(catalog.InvalidRequest, "%s must be a whole number, is %q", key.Name, text)
	case "boolean":
		if b, err := strconv.ParseBool(text); err == nil {
			return b, nil
		}
		return nil, fault.New(catalog.InvalidRequest, "%s must be true or false, is %q", key.Name, text)
	case "array":
		return words(key, text)
	default:
		return text, nil
	}
}

func words(key catalog.ConfigKey, text string) (any, error) {
	if strings.HasPrefix(strings.TrimSpace(text), "[") {
		v, err := jsondoc.Decode([]byte(text))
		if err != nil {
			return nil, fault.New(catalog.InvalidRequest, "%s is no JSON array: %w", key.Name, err)
		}
		return v, nil
	}
	list := []any{}
	for w := range strings.SplitSeq(text, ",") {
		if w = strings.TrimSpace(w); w != "" {
			list = append(list, w)
		}
	}
	return list, nil
}

// Source says where the value of a key came from: a layer's name, or "default".
func (c *Config) Source(key string) string {
	if s, ok := c.sources[key]; ok {
		return s
	}
	return "default"
}

// Setting is a key with its value, for people.
type Setting struct {
	Key    string          `json:"key"`
	Value  json.RawMessage `json:"value"` // null where there is none
	Source string          `json:"source"`
}

// Settings are all keys in the order of the schema. Secrets are masked.
func (c *Config) Settings() []Setting {
	var out []Setting
	for _, k := range catalog.ConfigKeys {
		v, ok := c.values[k.Name]
		if ok && k.Secret {
			v = "[secret]"
		}
		out = append(out, Setting{Key: k.Name, Value: jsondoc.Canonical(v), Source: c.Source(k.Name)})
	}
	return out
}

// Frozen are the keys that a reload cannot change, among those that differ between two configurations.
func (c *Config) Frozen(next *Config) []string {
	reloadable := map[string]bool{"tokens": true, "auth_token": true, "allowed_hosts": true}
	var out []string
	for _, key := range slices.Sorted(maps.Keys(c.values)) {
		if !reloadable[key] && string(jsondoc.Canonical(c.values[key])) != string(jsondoc.Canonical(next.values[key])) {
			out = append(out, key)
		}
	}
	return out
}
