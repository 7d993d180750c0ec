// Package code knows programming languages: bytes in, structure out, no files and no store.
//
// So far it names the language of a file. Everything above the generated code may import it.
package code

import (
	"path"
	"strings"
)

// Language names the language of a file by its name, in lower case; "text" where nothing better is known.
func Language(name string) string {
	base := strings.ToLower(path.Base(name))
	if l, ok := byName[base]; ok {
		return l
	}
	if l, ok := byExtension[strings.TrimPrefix(path.Ext(base), ".")]; ok {
		return l
	}
	return "text"
}

var byName = map[string]string{
	"makefile": "make", "gnumakefile": "make", "dockerfile": "dockerfile", "containerfile": "dockerfile", "go.mod": "gomod", "go.sum": "gosum",
	"go.work": "gomod", "cmakelists.txt": "cmake", "gemfile": "ruby", "rakefile": "ruby", "jenkinsfile": "groovy", "build": "starlark", "workspace": "starlark",
}

var byExtension = map[string]string{
	"go": "go", "py": "python", "pyi": "python", "js": "javascript", "mjs": "javascript", "cjs": "javascript", "jsx": "javascript",
	"ts": "typescript", "mts": "typescript", "cts": "typescript", "tsx": "tsx", "java": "java", "kt": "kotlin", "kts": "kotlin", "scala": "scala",
	"c": "c", "h": "c", "cc": "cpp", "cpp": "cpp", "cxx": "cpp", "hh": "cpp", "hpp": "cpp", "hxx": "cpp", "cs": "csharp", "rs": "rust", "rb": "ruby",
	"php": "php", "swift": "swift", "m": "objc", "mm": "objc", "lua": "lua", "pl": "perl", "pm": "perl", "r": "r", "jl": "julia", "hs": "haskell",
	"ml": "ocaml", "mli": "ocaml", "ex": "elixir", "exs": "elixir", "erl": "erlang", "clj": "clojure", "dart": "dart", "zig": "zig", "nim": "nim",
	"s": "asm", "asm": "asm", "sh": "shell", "bash": "shell", "zsh": "shell", "fish": "shell", "ps1": "powershell", "sql": "sql", "proto": "protobuf",
	"html": "html", "htm": "html", "css": "css", "scss": "scss", "less": "less", "vue": "vue", "svelte": "svelte", "xml": "xml", "svg": "xml",
	"json": "json", "jsonc": "json", "yaml": "yaml", "yml": "yaml", "toml": "toml", "ini": "ini", "cfg": "ini", "md": "markdown", "markdown": "markdown",
	"rst": "rst", "tex": "tex", "txt": "text", "csv": "csv", "tsv": "csv", "tf": "hcl", "hcl": "hcl", "nix": "nix", "cmake": "cmake", "gradle": "groovy",
	"groovy": "groovy", "bzl": "starlark", "star": "starlark", "txtar": "txtar", "diff": "diff", "patch": "diff",
}
