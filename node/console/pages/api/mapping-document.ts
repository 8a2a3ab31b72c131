import {
  isJsonObject,
  isObject,
  type Json,
  membersOf,
  type Schema,
  shapeOf,
  typeName
} from '../../parts/form/schema.ts'

/** Type of a mapping. It lists the members that the console edits. All other members stay unchanged. */

export type Side = 'input' | 'output'

export interface Rule {
  readonly rename?: string
  readonly hide?: true
  readonly value?: Json
  readonly default?: Json
  readonly required?: true
  readonly min?: Json
  readonly max?: Json
  readonly minLength?: number
  readonly maxLength?: number
  readonly minItems?: number
  readonly maxItems?: number
  readonly pattern?: string
  readonly enum?: readonly Json[]
}

type Rules = { readonly [path: string]: Rule }

export interface MappingDocument {
  readonly version: 1
  readonly revision: number
  readonly operations: { readonly [name: string]: { readonly [side in Side]?: Rules } }
}

export const PLAIN: MappingDocument = { version: 1, revision: 1, operations: {} }

export function ruleAt({ operations }: MappingDocument, operation: string, side: Side, path: string): Rule {
  return operations[operation]?.[side]?.[path] ?? {}
}

/** Replaces the rule of a field. Empty rules, and objects that become empty, are removed. */
export function withRule(
  document: MappingDocument,
  operation: string,
  side: Side,
  path: string,
  rule: Rule
): MappingDocument {
  const { [operation]: known = {}, ...operations } = document.operations
  const { [path]: _, ...others } = known[side] ?? {}
  const rules: Rules = Object.keys(rule).length === 0 ? others : { ...others, [path]: rule }
  const { [side]: __, ...rest } = known
  const changed = Object.keys(rules).length === 0 ? rest : { ...rest, [side]: rules }
  return {
    ...document,
    operations: Object.keys(changed).length === 0 ? operations : { ...operations, [operation]: changed }
  }
}

/** A field of a message according to the WSDL. */
export interface Row {
  readonly path: string
  readonly depth: number
  readonly type: string
  readonly isRequired: boolean
  readonly isList: boolean
  /** True if the field has a value, so that rules can apply. */
  readonly isValue: boolean
  readonly description: string | undefined
}

const ROWS_MAX = 300
const DEPTH_MAX = 8
/** Field names that Souk adds. They are not in the WSDL. */
const OURS: ReadonlySet<string> = new Set(['operation', '$type', '$any'])

/** Fields of a message, parents before children. A recursive type is expanded once. */
export function rowsOf(schema: Schema): readonly Row[] {
  const rows: Row[] = []
  const add = (given: unknown, above: string, opened: ReadonlySet<string>, depth: number) => {
    const { shape, refs } = unwrapped(given, schema)
    if (depth > DEPTH_MAX || refs.some((ref) => opened.has(ref))) return
    const object = shape.kind === 'choice' ? shape.choices.find((one) => isObject(one['properties'])) : shape.schema
    for (const { name, schema: own, isRequired } of membersOf(object ?? {}) ?? []) {
      if ((depth === 0 && OURS.has(name)) || name === '$type' || name === '$any' || rows.length >= ROWS_MAX) continue
      const path = [...(above === '' ? [] : [above]), depth === 0 && name === '$operation' ? 'operation' : name].join(
        '/'
      )
      const { shape: one, isList } = unwrapped(own, schema)
      const { description } = shapeOf(own, schema).schema
      rows.push({
        path,
        depth,
        type: typeName(own, schema),
        isRequired,
        isList,
        isValue: one.kind !== 'object' && one.kind !== 'any',
        description: typeof description === 'string' ? description.slice(0, 200) : undefined
      })
      add(own, path, new Set([...opened, ...refs]), depth + 1)
    }
  }
  add(schema, '', new Set(), 0)
  return rows
}

/** The item type of nested lists, and the references on the way to it. */
function unwrapped(given: unknown, root: Schema) {
  const refs: string[] = []
  let [at, isList] = [given, false]
  for (let hops = 0; hops < DEPTH_MAX; hops++) {
    refs.push(...refsIn(at))
    const shape = shapeOf(at, root)
    if (shape.kind !== 'array') return { shape, refs, isList }
    isList = true
    at = shape.schema['items']
  }
  return { shape: shapeOf({}, root), refs, isList }
}

function refsIn(given: unknown): string[] {
  if (!isObject(given)) return []
  const { $ref, anyOf } = given
  const others: readonly unknown[] = Array.isArray(anyOf) ? anyOf : []
  return [...(typeof $ref === 'string' ? [$ref] : []), ...others.flatMap((one) => refsIn(one))]
}

/** Example of the request to the service: in names of the WSDL, with values from the mapping. */
export function asSent(example: Json, rules: Rules): Json {
  return Object.entries(rules).reduce((sent, [path, rule]) => {
    const fixed = rule.value ?? rule.default
    if (fixed !== undefined) return changedAt(sent, path.split('/'), fixed)
    return rule.hide === true ? changedAt(sent, path.split('/'), undefined) : sent
  }, example)
}

function changedAt(value: Json, [step, ...below]: readonly string[], to: Json | undefined): Json {
  if (Array.isArray(value))
    return value.map((item: Json) => changedAt(item, step === undefined ? [] : [step, ...below], to))
  if (step === undefined || !isJsonObject(value)) return value
  const { [step]: known, ...rest } = value
  if (below.length > 0) return known === undefined ? value : { ...value, [step]: changedAt(known, below, to) }
  return to === undefined ? rest : { ...value, [step]: to }
}

/** Describes a rule in words. */
export function ruleText(rule: Rule): string {
  const said = (word: string, value: Json | undefined) => (value === undefined ? [] : [`${word} ${shortened(value)}`])
  return [
    ...(rule.hide === true ? ['hidden'] : []),
    ...said('always', rule.value),
    ...said('default', rule.default),
    ...(rule.required === true ? ['required'] : []),
    ...said('at least', rule.min),
    ...said('at most', rule.max),
    ...said('min. characters', rule.minLength),
    ...said('max. characters', rule.maxLength),
    ...said('min. items', rule.minItems),
    ...said('max. items', rule.maxItems),
    ...said('matches', rule.pattern),
    ...said('one of', rule.enum)
  ].join(', ')
}

function shortened(value: Json): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return text.length > 40 ? `${text.slice(0, 40)}…` : text
}
