import { isApiName, isProviderId } from '../base/api-name.ts'
import {
  AMOUNT,
  checkMembers,
  FUNCTION,
  isText,
  type MemberRule,
  type MemberRules,
  TEXT,
  withMethods
} from '../base/check-members.ts'
import { isCallPath, isIdempotencyKey, isMethod } from '../base/call-fields.ts'
import { IDEMPOTENCY_KEY_CHARS_MAX, PATH_BYTES_MAX, UPSTREAM_TIMEOUT_MS_MAX } from '../base/limits/call.ts'
import { malformed } from '../base/malformed.ts'
import { isRequestIdBytes } from '../base/request-id.ts'
import type { CallInit } from '../interface/souk.ts'

function isRef(value: unknown): boolean {
  const { name, provider } = (value ?? {}) as { readonly name?: unknown; readonly provider?: unknown }
  return isText(name) && isApiName(name) && (provider === undefined || (isText(provider) && isProviderId(provider)))
}

const API: MemberRule = {
  fits: (api) => isText(api) || isRef(api),
  what: 'a string such as "weather", or the same parsed'
}
const HEADERS: MemberRule = { fits: Array.isArray, what: 'a list of pairs, each of a name and a value' }

/** Types of all fields. The other limits of a field are checked where it is used. */
const RULES: MemberRules<CallInit> = {
  api: API,
  body: { fits: () => true, what: 'JSON or bytes' },
  method: {
    fits: (method) => isText(method) && isMethod(method),
    what: 'an HTTP method in capital letters, such as "GET"'
  },
  path: {
    fits: (path) => isText(path) && isCallPath(path),
    what: `empty, or a string that starts with "/" or "?", of at most ${PATH_BYTES_MAX} characters`
  },
  headers: HEADERS,
  offeredHeaders: HEADERS,
  signal: withMethods('an AbortSignal', 'addEventListener', 'throwIfAborted'),
  timeoutMs: {
    fits: (ms) => typeof ms === 'number' && ms >= 1 && ms <= UPSTREAM_TIMEOUT_MS_MAX,
    what: `1 to ${UPSTREAM_TIMEOUT_MS_MAX} milliseconds`
  },
  maxPrice: AMOUNT,
  onPrice: FUNCTION,
  subscription: TEXT,
  onFee: FUNCTION,
  eventBudget: withMethods(
    'an object with the functions `reserve`, `capture` and `release`',
    'reserve',
    'capture',
    'release'
  ),
  idempotencyKey: {
    fits: (key) => isText(key) && isIdempotencyKey(key),
    what: `1 to ${IDEMPOTENCY_KEY_CHARS_MAX} ASCII characters`
  },
  consumer: FUNCTION,
  traceparent: TEXT,
  requestId: {
    fits: (id) => id instanceof Uint8Array && isRequestIdBytes(id),
    what: 'the 16 bytes of a UUID version 7'
  },
  payment: TEXT,
  sentTo: TEXT
}

/** @throws SoukError `invalid_request`, which names the field */
export function checkCall(init: CallInit): void {
  checkMembers('A call', init, RULES)
  checkApi(init.api)
}

/** @throws SoukError `invalid_request` for what is no reference, also without TypeScript */
export function checkApi(api: unknown): void {
  if (!API.fits(api)) throw malformed('api', `\`api\` must be ${API.what}.`)
}
