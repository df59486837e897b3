package worldlog

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"testing"

	"github.com/evertick/evertick/internal/wire"
	"github.com/klauspost/compress/zstd"
)

// FuzzReader reads any bytes as a segment. With mend, checksums are made right
// first, so that what is behind them is tried. What the reader accepts is the only
// encoding of what it gives.
func FuzzReader(f *testing.F) {
	whole := written(f, 4, Options{}).names["log/"+segmentName(0)].data
	f.Add(whole, false)
	f.Add(whole[:len(whole)-7], true)
	f.Add(append(bytes.Clone(whole[:90]), 0x80, 0x80, 0x80, 8, 1, 2, 3), true)
	f.Fuzz(func(t *testing.T, data []byte, mend bool) {
		if mend {
			data = mended(data)
		}
		s := newSegmentReader(bytes.NewReader(data), "fuzz")
		if s.readHeader() != nil {
			return
		}
		again := s.head.append(nil)
		c := coder{crc: s.head.crc}
		var tick Tick
		for {
			err := s.readTick(&tick)
			if err != nil {
				var e *CorruptError
				if err != io.EOF && !errors.As(err, &e) {
					t.Fatal(err)
				}
				break
			}
			for i := range tick.Records {
				again = c.append(again, &tick.Records[i])
			}
			again = c.appendCommit(again, &s.last)
		}
		if !bytes.Equal(again, data[:s.off]) {
			t.Fatalf("encoded again, %d bytes differ", s.off)
		}
	})
}

// FuzzResume recovers any bytes with right checksums as a log, adds a tick and
// reads it.
func FuzzResume(f *testing.F) {
	f.Add(written(f, 4, Options{}).names["log/"+segmentName(0)].data)
	f.Fuzz(func(t *testing.T, data []byte) {
		m := newMemFS()
		m.names["log/"+segmentName(0)] = &memFile{data: mended(data)}
		if err := goesOn(m); err != nil && !errors.Is(err, ErrCorrupt) && !errors.Is(err, ErrUnsupported) {
			t.Fatal(err)
		}
	})
}

// mended makes the checksums of a segment right, as far as its lengths lead.
func mended(data []byte) []byte {
	data = bytes.Clone(data)
	if len(data) < headerFixed || len(data) < headerSize(data) {
		return data
	}
	at := headerSize(data)
	crc := wire.CRC(0, data[:headerCRCAt])
	binary.LittleEndian.PutUint32(data[headerCRCAt:], crc)
	binary.LittleEndian.PutUint32(data[at-crcSize:], wire.CRC(0, data[:at-crcSize]))
	for {
		n, k := binary.Uvarint(data[at:])
		if k <= 0 || n > uint64(len(data)) || at+k+int(n)+crcSize > len(data) {
			return data
		}
		end := at + k + int(n)
		crc = wire.CRC(crc, data[at:end])
		binary.LittleEndian.PutUint32(data[end:], crc)
		at = end + crcSize
	}
}

// goesOn recovers a log, adds a tick and reads it all.
func goesOn(m *memFS) error {
	l, report, err := Recover("log", Options{FS: m, Buffer: minBuffer})
	if err != nil {
		return err
	}
	next := report.Identity.FirstTick
	if report.Ticks > 0 {
		next = report.Tick + 1
	}
	if next <= maxTickNumber {
		report.Ticks++
		err = l.Commit(next, 7, Counts{})
	}
	if err = errors.Join(err, l.Close()); err != nil {
		return errors.New(err.Error()) // none of these may be taken for corrupt input
	}
	r, err := OpenReader("log", m)
	if err != nil {
		return errors.New(err.Error())
	}
	defer r.Close()
	n := uint64(0)
	for _, err := range r.Ticks(0) {
		if err != nil {
			return errors.New(err.Error())
		}
		n++
	}
	if n != report.Ticks {
		return errors.New("ticks were lost after recovery")
	}
	return nil
}

