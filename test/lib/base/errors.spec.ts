import assert from 'node:assert/strict'
import {
  asSoukError,
  ERRORS,
  type ErrorCode,
  isErrorCode,
  isSoukError,
  PROBLEM_TYPE_BASE,
  SoukError,
  toProblem,
  withUnknownCharge
} from '../../../lib/base/errors.ts'

/** Documented statuses. A change here changes the interface for clients. */
const PROMISED: Record<number, readonly ErrorCode[]> = {
  400: ['invalid_request', 'payment_malformed'],
  401: ['key_missing', 'key_invalid', 'key_expired', 'key_revoked', 'admin_token_invalid'],
  402: ['payment_required', 'insufficient_funds', 'payment_rejected', 'price_exceeds_limit', 'spend_cap_reached'],
  403: ['subscription_required', 'subscription_inactive', 'key_not_permitted', 'ingress_not_allowed'],
  404: ['api_not_found', 'operation_not_found'],
  405: ['method_not_allowed'],
  409: ['name_conflict', 'idempotency_in_flight', 'payment_id_conflict'],
  410: ['api_retired'],
  413: ['request_too_large'],
  415: ['unsupported_media_type'],
  422: ['idempotency_mismatch'],
  429: ['rate_limited', 'quota_exceeded'],
  500: ['internal_error'],
  502: [
    ...(['upstream_unreachable', 'upstream_invalid_response', 'response_too_large'] as const),
    ...(['call_interrupted', 'soap_fault'] as const)
  ],
  503: ['api_paused', 'owner_unreachable', 'overloaded', 'settlement_pending', 'settlement_unavailable'],
  504: ['lookup_timeout', 'upstream_timeout']
}

const codes = Object.keys(ERRORS) as ErrorCode[]
const SECRET = 'hunter2-at-10.0.0.7'

describe('the table of errors', () => {
  for (const code of codes) {
    it(`gives ${code} a status and a safe title`, () => {
      assert.match(code, /^[a-z]+(_[a-z]+)*$/)
      assert.ok(ERRORS[code].status >= 400 && ERRORS[code].status <= 599)
      assert.match(ERRORS[code].title, /^[A-Z][^\n]{5,100}\.$/)
      assert.equal(typeof ERRORS[code].retryable, 'boolean')
    })
  }

  it('keeps the status of each documented code', () => {
    for (const [status, promised] of Object.entries(PROMISED)) {
      for (const code of promised) assert.equal(ERRORS[code].status, Number(status), code)
    }
  })

  it('marks no error of the request itself as retryable', () => {
    for (const code of codes) {
      const isRequestsFault = ERRORS[code].status < 500 && ![409, 429].includes(ERRORS[code].status)
      if (isRequestsFault) assert.equal(ERRORS[code].retryable, false, code)
    }
  })

  it('knows its own codes, but no inherited property', () => {
    assert.ok(codes.every(isErrorCode))
    for (const other of ['', 'ENOENT', 'constructor', 'toString', '__proto__', 404, null, undefined, {}]) {
      assert.equal(isErrorCode(other), false)
    }
  })
})

