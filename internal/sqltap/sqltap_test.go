package sqltap

import (
	"context"
	"database/sql"
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

func open(t *testing.T, file string, before func(Statement)) *sql.DB {
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
	db := open(t, file, func(s Statement) {
		_, err := other.ExecContext(t.Context(), "PRAGMA busy_timeout(1)")
		if err == nil {
			_, err = other.ExecContext(t.Context(), "INSERT INTO t VALUES (0)")
		}
		if s.Alone != (err == nil) {
			t.Errorf("before %q Alone is %v, and another write says %v", s.SQL, s.Alone, err)
		}
		seen = append(seen, fmt.Sprint(s.SQL, " ", s.Alone))
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
