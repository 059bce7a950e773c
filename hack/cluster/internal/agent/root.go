package agent

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	securejoin "github.com/cyphar/filepath-securejoin"
	"golang.org/x/sys/unix"
)

// mount shows a directory (or file) of the node at an absolute path.
type mount struct {
	source, target string
	readOnly       bool
}

// buildRoot gives the container a root of its own: the machine's folders bound
// into an empty file system, the volumes above them. Nothing of it is seen
// outside the calling thread's mount namespace.
func (c command) buildRoot() error {
	root := c.root()
	if err := os.MkdirAll(root, 0o755); err != nil {
		return err
	}
	if err := unix.Mount("tmpfs", root, "tmpfs", 0, "mode=755"); err != nil {
		return err
	}
	if err := bindMachine(root); err != nil {
		return err
	}
	for i, m := range c.mounts {
		if err := m.makeTarget(root, filepath.Join(c.scratch, fmt.Sprint(i))); err != nil {
			return fmt.Errorf("mount point %s: %w", m.target, err)
		}
	}
	if c.readOnlyRoot {
		if err := setReadOnly(root, unix.AT_RECURSIVE); err != nil {
			return err
		}
	}
	for _, m := range c.mounts {
		target, err := securejoin.SecureJoin(root, m.target)
		if err != nil {
			return err
		}
		if err := unix.Mount(m.source, target, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
			return fmt.Errorf("mount %s: %w", m.target, err)
		}
		if !m.readOnly {
			continue
		}
		if err := setReadOnly(target, 0); err != nil {
			return err
		}
	}
	return nil
}

func bindMachine(root string) error {
	entries, err := os.ReadDir("/")
	if err != nil {
		return err
	}
	for _, entry := range entries {
		source, target := "/"+entry.Name(), filepath.Join(root, entry.Name())
		switch {
		case entry.Type()&os.ModeSymlink != 0:
			link, err := os.Readlink(source)
			if err != nil {
				return err
			}
			if err := os.Symlink(link, target); err != nil {
				return err
			}
		case entry.IsDir():
			if err := os.Mkdir(target, 0o755); err != nil {
				return err
			}
			if err := unix.Mount(source, target, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
				return fmt.Errorf("bind %s: %w", source, err)
			}
		}
	}
	return nil
}

func setReadOnly(path string, flags uint) error {
	return unix.MountSetattr(unix.AT_FDCWD, path, flags, &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY})
}

// makeTarget makes sure that the mount point exists. One that the machine does
// not have is created in an overlay above its nearest existing parent (or in
// the container's own root), never on the machine.
func (m mount) makeTarget(root, scratch string) error {
	info, err := os.Stat(m.source)
	if err != nil {
		return err
	}
	// Links as the container sees them: /var/run leads to its own /run, not the machine's.
	target, err := securejoin.SecureJoin(root, m.target)
	if err != nil {
		return err
	}
	if _, err := os.Stat(target); err == nil {
		return nil
	}
	parent := filepath.Dir(target)
	for _, err := os.Stat(parent); err != nil; _, err = os.Stat(parent) {
		parent = filepath.Dir(parent)
	}
	if parent != root {
		if err := overlay(parent, scratch); err != nil {
			return err
		}
	}
	if info.IsDir() {
		return os.MkdirAll(target, 0o755)
	}
	if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
		return err
	}
	return os.WriteFile(target, nil, 0o644)
}

func overlay(dir, scratch string) error {
	upper, work := filepath.Join(scratch, "upper"), filepath.Join(scratch, "work")
	for _, d := range []string{scratch, upper, work} {
		if err := os.Mkdir(d, 0o755); err != nil && !errors.Is(err, os.ErrExist) {
			return err
		}
	}
	options := fmt.Sprintf("lowerdir=%s,upperdir=%s,workdir=%s", dir, upper, work)
	if err := unix.Mount("overlay", dir, "overlay", 0, options); err != nil {
		return fmt.Errorf("overlay on %s: %w", dir, err)
	}
	return nil
}
