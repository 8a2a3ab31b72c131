import { fastFormats, fullFormats } from 'ajv-formats/dist/formats.js'
import type { Format, FormatDefinition } from 'ajv/dist/2020.js'
import { PATTERN_CHARS_MAX } from '../../../lib/base/limits/descriptions.ts'
import { isEcma } from '../../pattern/ecma-pattern.ts'

const URL_FORMAT = /^(?:https?|ftp):\/\/[^\s/?#]+[^\s]*$/i

/** ISO 8601, also with a sign and fractions, as Python and .NET write it; a `TimeSpan` of .NET (`1.10:30:00`); a duration of Go and protobuf (`1h30m`, `1.5s`). */
const DURATIONS = [
  /^[+-]?P(?=.)(?:\d+(?:[.,]\d+)?W|(?:\d+Y)?(?:\d+M)?(?:\d+(?:[.,]\d+)?D)?(?:T(?=.)(?:\d+(?:[.,]\d+)?H)?(?:\d+(?:[.,]\d+)?M)?(?:\d+(?:[.,]\d+)?S)?)?)$/,
  /^-?(?:\d+\.)?\d{1,2}:\d\d(?::\d\d(?:\.\d+)?)?$/,
  /^[+-]?(?:\d+(?:\.\d+)?(?:ns|us|µs|ms|[smhdwy]))+$/
]
const TO_THE_MINUTE = /\d\d:\d\d(?=$|[z+-])/i

const isMoment = secondsOptional('iso-date-time')
const { validate: isDate } = fullFormats.date as Checked

/**
 * The formats of ajv-formats, where a text may also be what APIs with this format use: dates with a time, moments without one, times without a zone or without seconds, addresses
 * beyond ASCII or without a scheme, names of hosts with an underscore, base64 for URLs or in lines. All take linear time, for which `uri` and `uri-reference`
 * are the fast variants. `regex` compiles a consumer's pattern but never runs it.
 */
export const FORMATS: Readonly<Record<string, Format>> = {
  ...fullFormats,
  uri: fastFormats['uri-reference'],
  'uri-reference': fastFormats['uri-reference'],
  email: /^[^\s@]+@[^\s@]+$/,
  hostname: /^[^\s/?#@:]{1,253}$/,
  url: URL_FORMAT,
  byte: /^[\w\s+/=-]*$/,
  date: (text: string) => isDate(text) || isMoment(text),
  time: secondsOptional('iso-time'),
  'date-time': (text: string) => isMoment(text) || isDate(text),
  duration: (text: string) => DURATIONS.some((pattern) => pattern.test(text)),
  regex: (text: string) => text.length <= PATTERN_CHARS_MAX && isEcma(text)
}

type Checked = FormatDefinition<string> & { readonly validate: (text: string) => boolean }

function secondsOptional(name: 'iso-time' | 'iso-date-time'): (text: string) => boolean {
  const { validate } = fullFormats[name] as Checked
  return (text) => validate(text) || validate(text.replace(TO_THE_MINUTE, '$&:00'))
}
