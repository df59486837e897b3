package replica

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"

	"github.com/evertick/evertick/internal/wire"
)

const (
	tokenFields = 4 + 8 + 8 + 8 // bytes of session, count, server and began
	macBytes    = 16
	secretBytes = 32
	leastSecret = 16
	// A label is signed before the fields of a token: a Secret that a host uses for something else as
	// well signs no tokens there, and a session that only watches is never one of a player.
	tokenLabel     = "evertick replica token 2"
	spectatorLabel = "evertick replica spectator token 2"
)

// token lets a client resume its session. count is the number of the token within the session: each
// Welcome has the next one. server names the Server that has signed it, at random: another one with the
// same Secret honours the token, but its sessions are others. began is the number of completed ticks when Joined was
// pushed: a state that has run more than one more tick has applied it.
type token struct {
	session              uint32
	count, server, began uint64
}

// signer signs tokens with HMAC-SHA256, of which a token has the first 16 bytes.
type signer struct {
	secret []byte
	label  string
	server uint64 // of the tokens of this Server
}

func newSigner(secret []byte, spectate bool) signer {
	k := signer{secret: append([]byte(nil), secret...), label: tokenLabel}
	if spectate {
		k.label = spectatorLabel
	}
	var id [8]byte
	rand.Read(id[:]) // never fails: see crypto/rand
	k.server = binary.LittleEndian.Uint64(id[:])
	if k.secret == nil {
		k.secret = make([]byte, secretBytes)
		rand.Read(k.secret)
	}
	return k
}

// append appends a signed token.
func (k *signer) append(dst []byte, t token) []byte {
	from := len(dst)
	dst = wire.AppendU64s(wire.AppendU32s(dst, t.session), t.count, t.server, t.began)
	return append(dst, k.mac(dst[from:])...)
}

// parse returns a token, or false if k did not sign it. The time that it takes does not depend on where
// a forged token is wrong.
func (k *signer) parse(b []byte) (token, bool) {
	if len(b) != tokenFields+macBytes || !hmac.Equal(b[tokenFields:], k.mac(b[:tokenFields])) {
		return token{}, false
	}
	return token{wire.U32At(b, 0), wire.U64At(b[4:], 0), wire.U64At(b[4:], 1), wire.U64At(b[4:], 2)}, true
}

func (k *signer) mac(fields []byte) []byte {
	h := hmac.New(sha256.New, k.secret)
	h.Write([]byte(k.label))
	h.Write(fields)
	return h.Sum(nil)[:macBytes]
}
