package skill

import (
	"errors"
	"fmt"

	"github.com/evertick/evertick/internal/fault"
)

// Code says in one word how a call ended.
type Code string

// The codes. OK is the empty one.
const (
	OK               Code = ""
	NotFound         Code = "not_found"         // there is no skill of that name and version
	InvalidInput     Code = "invalid_input"     // the input does not match its schema
	Forbidden        Code = "forbidden"         // the profile of the actor does not allow it
	RateLimited      Code = "rate_limited"      // too many calls in too few ticks
	CapacityExceeded Code = "capacity_exceeded" // no room in the world, in a queue or in the output
	StaleEntity      Code = "stale_entity"      // the entity does not live
	HandlerError     Code = "handler_error"     // another error of the handler
	Refused          Code = "refused"           // a hook has refused the call
	PendingApproval  Code = "pending_approval"  // the call has not ended: it waits for approval
	NotApproved      Code = "not_approved"      // an approver has rejected the call
	ApprovalExpired  Code = "approval_expired"  // no approver has decided within Config.HeldTicks
)

// codes by number, as events store them.
var codes = [...]Code{OK, NotFound, InvalidInput, Forbidden, RateLimited, CapacityExceeded, StaleEntity, HandlerError,
	Refused, PendingApproval, NotApproved, ApprovalExpired}

const numberOfHandlerError = 7

func (c Code) number() int {
	for i := range codes {
		if codes[i] == c {
			return i
		}
	}
	return numberOfHandlerError // a handler may return codes of its own
}

var (
	// ErrForbidden: the profile of the actor, a hook or an approver does not allow the call.
	ErrForbidden = errors.New("forbidden")
	// ErrPending: the call is held until it is approved or rejected, or expires.
	ErrPending = errors.New("pending approval")
	// ErrRateLimited: too many calls in too few ticks.
	ErrRateLimited = errors.New("rate limited")
	// ErrHandler: a handler has refused for a reason of its own.
	ErrHandler = errors.New("handler failed")
	// ErrClosed: the registry takes no more calls, or has lost this one: see Registry.Close.
	ErrClosed = errors.New("the registry of skills is closed")
)

// sentinels are the errors for the codes.
var sentinels = map[Code]error{
	NotFound: fault.ErrUnsupported, InvalidInput: fault.ErrRange, Forbidden: ErrForbidden, RateLimited: ErrRateLimited,
	CapacityExceeded: fault.ErrCapacity, StaleEntity: fault.ErrStale, HandlerError: ErrHandler,
	Refused: ErrForbidden, PendingApproval: ErrPending, NotApproved: ErrForbidden, ApprovalExpired: ErrForbidden,
}

// Error is the error of a refused call, or of one that is held for approval. The world is as it was before the call.
type Error struct {
	Code  Code
	Skill string // as it was called
	Field string // of the input that is wrong, if it is one
	Text  string // for people
	Cause error  // nil: the sentinel of Code
}

// Error implements error.
func (e *Error) Error() string {
	s := "skill: " + e.Skill
	if e.Field != "" {
		s += ": " + e.Field
	}
	if e.Text != "" {
		s += ": " + e.Text
	}
	return s + ": " + string(e.Code)
}

// Unwrap returns Cause and the sentinel of Code.
func (e *Error) Unwrap() []error {
	errs := make([]error, 0, 2)
	if s := sentinels[e.Code]; s != nil {
		errs = append(errs, s)
	}
	if e.Cause != nil {
		errs = append(errs, e.Cause)
	}
	return errs
}

// refuse makes the error of a handler: the pipeline fills in the skill.
func refuse(code Code, field, format string, args ...any) *Error {
	return &Error{Code: code, Field: field, Text: fmt.Sprintf(format, args...)}
}

// asError makes an Error of the error of a handler. The code follows from the sentinel.
func asError(err error, skill string) *Error {
	var e *Error
	if errors.As(err, &e) {
		c := *e
		c.Skill = skill
		c.Code = codes[c.Code.number()]
		if c.Code == OK || c.Code == PendingApproval {
			c.Code = HandlerError // a call that has run cannot be either
		}
		return &c
	}
	code := HandlerError
	for _, known := range [...]struct {
		err  error
		code Code
	}{
		{fault.ErrStale, StaleEntity}, {fault.ErrCapacity, CapacityExceeded}, {fault.ErrNotFinite, InvalidInput},
		{fault.ErrRange, InvalidInput}, {ErrForbidden, Forbidden},
	} {
		if errors.Is(err, known.err) {
			code = known.code
			break
		}
	}
	return &Error{Code: code, Skill: skill, Text: err.Error(), Cause: err}
}
