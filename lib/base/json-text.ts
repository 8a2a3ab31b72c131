import { isUtf8 } from 'node:buffer'
import { latin1 } from './bytes.ts'
import { SoukError } from './errors.ts'
import { JSON_DEPTH_MAX, RESPONSE_JSON_DEPTH_MAX } from './limits/call.ts'

/** The outermost value of a JSON text. */
export type JsonShape = 'object' | 'array' | 'scalar'

const [TAB, LINE_FEED, CARRIAGE_RETURN, SPACE] = [0x09, 0x0a, 0x0d, 0x20]
const [QUOTE, BACKSLASH, COMMA, COLON, MINUS, PLUS, DOT] = [0x22, 0x5c, 0x2c, 0x3a, 0x2d, 0x2b, 0x2e]
const [ARRAY, ARRAY_END, OBJECT, OBJECT_END, ZERO, NINE] = [0x5b, 0x5d, 0x7b, 0x7d, 0x30, 0x39]
const LITERALS = new Map(['true', 'false', 'null'].map((word) => [word.charCodeAt(0), Buffer.from(word)]))
const ESCAPED = new Set(Buffer.from('"\\/bfnrt'))
const LOWER_U = 0x75
/** Plain bytes after which a string is read in words. */
const LONG_BYTES = 64
const WORD_BYTES = Int32Array.BYTES_PER_ELEMENT
/** A byte in each place of a word. */
const [ONES, HIGH_BITS, QUOTES, BACKSLASHES, SPACES] = [0x01010101, 0x80808080 | 0, 0x22222222, 0x5c5c5c5c, 0x20202020]

/**
 * Checks a JSON text (RFC 8259, UTF-8) without building its value. Accepts valid texts nested up to `JSON_DEPTH_MAX`.
 * The ingress checks requests for its consumers; the owner checks again because it trusts no ingress.
 * @throws SoukError `invalid_request` with the member `position` (byte offset) and no part of the text
 */
export function checkJson(bytes: Uint8Array): JsonShape {
  const start = check(bytes, JSON_DEPTH_MAX)
  return bytes[start] === OBJECT ? 'object' : bytes[start] === ARRAY ? 'array' : 'scalar'
}

/**
 * The named members of an API's response: their JSON texts. Checks the whole text, nested up to `RESPONSE_JSON_DEPTH_MAX`. `JSON.parse`
 * takes seconds for a text of a million names, this a tenth of that.
 * @param names in ASCII
 * @returns undefined if the outermost value is not an object. Of two members with one name, the last counts, as in `JSON.parse`.
 * @throws as `checkJson`
 */
export function membersIn(bytes: Uint8Array, names: readonly string[]): ReadonlyMap<string, Uint8Array> | undefined {
  const found = new Map<string, Uint8Array>()
  const start = check(bytes, RESPONSE_JSON_DEPTH_MAX, (nameAt, nameEnd, valueAt, valueEnd) => {
    const token = latin1(bytes.subarray(nameAt, nameEnd))
    const name = token.includes('\\') ? (JSON.parse(token) as string) : token.slice(1, -1)
    if (names.includes(name)) found.set(name, bytes.subarray(valueAt, valueEnd))
  })
  return bytes[start] === OBJECT ? found : undefined
}

/** Gets the range of each name, with its quotes, and of its value. */
type OnMember = (nameAt: number, nameEnd: number, valueAt: number, valueEnd: number) => void

/** Returns the position of the outermost value. */
function check(bytes: Uint8Array, levels: number, onMember?: OnMember): number {
  if (!isUtf8(bytes)) throw new SoukError('invalid_request', 'The body is not UTF-8. JSON must be UTF-8.')
  if (isMarked(bytes)) {
    throw new SoukError('invalid_request', 'The body starts with a byte order mark (U+FEFF). Send the JSON without it.')
  }
  const start = skipSpace(bytes, 0)
  if (start === bytes.length)
    throw new SoukError('invalid_request', 'The body is empty. Send a JSON object, for example {}.')
  const end = skipSpace(bytes, value(bytes, start, levels, onMember))
  if (end !== bytes.length) throw invalid(bytes, end)
  return start
}

/** Windows programs write this mark. RFC 8259 forbids it. */
const isMarked = (bytes: Uint8Array): boolean => bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf

/**
 * Each of the following functions takes the start of a part and returns the position after it. The depth limit bounds
 * the recursion.
 */
function value(bytes: Uint8Array, at: number, levels: number, onMember?: OnMember): number {
  const first = bytes[at]
  if (first === QUOTE) return string(bytes, at)
  if (first === OBJECT) return object(bytes, at, inner(levels), onMember)
  if (first === ARRAY) return array(bytes, at, inner(levels))
  const literal = first === undefined ? undefined : LITERALS.get(first)
  return literal === undefined ? number(bytes, at) : word(bytes, at, literal)
}

/** @param levels - how many may begin here */
function inner(levels: number): number {
  if (levels === 0) {
    throw new SoukError('invalid_request', `The body is nested too deeply: a call may have ${JSON_DEPTH_MAX} levels.`)
  }
  return levels - 1
}

function object(bytes: Uint8Array, start: number, levels: number, onMember?: OnMember): number {
  let at = skipSpace(bytes, start + 1)
  if (bytes[at] === OBJECT_END) return at + 1
  for (;;) {
    if (bytes[at] !== QUOTE) throw invalid(bytes, at)
    const nameAt = at
    const nameEnd = string(bytes, at)
    at = skipSpace(bytes, nameEnd)
    if (bytes[at] !== COLON) throw invalid(bytes, at)
    const valueAt = skipSpace(bytes, at + 1)
    const valueEnd = value(bytes, valueAt, levels)
    onMember?.(nameAt, nameEnd, valueAt, valueEnd)
    at = skipSpace(bytes, valueEnd)
    if (bytes[at] === OBJECT_END) return at + 1
    if (bytes[at] !== COMMA) throw invalid(bytes, at)
    at = skipSpace(bytes, at + 1)
  }
}

