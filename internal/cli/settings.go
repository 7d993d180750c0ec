package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ctxd/ctxd/gen/catalog"
	"github.com/ctxd/ctxd/internal/app"
	"github.com/ctxd/ctxd/internal/config"
	"github.com/ctxd/ctxd/internal/fault"
)

// settings are the flags of the configuration, as the catalogue lists them.
type settings struct {
	c     *command
	file  string
	flags *pflag.FlagSet
}

// configEnv names the configuration file where no flag does.
const configEnv = "CTXD_CONFIG"

func (c *command) settings(cmd *cobra.Command) *settings {
	s := &settings{c: c, flags: cmd.Flags()}
	s.flags.StringVar(&s.file, "config", "", "configuration file, JSON ("+configEnv+")")
	for _, k := range catalog.ConfigKeys {
		if k.Flag == "" {
			continue
		}
		help := fmt.Sprintf("%s (%s)", strings.TrimSuffix(k.Help, "."), k.Env)
		v := &flagValue{key: k}
		f := s.flags.VarPF(v, k.Flag, "", help)
		if k.Type == "boolean" {
			f.NoOptDefVal = "true"
		}
	}
	s.flags.SortFlags = false
	return s
}

// flagValue collects what the command line says of one key.
type flagValue struct {
	key  catalog.ConfigKey
	text []string
}

// Set implements pflag.Value.
func (v *flagValue) Set(text string) error {
	v.text = append(v.text, text)
	return nil
}

// String is the default that the help shows.
func (v *flagValue) String() string {
	if v.key.Type == "array" || v.key.Type == "boolean" {
		return ""
	}
	return strings.Trim(v.key.Default, `"`)
}

// Type is the word that the help shows for the value.
func (v *flagValue) Type() string {
	switch {
	case v.key.FlagValue != "":
		return v.key.FlagValue
	case v.key.Type == "integer":
		return "N"
	case v.key.Type == "boolean":
		return "bool"
	case strings.HasSuffix(v.key.Name, "_dir") || strings.HasSuffix(v.key.Name, "_root"):
		return "PATH"
	default:
		return strings.ToUpper(v.key.Name[strings.LastIndexByte(v.key.Name, '_')+1:])
	}
}

// load reads file, environment and flags, in the order in which the later win. What base says, all of them win over.
func (s *settings) load(base ...config.Layer) (*config.Config, error) {
	layers := slices.Clone(base)
	if file := s.configFile(); file != "" {
		values, err := readFile(file)
		if err != nil {
			return nil, err
		}
		layers = append(layers, config.Layer{Name: "file", Values: values})
	}
	env, flags := map[string]any{}, map[string]any{}
	for _, k := range catalog.ConfigKeys {
		if k.Flag == "" {
			continue
		}
		if text := s.c.Getenv(k.Env); text != "" {
			v, err := fromText(k, []string{text})
			if err != nil {
				return nil, fault.New(catalog.InvalidRequest, "%s: %w", k.Env, err)
			}
			env[k.Name] = v
		}
		f := s.flags.Lookup(k.Flag)
		if !f.Changed {
			continue
		}
		v, err := fromText(k, f.Value.(*flagValue).text)
		if err != nil {
			return nil, fault.New(catalog.InvalidRequest, "--%s: %w", k.Flag, err)
		}
		flags[k.Name] = v
	}
	return config.Merge(append(layers, config.Layer{Name: "environment", Values: env}, config.Layer{Name: "flag", Values: flags})...)
}

// fromText reads the words of a flag: an array collects them, of anything else the last one counts.
func fromText(k catalog.ConfigKey, words []string) (any, error) {
	if k.Type != "array" {
		return config.FromText(k, words[len(words)-1])
	}
	list := []any{}
	for _, w := range words {
		v, err := config.FromText(k, w)
		if err != nil {
			return nil, err
		}
		list = append(list, v.([]any)...)
	}
	if k.Name != "workspaces" {
		return list, nil
	}
	for i, v := range list {
		text, ok := v.(string)
		if !ok {
			continue // an object, as the file has it
		}
		root, err := config.ParseRoot(text, isDir)
		if err != nil {
			return nil, err
		}
		list[i] = root
	}
	return list, nil
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// maxConfigFile bounds a configuration file, in bytes.
const maxConfigFile = 4 << 20

func readFile(name string) (map[string]any, error) {
	info, err := os.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fault.New(catalog.InvalidRequest, "there is no configuration file %s", name)
	case err != nil:
		return nil, fault.New(catalog.InvalidRequest, "the configuration file cannot be read: %w", err)
	case !info.Mode().IsRegular() || info.Size() > maxConfigFile:
		return nil, fault.New(catalog.InvalidRequest, "the configuration file %s is no file of at most %d bytes", name, maxConfigFile)
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, fault.New(catalog.InvalidRequest, "the configuration file cannot be read: %w", err)
	}
	values, err := config.ParseFile(data)
	if err != nil {
		return nil, fault.New(catalog.InvalidRequest, "%s: %w", name, err)
	}
	anchor(values, filepath.Dir(name))
	return values, nil
}

// anchor makes paths of a file relative to the folder of the file, not to where the program happens to be started.
func anchor(values map[string]any, dir string) {
	fix := func(o map[string]any, key string) {
		if p, ok := o[key].(string); ok && !filepath.IsAbs(p) {
			o[key] = filepath.Join(dir, p)
		}
	}
	fix(values, "project_root")
	fix(values, "data_dir")
	list, _ := values["workspaces"].([]any)
	for _, w := range list {
		if o, ok := w.(map[string]any); ok {
			fix(o, "root")
		}
	}
}

// configFile is the configuration file, "" for none.
func (s *settings) configFile() string {
	if s.file != "" {
		return s.file
	}
	return s.c.Getenv(configEnv)
}

// options are what app needs for an engine.
func (s *settings) options(base ...config.Layer) (app.Options, error) {
	cfg, err := s.load(base...)
	if err != nil {
		return app.Options{}, err
	}
	return app.Options{Config: cfg, Version: app.Version, Getenv: s.c.Getenv, Logger: s.c.logger()}, nil
}