// FuzzRecover damages a log of several segments, plain and packed: in one file,
// from an offset on, bytes are replaced, and the file is cut. What recovery
// leaves is a prefix of what was written, or an error.
func FuzzRecover(f *testing.F) {
	plain := crashed(f, 40, Options{SegmentTicks: 15})
	packed := crashed(f, 40, Options{SegmentTicks: 15, Compress: true})
	f.Add(false, uint8(2), uint16(300), uint16(0xffff), []byte{0, 0, 0})
	f.Add(true, uint8(0), uint16(3), uint16(0xffff), []byte{0xff})
	f.Add(false, uint8(1), uint16(0), uint16(100), []byte{})
	f.Fuzz(func(t *testing.T, zstd bool, file uint8, at, size uint16, patch []byte) {
		m := plain.clone()
		if zstd {
			m = packed.clone()
		}
		names, err := listDir(m, "log")
		if err != nil || len(names.segments) != 3 {
			t.Fatal(names, err)
		}
		name := "log/" + names.segments[int(file)%3].name()
		data := bytes.Clone(m.names[name].data)
		data = data[:min(len(data), int(size))]
		copy(data[min(len(data), int(at)):], patch)
		m.names[name] = &memFile{data: data}

		l, report, err := Recover("log", Options{FS: m, Buffer: minBuffer})
		if err != nil {
			if !errors.Is(err, ErrCorrupt) && !errors.Is(err, ErrUnsupported) {
				t.Fatal(err)
			}
			return
		}
		closeLog(t, l)
		if next, err := readBack(m, "log", 0); err != nil || next != report.Ticks || next > 40 {
			t.Fatalf("%d ticks, %v, %+v", next, err, report)
		}
	})
}

// FuzzSnapshot loads any bytes as a snapshot. With mend, the checksum of the
// header is made right, and what it says of the size is that of the frame. Whatever the
// bytes say, the memory that they take has a limit.
func FuzzSnapshot(f *testing.F) {
	m := newMemFS()
	l := create(f, m, "log", Options{})
	feed(f, l, 0, 3)
	if err := l.WriteSnapshot(2, hashOf(2), []byte("evertick evertick evertick")); err != nil {
		f.Fatal(err)
	}
	closeLog(f, l)
	whole := m.names["log/"+snapshotName(2)].data
	f.Add(whole, false)
	f.Add(whole[:70], true)
	enc, err := newEncoder()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(enc.EncodeAll(make([]byte, 16<<20), bytes.Clone(whole[:headerOfSnapshot(whole)])), true)
	f.Fuzz(func(t *testing.T, data []byte, mend bool) {
		data = bytes.Clone(data)
		if mend {
			mendSnapshot(data)
		}
		m := newMemFS()
		m.names["log/"+snapshotName(2)] = &memFile{data: data}
		const limit = 1 << 20
		var s *Snapshot
		var err error
		grown := allocated(func() { s, err = LoadSnapshotUpTo("log", m, 2, limit) })
		if err != nil && !errors.Is(err, ErrCorrupt) && !errors.Is(err, ErrUnsupported) && !errors.Is(err, ErrCapacity) {
			t.Fatal(err)
		}
		if err == nil && (s.Tick != 2 || len(s.Data) != s.Size || s.Size > limit) {
			t.Fatalf("%+v", s)
		}
		if grown > limit+64<<20 { // other goroutines of the fuzzer allocate, too
			t.Fatalf("%d bytes were allocated for %d (%v)", grown, len(data), err)
		}
	})
}

func headerOfSnapshot(data []byte) int { return snapshotHeaderSize(data[:snapshotFixed]) }

func mendSnapshot(data []byte) {
	if len(data) < snapshotFixed || len(data) < headerOfSnapshot(data) {
		return
	}
	end := headerOfSnapshot(data)
	var frame zstd.Header
	if frame.Decode(data[end:]) == nil && frame.HasFCS {
		binary.LittleEndian.PutUint32(data[40:], uint32(frame.FrameContentSize))
		binary.LittleEndian.PutUint32(data[44:], uint32(len(data)-end))
	}
	binary.LittleEndian.PutUint32(data[end-crcSize:], wire.CRC(0, data[:end-crcSize]))
}
