package agent

import (
	"os"
	"path/filepath"
	"testing"
)

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestWriteAtomically(t *testing.T) {
	dir := t.TempDir()
	write := func(files map[string]file) {
		t.Helper()
		if err := writeAtomically(dir, files, -1); err != nil {
			t.Fatal(err)
		}
	}
	write(map[string]file{"a": {[]byte("1"), 0o644}, "deep/b": {[]byte("2"), 0o600}})
	if read(t, filepath.Join(dir, "a")) != "1" || read(t, filepath.Join(dir, "deep", "b")) != "2" {
		t.Error("files are not as written")
	}
	first, _ := os.Readlink(filepath.Join(dir, dataLink))

	write(map[string]file{"a": {[]byte("1"), 0o644}, "deep/b": {[]byte("2"), 0o600}})
	if same, _ := os.Readlink(filepath.Join(dir, dataLink)); same != first {
		t.Error("the same files were written again")
	}

	write(map[string]file{"a": {[]byte("3"), 0o644}})
	if read(t, filepath.Join(dir, "a")) != "3" {
		t.Error("a file did not change")
	}
	if _, err := os.Lstat(filepath.Join(dir, "deep")); !os.IsNotExist(err) {
		t.Error("a name that is gone still shows")
	}
	if _, err := os.Stat(filepath.Join(dir, first)); !os.IsNotExist(err) {
		t.Error("old files were left behind")
	}
}
