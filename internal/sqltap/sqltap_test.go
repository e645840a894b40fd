package sqltap

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"testing"
)

func exec(t *testing.T, db interface {
	ExecContext(context.Context, string, ...any) (sql.Result, error)
}, query string, args ...any) {
	t.Helper()
	if _, err := db.ExecContext(t.Context(), query, args...); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
}

func open(t *testing.T, file string, before func(Statement) error) *sql.DB {
	t.Helper()
	db := Open(file, before)
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

// Where the tap says that others can write, they can; where it does not, they wait.
func TestOpen_saysWhereOthersCanWrite(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a b#?.db")
	other := open(t, file, nil)
	exec(t, other, "CREATE TABLE t (x INTEGER)")
	var seen []string
	db := open(t, file, func(s Statement) error {
		_, err := other.ExecContext(t.Context(), "PRAGMA busy_timeout(1)")
		if err == nil {
			_, err = other.ExecContext(t.Context(), "INSERT INTO t VALUES (0)")
		}
		if s.Alone != (err == nil) {
			t.Errorf("before %q Alone is %v, and another write says %v", s.SQL, s.Alone, err)
		}
		seen = append(seen, fmt.Sprint(s.SQL, " ", s.Alone))
		return nil
	})
	other.SetMaxOpenConns(1)
	exec(t, db, "INSERT INTO t\n VALUES (?)", 1)
	tx, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	exec(t, tx, "UPDATE t SET x = x WHERE x = 1")
	insert, err := tx.PrepareContext(t.Context(), "INSERT INTO t VALUES (?)")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := insert.ExecContext(t.Context(), 2); err != nil {
		t.Fatal(err)
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	var n int
	if err := db.QueryRowContext(t.Context(), "SELECT count(*) FROM t WHERE x > 0").Scan(&n); err != nil || n != 2 {
		t.Errorf("%d rows, %v", n, err)
	}
	want := []string{
		"INSERT INTO t VALUES (?) true", "BEGIN true", "UPDATE t SET x = x WHERE x = 1 true",
		"INSERT INTO t VALUES (?) false", "COMMIT false", "SELECT count(*) FROM t WHERE x > 0 true",
	}
	if !reflect.DeepEqual(seen, want) {
		t.Errorf("seen %q, want %q", seen, want)
	}
}

// A statement can be made to fail, and a commit that fails leaves nothing behind.
func TestOpen_makesAStatementFail(t *testing.T) {
	broken := errors.New("broken")
	fails := ""
	db := open(t, filepath.Join(t.TempDir(), "db"), func(s Statement) error {
		if s.SQL == fails {
			return broken
		}
		return nil
	})
	exec(t, db, "CREATE TABLE t (x INTEGER)")
	for _, fails = range []string{"BEGIN", "INSERT INTO t VALUES (1)", "COMMIT"} {
		tx, err := db.BeginTx(t.Context(), nil)
		if err == nil {
			_, err = tx.ExecContext(t.Context(), "INSERT INTO t VALUES (1)")
			if err == nil {
				err = tx.Commit()
			} else {
				_ = tx.Rollback()
			}
		}
		if !errors.Is(err, broken) {
			t.Errorf("%s: got %v, want it to fail", fails, err)
		}
	}
	var n int
	if err := db.QueryRowContext(t.Context(), "SELECT count(*) FROM t").Scan(&n); err != nil || n != 0 {
		t.Errorf("%d rows are left, %v", n, err)
	}
	fails = ""
	tx, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatalf("after a commit that failed no transaction can begin: %v", err)
	}
	if err := tx.Rollback(); err != nil {
		t.Error(err)
	}
}

// A statement tells the context that it was called under.
func TestOpen_tellsTheContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var under []context.Context
	db := open(t, filepath.Join(t.TempDir(), "db"), func(s Statement) error {
		under = append(under, s.Context)
		return nil
	})
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.ExecContext(ctx, "CREATE TABLE t (x INTEGER)"); err != nil {
		t.Fatal(err)
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	cancel()
	if len(under) != 3 || under[0].Err() == nil || under[1].Err() == nil || under[2].Err() != nil {
		t.Errorf("BEGIN, CREATE and COMMIT were called under %v", under)
	}
}

// A gate stops once, before the statement it was told, and others can write meanwhile.
func TestGate(t *testing.T) {
	file := filepath.Join(t.TempDir(), "db")
	other := open(t, file, nil)
	exec(t, other, "CREATE TABLE t (x INTEGER)")
	var gate Gate
	db := open(t, file, func(s Statement) error { gate.Pass(s); return nil })
	at := gate.Stop(2)
	done := make(chan error)
	go func() {
		for range 3 {
			if _, err := db.ExecContext(t.Context(), "INSERT INTO t VALUES (1)"); err != nil {
				done <- err
				return
			}
		}
		done <- nil
	}()
	if s := <-at; s.SQL != "INSERT INTO t VALUES (1)" || gate.Seen() != 2 {
		t.Errorf("stopped before %q, the %dth", s.SQL, gate.Seen())
	}
	var n int
	if err := other.QueryRowContext(t.Context(), "SELECT count(*) FROM t").Scan(&n); err != nil || n != 1 {
		t.Errorf("%d rows, %v; want the one before the gate", n, err)
	}
	exec(t, other, "INSERT INTO t VALUES (2)")
	gate.Open()
	gate.Open()
	if err := <-done; err != nil || gate.Seen() != 3 {
		t.Errorf("%v, %d statements", err, gate.Seen())
	}
}

// A transaction that has read may not write when others have written since.
func TestOldLook(t *testing.T) {
	file := filepath.Join(t.TempDir(), "db")
	db, other := open(t, file, nil), open(t, file, nil)
	exec(t, db, "CREATE TABLE t (x INTEGER)")
	tx, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	var n int
	if err := tx.QueryRowContext(t.Context(), "SELECT count(*) FROM t").Scan(&n); err != nil {
		t.Fatal(err)
	}
	exec(t, other, "INSERT INTO t VALUES (1)")
	if _, err := tx.ExecContext(t.Context(), "INSERT INTO t VALUES (2)"); !OldLook(err) {
		t.Errorf("got %v, want a refusal", err)
	}
	if OldLook(nil) || OldLook(errors.New("database is locked")) {
		t.Error("an error of another kind is an old look")
	}
}

// A write that another one's lock keeps out gives no lock to who tried it.
func TestOpen_refusedWrite_isStillAlone(t *testing.T) {
	file := filepath.Join(t.TempDir(), "db")
	other := open(t, file, nil)
	exec(t, other, "CREATE TABLE t (x INTEGER)")
	var last Statement
	db := open(t, file, func(s Statement) error { last = s; return nil })
	db.SetMaxOpenConns(1)
	exec(t, db, "PRAGMA busy_timeout(1)")
	writer, err := other.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	exec(t, writer, "INSERT INTO t VALUES (1)")
	tx, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.ExecContext(t.Context(), "INSERT INTO t VALUES (2)"); err == nil {
		t.Fatal("two wrote at once")
	}
	if err := writer.Commit(); err != nil {
		t.Fatal(err)
	}
	exec(t, tx, "INSERT INTO t VALUES (3)")
	if !last.Alone {
		t.Error("after a write that was refused it is said to have a lock")
	}
	if err := tx.Commit(); err != nil {
		t.Error(err)
	}
}
