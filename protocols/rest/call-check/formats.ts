import { fastFormats, fullFormats } from 'ajv-formats/dist/formats.js'
import type { Format } from 'ajv/dist/2020.js'
import { PATTERN_CHARS_MAX } from '../../../lib/base/limits.ts'
import { isEcma } from '../../pattern/ecma-pattern.ts'

const URL_FORMAT = /^(?:https?|ftp):\/\/[^\s/?#]+[^\s]*$/i

/**
 * Those of ajv-formats, as far as their time grows with the text. `uri`, `uri-reference` and `email` are its fast ones, as the full
 * ones try one text in many ways; `url` is one of ours for the same reason. `regex` compiles a consumer's pattern and never runs it.
 */
export const FORMATS: Readonly<Record<string, Format>> = {
  ...fullFormats,
  uri: fastFormats.uri,
  'uri-reference': fastFormats['uri-reference'],
  email: fastFormats.email,
  url: URL_FORMAT,
  regex: (text: string) => text.length <= PATTERN_CHARS_MAX && isEcma(text)
}
