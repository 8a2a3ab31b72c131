import { IDEMPOTENCY_KEY_CHARS_MAX, PATH_BYTES_MAX } from './limits/call.ts'

const METHOD = /^[A-Z]{1,32}$/
const PATH = /^(?:[/?].*)?$/s
/** It is also an HTTP header. */
const KEY = /^[ -~]+$/

/** An HTTP method in capital letters. */
export const isMethod = (method: string): boolean => METHOD.test(method)

/** A sub-path, a query, both or nothing. Its characters are bytes of a URL. */
export const isCallPath = (path: string): boolean => path.length <= PATH_BYTES_MAX && PATH.test(path)

export const isIdempotencyKey = (key: string): boolean => key.length <= IDEMPOTENCY_KEY_CHARS_MAX && KEY.test(key)
