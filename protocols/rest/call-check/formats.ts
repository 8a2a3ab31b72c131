import { fastFormats, fullFormats } from 'ajv-formats/dist/formats.js'
import type { Format } from 'ajv/dist/2020.js'
import { PATTERN_CHARS_MAX } from '../../../lib/base/limits/descriptions.ts'
import { isEcma } from '../../pattern/ecma-pattern.ts'

const URL_FORMAT = /^(?:https?|ftp):\/\/[^\s/?#]+[^\s]*$/i

/** ISO 8601, also with a sign and fractions, as Python and .NET write it. */
const DURATION =
  /^[+-]?P(?=.)(?:\d+(?:[.,]\d+)?W|(?:\d+Y)?(?:\d+M)?(?:\d+(?:[.,]\d+)?D)?(?:T(?=.)(?:\d+(?:[.,]\d+)?H)?(?:\d+(?:[.,]\d+)?M)?(?:\d+(?:[.,]\d+)?S)?)?)$/

/**
 * The formats of ajv-formats with linear running time. `uri`, `uri-reference` and `email` are its fast variants, because the full
 * ones backtrack; `url` is our own for the same reason. Times need no zone, because many APIs describe local
 * times so. `regex` compiles a consumer's pattern but never runs it.
 */
export const FORMATS: Readonly<Record<string, Format>> = {
  ...fullFormats,
  uri: fastFormats.uri,
  'uri-reference': fastFormats['uri-reference'],
  email: fastFormats.email,
  url: URL_FORMAT,
  time: fullFormats['iso-time'],
  'date-time': fullFormats['iso-date-time'],
  duration: DURATION,
  regex: (text: string) => text.length <= PATTERN_CHARS_MAX && isEcma(text)
}
