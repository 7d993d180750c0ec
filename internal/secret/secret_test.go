package secret

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/ctxd/ctxd/internal/testkit/goroot"
)

// some is text that looks drawn by lot. Secrets are put together here, so that no scanner finds one in this file.
func some(n int) string { return strings.Repeat("aB3xK9qLm2Zp7RtY5wVc", 20)[:n] }

func upper(n int) string { return strings.Repeat("Q7ZK2MXN4TB5", 20)[:n] }

// secrets by what they are; each is what must not be seen.
func secrets() map[string]struct{ text, hidden string } {
	all := map[string]struct{ text, hidden string }{}
	add := func(name, before, hidden, after string) {
		all[name] = struct{ text, hidden string }{before + hidden + after, hidden}
	}
	add("aws", "id ", "AKIA"+upper(16), " end")
	add("github", "push with ", "ghp_"+some(36), ".")
	add("github, fine grained", "", "github_pat_"+some(82), "")
	add("gitlab", "(", "glpat-"+some(20), ")")
	add("slack", "", "xoxb-"+some(24), "")
	add("slack hook", "https://hooks.slack.com/services/", "T0AB/B0CD/"+some(24), "")
	add("stripe", "'", "sk_live_"+some(24), "'")
	add("openai", "key ", "sk-proj-"+some(48), "")
	add("anthropic", "key ", "sk-ant-api03-"+some(60), "")
	add("google", "?key=", "AIza"+some(35), "&x=1")
	add("npm", "", "npm_"+some(36), "")
	add("pypi", "", "pypi-"+some(60), "")
	add("sendgrid", "", "SG."+some(22)+"."+some(43), "")
	add("jwt", "cookie: ", "eyJ"+some(20)+".eyJ"+some(40)+"."+some(43), "; path=/")
	add("azure", "AccountName=x;AccountKey=", some(86)+"==", ";EndpointSuffix=y")
	add("header", "curl -H 'Authorization: Bearer ", some(32), "' http://localhost")
	add("basic", "Authorization: Basic ", some(24)+"==", "")
	add("url", "postgres://app:", "tr0ub4dor", "@db.local/app")
	add("url without user", "redis://:", some(20), "@cache:6379")
	add("private key", "before\n", "-----BEGIN RSA "+"PRIVATE KEY-----\n"+some(64)+"\n"+some(30)+"\n-----END RSA "+"PRIVATE KEY-----", "\nafter")
	add("private key, cut", "", "-----BEGIN "+"PRIVATE KEY-----\n"+some(64), "")
	add("quoted password", `password = "`, "hunter2hunter2", `"`)
	add("yaml", "api_key: ", some(32), "\n")
	add("env", "export AWS_SECRET_ACCESS_KEY=", some(40), "\nPATH=/bin")
	add("json", `{"client_secret": "`, some(32), `"}`)
	add("go", `apiKey := "`, some(24), `"`)
	return all
}

// T9: what is a secret is masked, and nothing around it.
func TestT9Secrets(t *testing.T) {
	t.Parallel()
	for name, c := range secrets() {
		got := Mask(c.text)
		if want := strings.Replace(c.text, c.hidden, Marker, 1); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
		raw, err := json.Marshal(map[string]any{"value": c.text, "list": []string{"clean", c.text}})
		if err != nil {
			t.Fatal(err)
		}
		out := MaskJSON(raw)
		if !json.Valid(out) || strings.Contains(string(out), strings.Split(c.hidden, "\n")[0]) || !strings.Contains(string(out), "clean") {
			t.Errorf("%s in JSON: %s", name, out)
		}
	}
	if got := string(MaskJSON([]byte(`{"password":"hunter2hunter2","path":"a"}`))); got != `{"password":"[redacted]","path":"a"}` {
		t.Error(got)
	}
}

