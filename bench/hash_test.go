package main

import (
	"bytes"
	"reflect"
	"strings"
	"testing"
)

func TestHashesAreReadAsWritten(t *testing.T) {
	s := newTestScene(t, "limina", 1)
	var file bytes.Buffer
	var want []tickHashes
	for range 3 {
		advance(t, s, 1)
		want = append(want, s.tickHashes())
		if err := s.tickHashes().write(&file); err != nil {
			t.Fatal(err)
		}
	}
	got, err := readHashes(&file)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("read %v, %v, want %v", got, err, want)
	}
	if _, err := readHashes(strings.NewReader("1 00ff seed\n1 zz tick\n")); err == nil || !strings.Contains(err.Error(), "1 zz tick") {
		t.Errorf("an invalid line: %v", err)
	}
}
