import type { z } from 'zod'

/**
 * Says what is wrong with a value. The text follows the name of the value: `limit: give a number of at least 1`. Pass this function to
 * `safeParse` as `error`: it serves all rules of a schema that have no text of their own.
 */
export function invalidText(issue: z.core.$ZodRawIssue): string {
  if (issue.input === undefined) return 'it is missing'
  switch (issue.code) {
    case 'invalid_type':
      return `give ${NAMES[issue.expected] ?? issue.expected}`
    case 'too_small':
      return size(issue.origin, 'at least', Number(issue.minimum))
    case 'too_big':
      return size(issue.origin, 'at most', Number(issue.maximum))
    case 'invalid_value':
      return `give ${issue.values.length === 1 ? '' : 'one of '}${issue.values.join(', ')}`
    case 'unrecognized_keys':
      return `unknown: ${issue.keys.join(', ')}`
    default:
      return 'the value has the wrong form'
  }
}

const NAMES: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object'
}

function size(of: string, least: string, bound: number): string {
  if (of === 'string') return `give ${least} ${bound} ${bound === 1 ? 'character' : 'characters'}`
  if (of === 'array') return `give ${least} ${bound} ${bound === 1 ? 'value' : 'values'}`
  return `give a number of ${least} ${bound}`
}
