import { fastFormats, fullFormats } from 'ajv-formats/dist/formats.js'
import type { Format } from 'ajv/dist/2020.js'
import { PATTERN_CHARS_MAX } from '../../../lib/base/limits/descriptions.ts'
import { isEcma } from '../../pattern/ecma-pattern.ts'

const URL_FORMAT = /^(?:https?|ftp):\/\/[^\s/?#]+[^\s]*$/i

/**
 * The formats of ajv-formats with linear running time. `uri`, `uri-reference` and `email` are its fast variants, because the full
 * ones backtrack; `url` is our own for the same reason. `regex` compiles a consumer's pattern but never runs it.
 */
export const FORMATS: Readonly<Record<string, Format>> = {
  ...fullFormats,
  uri: fastFormats.uri,
  'uri-reference': fastFormats['uri-reference'],
  email: fastFormats.email,
  url: URL_FORMAT,
  regex: (text: string) => text.length <= PATTERN_CHARS_MAX && isEcma(text)
}
