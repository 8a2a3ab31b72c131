import {
  CORE_SCHEMA,
  defineMappingTag,
  defineScalarTag,
  defineSequenceTag,
  load,
  mergeTag,
  YAMLException
} from 'js-yaml'
import { SoukError } from '../../../lib/base/errors.ts'
import { OPENAPI_NESTING_MAX, OPENAPI_REINDENTED_MAX } from '../../../lib/base/limits/rest.ts'

/** Tags other than those of JSON (`!name`, `!!timestamp`) have no meaning here: their values are read as if they had none. */
const untagged = (prefix: string) => [
  defineScalarTag(prefix, { matchByTagPrefix: true, resolve: (text) => text, identify: () => false }),
  defineSequenceTag<unknown[]>(prefix, {
    matchByTagPrefix: true,
    create: () => [],
    addItem: (items, item) => void items.push(item),
    identify: () => false
  }),
  defineMappingTag<Map<string, unknown>, object>(prefix, {
    matchByTagPrefix: true,
    create: () => new Map(),
    addPair: (members, key, value) => {
      members.set(String(key), value)
      return ''
    },
    has: (members, key) => members.has(String(key)),
    keys: (members) => Object.keys(members),
    get: (members, key) => (members as Record<string, unknown>)[String(key)],
    finalize: (members) => Object.fromEntries(members),
    identify: () => false
  })
]
const OPTIONS = {
  schema: CORE_SCHEMA.withTags(mergeTag, untagged('!'), untagged('tag:')),
  // As in JSON, the last of two equal keys counts.
  json: true,
  maxDepth: OPENAPI_NESTING_MAX
}
/** Deeper than any key of a real document. */
const INDENTATION = ' '.repeat(2 * OPENAPI_NESTING_MAX)

/** The value of a JSON or YAML text. @throws SoukError `invalid_request` that names the line of the problem */
export function parsedText(text: string): unknown {
  const plain = text.replace(/^\uFEFF/, '')
  let problem: unknown
  if (/^\s*[{[]/.test(plain)) {
    try {
      return JSON.parse(plain)
    } catch (error) {
      // YAML accepts comments and trailing commas.
      problem = error
    }
  }
  try {
    return yaml(plain)
  } catch (error) {
    // The parser of JSON has no depth limit of its own.
    if (error instanceof RangeError || /nesting|depth/i.test(String(error))) throw tooDeep(error)
    throw unreadable(plain, problem ?? error)
  }
}

export function tooDeep(cause?: unknown): SoukError {
  return refuse(`The OpenAPI document is nested deeper than ${OPENAPI_NESTING_MAX} levels.`, cause)
}

/**
 * Other parsers accept a line within brackets or quotes that is indented less than its key, most often the closing bracket. The
 * indentation of such a line has no meaning, so it is increased.
 */
function yaml(text: string): unknown {
  let lines: string[] | undefined
  for (let repairs = 0; ; repairs++) {
    try {
      return load(lines === undefined ? text : lines.join('\n'), OPTIONS)
    } catch (error) {
      const line = error instanceof YAMLException && error.reason === 'deficient indentation' && error.mark?.line
      lines ??= text.split(/\r\n|\r|\n/)
      const given = typeof line === 'number' ? lines[line] : undefined
      if (typeof line !== 'number' || given === undefined || repairs >= OPENAPI_REINDENTED_MAX) throw error
      lines[line] = INDENTATION + given
    }
  }
}

function unreadable(text: string, problem: unknown): SoukError {
  if (problem instanceof YAMLException) {
    const { reason, mark } = problem
    const where = mark === undefined ? '' : `Line ${mark.line + 1}, column ${mark.column + 1}: `
    return refuse(`The OpenAPI document is neither JSON nor YAML. ${where}${reason}.`, problem)
  }
  const { message } = problem as Error
  const at = Number(/at position (\d+)/.exec(message)?.[1] ?? text.length)
  const line = text.slice(0, at).split(/\r\n|\r|\n/).length
  const why = message.replace(
    / at position .*| \(line .*|, ".*" is not valid JSON$|,? \.\.\..* is not valid JSON$/s,
    ''
  )
  return refuse(`The OpenAPI document is neither JSON nor YAML. Line ${line}: ${why}.`, problem)
}

function refuse(detail: string, cause?: unknown): SoukError {
  return new SoukError('invalid_request', detail, { cause })
}