function array(bytes: Uint8Array, start: number, levels: number): number {
  let at = skipSpace(bytes, start + 1)
  if (bytes[at] === ARRAY_END) return at + 1
  for (;;) {
    at = skipSpace(bytes, value(bytes, at, levels))
    if (bytes[at] === ARRAY_END) return at + 1
    if (bytes[at] !== COMMA) throw invalid(bytes, at)
    at = skipSpace(bytes, at + 1)
  }
}

function string(bytes: Uint8Array, start: number): number {
  let plainFrom = start
  for (let at = start + 1; ; at++) {
    const byte = bytes[at]
    if (byte === QUOTE) return at + 1
    if (byte === BACKSLASH) plainFrom = at = escaped(bytes, at + 1)
    else if (byte === undefined || byte < SPACE) throw invalid(bytes, at)
    else if (at - plainFrom > LONG_BYTES && endsWord(bytes, at)) plainFrom = at = lastPlain(bytes, at)
  }
}

/**
 * The last plain byte in the whole words after `start`. Tests four bytes at once for a quote, a backslash and a control
 * character, each by the test for a zero byte (Hacker's Delight, section 6-1).
 */
function lastPlain(bytes: Uint8Array, start: number): number {
  const { buffer, byteOffset, length } = bytes
  const firstByte = byteOffset + start + 1
  const words = new Int32Array(buffer, firstByte, Math.floor((byteOffset + length - firstByte) / WORD_BYTES))
  let at = 0
  while (at < words.length && !mayEndPlain(words[at] ?? 0)) at++
  return start + at * WORD_BYTES
}

/** Whether the word may have a quote, a backslash or a control character. `~word` excludes bytes from 0x80 on, which are plain. */
function mayEndPlain(word: number): boolean {
  const found = ((word ^ QUOTES) - ONES) | ((word ^ BACKSLASHES) - ONES) | (word - SPACES)
  return (found & ~word & HIGH_BITS) !== 0
}

/** Whether the next byte starts a word of the buffer: typed arrays of words start there only. */
function endsWord({ byteOffset }: Uint8Array, at: number): boolean {
  return (byteOffset + at + 1) % WORD_BYTES === 0
}

/**
 * Whether a text's brackets nest deeper than `depthMax`. The text need not be valid JSON, because responses are
 * returned as the API wrote them. Unmatched closing brackets do not count.
 */
export function nestsDeeperThan(bytes: Uint8Array, depthMax: number): boolean {
  let depth = 0
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]
    if (byte === QUOTE) at = closingQuote(bytes, at)
    else if (byte === OBJECT || byte === ARRAY) {
      if (++depth > depthMax) return true
    } else if ((byte === OBJECT_END || byte === ARRAY_END) && depth > 0) depth--
  }
  return false
}

/** A native search skips a string much faster than a loop over bytes. */
function closingQuote(bytes: Uint8Array, start: number): number {
  for (let at = bytes.indexOf(QUOTE, start + 1); at !== -1; at = bytes.indexOf(QUOTE, at + 1)) {
    let backslashes = 0
    while (bytes[at - 1 - backslashes] === BACKSLASH) backslashes++
    if (backslashes % 2 === 0) return at
  }
  return bytes.length
}

/** Takes the position after the backslash and returns the escape's last byte. */
function escaped(bytes: Uint8Array, at: number): number {
  const byte = bytes[at]
  if (byte !== LOWER_U) {
    if (byte === undefined || !ESCAPED.has(byte)) throw invalid(bytes, at)
    return at
  }
  for (let i = 1; i <= 4; i++) if (!isHex(bytes[at + i])) throw invalid(bytes, at + i)
  return at + 4
}

function number(bytes: Uint8Array, start: number): number {
  let at = bytes[start] === MINUS ? start + 1 : start
  at = bytes[at] === ZERO ? at + 1 : digits(bytes, at)
  if (bytes[at] === DOT) at = digits(bytes, at + 1)
  // `e` or `E`
  if (((bytes[at] ?? 0) | 0x20) !== 0x65) return at
  const sign = bytes[at + 1]
  return digits(bytes, sign === PLUS || sign === MINUS ? at + 2 : at + 1)
}

/** One or more digits. */
function digits(bytes: Uint8Array, start: number): number {
  let at = start
  while (isDigit(bytes[at])) at++
  if (at === start) throw invalid(bytes, at)
  return at
}

function word(bytes: Uint8Array, start: number, expected: Uint8Array): number {
  for (let i = 0; i < expected.length; i++) if (bytes[start + i] !== expected[i]) throw invalid(bytes, start + i)
  return start + expected.length
}

function skipSpace(bytes: Uint8Array, start: number): number {
  let at = start
  for (;;) {
    const byte = bytes[at]
    if (byte !== SPACE && byte !== LINE_FEED && byte !== CARRIAGE_RETURN && byte !== TAB) return at
    at++
  }
}

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= ZERO && byte <= NINE
}

function isHex(byte: number | undefined): boolean {
  if (byte === undefined) return false
  const lower = byte | 0x20
  return isDigit(byte) || (lower >= 0x61 && lower <= 0x66)
}

function invalid(bytes: Uint8Array, position: number): SoukError {
  const what = position >= bytes.length ? 'it ends too early' : 'there is a syntax error'
  return new SoukError('invalid_request', `The body is not valid JSON: ${what} at byte ${position}.`, {
    members: { position }
  })
}
