import { isApiName, isProviderId } from '../base/api-name.ts'
import { isCallPath, isIdempotencyKey, isMethod } from '../base/call-fields.ts'
import { IDEMPOTENCY_KEY_CHARS_MAX, PATH_BYTES_MAX, UPSTREAM_TIMEOUT_MS_MAX } from '../base/limits/call.ts'
import { malformed } from '../base/malformed.ts'
import { isRequestIdBytes } from '../base/request-id.ts'
import type { CallInit } from '../interface/souk.ts'

interface Rule {
  readonly field: keyof CallInit
  /** Not called for a field that is absent. */
  readonly fits: (value: unknown) => boolean
  /** Completes "`<field>` must be …". */
  readonly what: string
}

const isText = (value: unknown): value is string => typeof value === 'string'

function isRef(value: unknown): boolean {
  const { name, provider } = (value ?? {}) as { readonly name?: unknown; readonly provider?: unknown }
  return isText(name) && isApiName(name) && (provider === undefined || (isText(provider) && isProviderId(provider)))
}

/** Rules for fields that callers get wrong, also without TypeScript. Other fields are checked where they are used. */
const RULES: readonly Rule[] = [
  { field: 'api', fits: (api) => isText(api) || isRef(api), what: 'a string such as "weather", or the same parsed' },
  {
    field: 'method',
    fits: (method) => isText(method) && isMethod(method),
    what: 'an HTTP method in capital letters, such as "GET"'
  },
  {
    field: 'path',
    fits: (path) => isText(path) && isCallPath(path),
    what: `empty, or a string that starts with "/" or "?", of at most ${PATH_BYTES_MAX} characters`
  },
  { field: 'headers', fits: Array.isArray, what: 'a list of pairs, each of a name and a value' },
  {
    field: 'idempotencyKey',
    fits: (key) => isText(key) && isIdempotencyKey(key),
    what: `1 to ${IDEMPOTENCY_KEY_CHARS_MAX} ASCII characters`
  },
  {
    field: 'timeoutMs',
    fits: (ms) => typeof ms === 'number' && ms >= 1 && ms <= UPSTREAM_TIMEOUT_MS_MAX,
    what: `1 to ${UPSTREAM_TIMEOUT_MS_MAX} milliseconds`
  },
  { field: 'maxPrice', fits: isText, what: 'an amount in USDC as a string, such as "0.001"' },
  { field: 'traceparent', fits: isText, what: 'a string' },
  { field: 'payment', fits: isText, what: 'a string' },
  { field: 'consumer', fits: (consumer) => typeof consumer === 'function', what: 'a function' },
  {
    field: 'requestId',
    fits: (id) => id instanceof Uint8Array && isRequestIdBytes(id),
    what: 'the 16 bytes of a UUID version 7'
  }
]

/** @throws SoukError `invalid_request`, which names the field */
export function checkCall(init: CallInit): void {
  for (const { field, fits, what } of RULES) {
    const value = init[field]
    if (value === undefined ? field === 'api' : !fits(value)) throw malformed(field, `\`${field}\` must be ${what}.`)
  }
}