// Case 5: clean source comes back byte by byte.
var clean = []string{
	`if token == "" {`, `input_cost_per_token: 1.4e-06`, `password: str`, `token: Optional[str] = None`, `def login(user: str, password: str) -> Token:`,
	`key = os.environ["API_KEY"]`, `secret := os.Getenv("CLIENT_SECRET")`, `const apiKey = process.env.API_KEY2`, `secretKeyRef: {name: my-secret-12, key: password}`,
	`token: <your-token>`, `api_key = "xxxxxxxxxxxxxxxx"`, `API_KEY=YOUR_API_KEY_123456`, `password = "changeme123"`, `token = "${GITHUB_TOKEN_1}"`, `auth_token: "{{ .Values.token2 }}"`,
	`commit 9fceb02d0ae598e95dc970b74767f19372d61af8`, `id = "123e4567-e89b-12d3-a456-426614174000"`, `sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855`,
	`max_tokens: 20000`, `tokens_structured`, `primary_key = models.AutoField(primary_key=True)`, `foreignKey: "user_id_2024_legacy"`, `keyboard: "us-international-2"`,
	`http://user:password@example.com`, `https://user:<password>@host`, `postgres://postgres:postgres@localhost/db`, `key := strings.ToLower(name)`, `sk-some-css-class-name-of-a-long-kind`,
	`r.Header.Set("Authorization", "Bearer "+token)`, `Authorization: Bearer $TOKEN`, `Authorization: Bearer <token>`, `tokenizer = AutoTokenizer.from_pretrained("bert-base-uncased-v2")`,
	`git clone git@github.com:a/b.git`, `file:///home/a:b@c`, `token = hashlib.sha256(data).hexdigest()`, `case tok.Key2Value:`, `private_key: PrivateKeyTypes`, `Secret: v1.SecretReference2,`,
	`eyJ`, `ghp_`, `AKIA`, "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----", `bearer of good news 2024 and more12`, `"token":"abc"`, `cacheKey = "user:v2:profile:2024-01-02"`,
	`func Mask(text string) string`, `{"path":"internal/secret/secret.go","mode":"lines:1-20"}`, `{"pattern":"^func ListenAndServe","max_results":5}`, "", "[redacted]",
}

func TestCase5CleanText(t *testing.T) {
	t.Parallel()
	for _, text := range clean {
		if got := Mask(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
		raw, err := json.Marshal([]string{text})
		if err != nil {
			t.Fatal(err)
		}
		if got := string(MaskJSON(raw)); got != string(raw) {
			t.Errorf("%s became %s", raw, got)
		}
	}
}

// Case 5: nothing of a large body of source is damaged, but for the secrets that it does hold.
func TestCase5Goroot(t *testing.T) {
	t.Parallel()
	files := 0
	for _, dir := range []string{"net", "os", "crypto/tls", "crypto/x509"} {
		src := filepath.Join(goroot.Src(t), filepath.FromSlash(dir))
		if err := filepath.WalkDir(src, func(p string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(p, ".go") || strings.HasSuffix(p, "_test.go") {
				return err
			}
			raw, err := os.ReadFile(p)
			if err != nil {
				return err
			}
			files++
			rel := dir + strings.TrimPrefix(filepath.ToSlash(p), filepath.ToSlash(src))
			if got := Mask(string(raw)); got != string(raw) {
				at := 0
				for at < len(got) && at < len(raw) && got[at] == raw[at] {
					at++
				}
				t.Errorf("%s: %.120q became %.120q", rel, raw[max(0, at-40):], got[max(0, at-40):])
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	if files < 300 {
		t.Errorf("only %d files", files)
	}
}

// Masking twice is masking once, and leaves text text and JSON JSON.
func TestMaskProperty(t *testing.T) {
	t.Parallel()
	var parts []string
	for _, c := range secrets() {
		parts = append(parts, c.text, c.hidden)
	}
	parts = append(parts, clean...)
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.OneOf(rapid.SampledFrom(parts), rapid.String()), 0, 5).Draw(t, "parts"), rapid.SampledFrom([]string{"", " ", "\n", `"`, "="}).Draw(t, "between"))
		once := Mask(text)
		if twice := Mask(once); twice != once {
			t.Fatalf("%q, then %q", once, twice)
		}
		if utf8.ValidString(text) && !utf8.ValidString(once) {
			t.Fatalf("%q", once)
		}
		raw, err := json.Marshal(map[string]any{text: text})
		if err != nil {
			t.Fatal(err)
		}
		if out := MaskJSON(raw); !json.Valid(out) {
			t.Fatalf("%s", out)
		}
	})
}

func FuzzMask(f *testing.F) {
	for _, c := range secrets() {
		f.Add(c.text)
	}
	for _, text := range clean {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		once := Mask(text)
		if Mask(once) != once || utf8.ValidString(text) && !utf8.ValidString(once) {
			t.Fatalf("%q: %q, then %q", text, once, Mask(once))
		}
		MaskJSON([]byte(text))
	})
}

func BenchmarkMask(b *testing.B) {
	raw := []byte(`{"path":"internal/secret/secret.go","mode":"lines:1-20","max_tokens":20000}`)
	for b.Loop() {
		MaskJSON(raw)
	}
}