describe('SoukError', () => {
  it('takes text, status and retryability from the table', () => {
    for (const code of codes) {
      const { message, status, retryable } = new SoukError(code)
      assert.deepEqual({ message, status, retryable }, { ...pick(code) })
    }
  })

  it('accepts a detail, and a status for a fault of the caller', () => {
    const error = new SoukError('soap_fault', 'Unknown account.', { status: 400, source: 'upstream', retryAfterMs: 5 })
    assert.equal(error.message, 'Unknown account.')
    assert.equal(error.status, 400)
    assert.equal(error.source, 'upstream')
    assert.equal(error.retryAfterMs, 5)
  })

  it('has no cause by default', () => {
    assert.equal(Object.hasOwn(new SoukError('overloaded'), 'cause'), false)
    assert.equal(new SoukError('overloaded', undefined, { cause: 'x' }).cause, 'x')
  })

  it('is recognised by its code, also from another copy of the package', () => {
    assert.ok(isSoukError(new SoukError('api_not_found')))
    assert.ok(isSoukError(Object.assign(new Error('x'), { code: 'api_not_found', status: 404 })))
    for (const other of [
      new Error('api_not_found'),
      Object.assign(new Error('x'), { code: 'ENOENT', status: 404 }),
      Object.assign(new Error('x'), { code: 'constructor', status: 404 }),
      Object.assign(new Error('x'), { code: 'api_not_found' }),
      { code: 'api_not_found', status: 404, message: 'x' },
      'api_not_found',
      null,
      undefined
    ]) {
      assert.equal(isSoukError(other), false)
    }
  })

  it('stays unchanged in asSoukError; any other error becomes internal_error with a cause', () => {
    const error = new SoukError('overloaded')
    assert.equal(asSoukError(error), error)
    for (const thrown of [new Error(SECRET), SECRET, { message: SECRET }, null]) {
      const wrapped = asSoukError(thrown)
      assert.equal(wrapped.code, 'internal_error')
      assert.equal(wrapped.cause, thrown)
      assert.equal(wrapped.message, ERRORS.internal_error.title)
    }
  })

  function pick(code: ErrorCode) {
    const { title, status, retryable } = ERRORS[code]
    return { message: title, status, retryable }
  }
})

describe('a problem document', () => {
  it('has every member of RFC 9457 and of the marketplace', () => {
    const error = new SoukError('rate_limited', 'Ten calls a second are allowed.', { source: 'owner' })
    assert.deepEqual(toProblem(error, 'id-1'), {
      type: 'https://souk.dev/problems/rate_limited',
      title: 'Too many requests.',
      status: 429,
      detail: 'Ten calls a second are allowed.',
      code: 'rate_limited',
      request_id: 'id-1',
      charged: false,
      amount_charged: '0',
      retryable: true,
      source: 'owner'
    })
  })

  it('has a null charge where the charge is unknown', () => {
    const error = new SoukError('upstream_timeout', 'Late.', { source: 'owner', retryAfterMs: 5, members: { a: 1 } })
    const problem = toProblem(withUnknownCharge(error), 'id')
    assert.deepEqual(problem, { ...toProblem(error, 'id'), charged: null, amount_charged: null })
    assert.equal(withUnknownCharge(error).retryAfterMs, 5)
  })

  it('says that a call was not accepted, unless its charge is unknown', () => {
    const error = new SoukError('overloaded', undefined, { notAccepted: true })
    assert.equal(toProblem(error, 'id').not_accepted, true)
    for (const other of [withUnknownCharge(error), new SoukError('overloaded')])
      assert.ok(!('not_accepted' in toProblem(other, 'id')))
  })

  it('has an absolute type for each code', () => {
    for (const code of codes) {
      const { type } = toProblem(new SoukError(code), 'id')
      assert.equal(new URL(type).href, PROBLEM_TYPE_BASE + code)
    }
  })

  it('names its reporter as source where the error has none', () => {
    assert.equal(toProblem(new SoukError('overloaded'), 'id').source, 'ingress')
    assert.equal(toProblem(new SoukError('overloaded'), 'id', 'owner').source, 'owner')
    assert.equal(toProblem(new SoukError('overloaded', '', { source: 'upstream' }), 'id', 'owner').source, 'upstream')
  })

  it('never shows a cause or a stack', () => {
    for (const code of codes) {
      const cause = new Error(SECRET, { cause: new Error(SECRET) })
      const shown = JSON.stringify(toProblem(new SoukError(code, undefined, { cause }), 'id'))
      assert.ok(!shown.includes(SECRET) && !shown.includes('.spec.ts'), shown)
    }
    assert.ok(!JSON.stringify(toProblem(asSoukError(new Error(SECRET)), 'id')).includes(SECRET))
  })

  it('shows public members, which cannot replace standard ones', () => {
    const members = { candidates: ['a', 'b'], status: 200, code: 'fine', charged: true, request_id: 'other' }
    const problem = toProblem(new SoukError('name_conflict', undefined, { members }), 'id')
    assert.deepEqual(problem['candidates'], ['a', 'b'])
    assert.equal(problem.status, 409)
    assert.equal(problem.code, 'name_conflict')
    assert.equal(problem.charged, false)
    assert.equal(problem.request_id, 'id')
  })
})
