package agent

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"
)

const dataLink = "..data"

// writeAtomically replaces the files of dir in one step, as the real node agent
// does: they live in a dated folder, `..data` points to it, and a visible name
// points into `..data`. Programs that watch see one change.
func writeAtomically(dir string, files map[string]file, group int) error {
	link := filepath.Join(dir, dataLink)
	old, err := os.Readlink(link)
	if err == nil && sameFiles(filepath.Join(dir, old), files) {
		return nil
	}
	name := time.Now().UTC().Format("..2006_01_02_15_04_05.000000000")
	for path, f := range files {
		if err := writeFile(filepath.Join(dir, name, path), f, group); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
		return err
	}
	if err := os.Symlink(name, link+"_tmp"); err != nil {
		return err
	}
	if err := os.Rename(link+"_tmp", link); err != nil {
		return err
	}
	if err := showNames(dir, files); err != nil {
		return err
	}
	if old != "" {
		return os.RemoveAll(filepath.Join(dir, old))
	}
	return nil
}

// showNames makes the visible names agree with the files.
func showNames(dir string, files map[string]file) error {
	wanted := map[string]bool{}
	for path := range files {
		name, _, _ := strings.Cut(path, "/")
		wanted[name] = true
		err := os.Symlink(filepath.Join(dataLink, name), filepath.Join(dir, name))
		if err != nil && !errors.Is(err, os.ErrExist) {
			return err
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if !wanted[entry.Name()] && !strings.HasPrefix(entry.Name(), "..") {
			if err := os.Remove(filepath.Join(dir, entry.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

func sameFiles(dir string, files map[string]file) bool {
	count := 0
	err := filepath.WalkDir(dir, func(_ string, entry os.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			count++
		}
		return err
	})
	if err != nil || count != len(files) {
		return false
	}
	for path, f := range files {
		if data, err := os.ReadFile(filepath.Join(dir, path)); err != nil || !bytes.Equal(data, f.data) {
			return false
		}
	}
	return true
}

func writeFile(path string, f file, group int) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	mode := os.FileMode(f.mode)
	if group >= 0 {
		mode |= 0o440 // a volume with a group is readable by it
	}
	if err := os.WriteFile(path, f.data, mode); err != nil {
		return err
	}
	if err := os.Chmod(path, mode); err != nil { // whatever the umask says
		return err
	}
	return os.Chown(path, -1, group)
}
