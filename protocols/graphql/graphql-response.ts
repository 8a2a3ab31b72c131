import { utf8 } from '../../lib/base/bytes.ts'
import { membersIn } from '../../lib/base/json-text.ts'

/** A well-formed GraphQL response (specification, section 7.1): a map with `data`, `errors` or both. */
export interface GraphqlResponse {
  /** Null or absent after an error that left no data. */
  readonly data?: object | null
  /** Its items are not checked. */
  readonly errors?: ReadonlyArray<{ readonly message?: unknown } | null> | null
}

/** The facts of a response that decide what it costs. */
export interface ResponseOutline {
  readonly hasData: boolean
  readonly hasErrors: boolean
}

const [SPACE, ARRAY, LOWER_N, OBJECT] = [0x20, 0x5b, 0x6e, 0x7b]
const MARK = utf8('\u{feff}')

/**
 * Reads a response without building its values. Some servers write `null` for absent errors, or begin with a byte order mark.
 * @returns undefined if the bytes are not a response, or nest deeper than `RESPONSE_JSON_DEPTH_MAX`
 */
export function outlineIn(bytes: Uint8Array): ResponseOutline | undefined {
  const isMarked = Buffer.compare(bytes.subarray(0, MARK.length), MARK) === 0
  const members = membersOf(isMarked ? bytes.subarray(MARK.length) : bytes)
  const [data, errors] = [members?.get('data'), members?.get('errors')]
  if (data === undefined && errors === undefined) return undefined
  if (!mayBegin(data, OBJECT) || !mayBegin(errors, ARRAY)) return undefined
  const isEmpty = errors?.[0] !== ARRAY || errors.subarray(1, -1).every((byte) => byte <= SPACE)
  return { hasData: data?.[0] === OBJECT, hasErrors: !isEmpty }
}

/** As `outlineIn`, for a text. */
export function outlineOf(text: string): ResponseOutline | undefined {
  return outlineIn(utf8(text))
}

function membersOf(bytes: Uint8Array): ReadonlyMap<string, Uint8Array> | undefined {
  try {
    return membersIn(bytes, ['data', 'errors'])
  } catch {
    return undefined
  }
}

/** Also true for null, and for an absent member. */
function mayBegin(value: Uint8Array | undefined, first: number): boolean {
  return value === undefined || value[0] === first || value[0] === LOWER_N
}

const decoder = new TextDecoder('utf-8', { fatal: true })

/** Parses a response whole; undefined as in `outlineIn`. */
export function responseIn(bytes: Uint8Array): GraphqlResponse | undefined {
  return outlineIn(bytes) === undefined ? undefined : (JSON.parse(decoder.decode(bytes)) as GraphqlResponse)
}
