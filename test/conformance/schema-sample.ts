import * as fc from 'fast-check'

type Schema = { readonly [keyword: string]: unknown }

/** Below this depth only what is required is made. */
const DEPTH_MAX = 6
const PATTERN_TRIES = 20

/** A random value of a published JSON Schema, which fits it nearly always. Knows the keywords that our schemas use. */
export class SchemaSample {
  readonly #root: Schema
  readonly #g: fc.GeneratorValue

  constructor(root: Schema, g: fc.GeneratorValue) {
    this.#root = root
    this.#g = g
  }

  make(): unknown {
    return this.#value(this.#root, 0)
  }

  #pick<T>(values: readonly T[]): T {
    const value = values[this.#g(fc.nat, { max: values.length - 1 })]
    if (value === undefined) throw new Error('nothing to choose from')
    return value
  }

  #value(given: unknown, depth: number): unknown {
    const schema = this.#resolved(given)
    if ('const' in schema) return schema['const']
    if (Array.isArray(schema['enum'])) return this.#pick(schema['enum'])
    const choices = schemasIn(schema, 'anyOf', 'oneOf')
    if (!isSchema(schema['properties']) && choices.length > 0) return this.#value(this.#pick(choices), depth)
    if (isVariants(choices)) return this.#value(this.#pick(choices), depth)
    const types =
      (typeof schema['type'] === 'string' ? [schema['type']] : (schema['type'] as string[] | undefined)) ?? []
    const inner = schemasIn(schema, 'allOf').find((one) => one['pattern'] === undefined)
    if (types.length === 0 && inner !== undefined) return this.#value(inner, depth)
    switch (types.length === 0 ? 'string' : this.#pick(types)) {
      case 'null':
        return null
      case 'boolean':
        return this.#g(fc.boolean)
      case 'integer':
        return this.#integer(schema)
      case 'number':
        return this.#number(schema)
      case 'array':
        return this.#array(schema, depth)
      case 'object':
        return this.#object(schema, depth)
      default:
        return this.#text(schema)
    }
  }

  #resolved(given: unknown): Schema {
    let schema = isSchema(given) ? given : {}
    while (typeof schema['$ref'] === 'string') {
      const { $ref, ...others } = schema
      const found = (this.#root['$defs'] as Schema)[$ref.slice('#/$defs/'.length)]
      if (!isSchema(found)) throw new Error(`dangling ${$ref}`)
      schema = { ...found, ...others }
    }
    return schema
  }

  #integer(schema: Schema): number {
    const min = Math.ceil(Number(schema['minimum'] ?? schema['exclusiveMinimum'] ?? -(2 ** 53 - 1)))
    const max = Math.floor(Number(schema['maximum'] ?? schema['exclusiveMaximum'] ?? 2 ** 53 - 1))
    return this.#g(fc.integer, { min, max })
  }

  #number(schema: Schema): number {
    const min = Number(schema['minimum'] ?? schema['exclusiveMinimum'] ?? -1e9)
    const max = Number(schema['maximum'] ?? schema['exclusiveMaximum'] ?? 1e9)
    return this.#g(fc.double, { min: Math.min(min, max), max: Math.max(min, max), noNaN: true })
  }

  #array(schema: Schema, depth: number): unknown[] {
    const min = Number(schema['minItems'] ?? 0)
    const most = Math.min(Number(schema['maxItems'] ?? Infinity), depth > DEPTH_MAX ? min : min + 2)
    const length = this.#g(fc.integer, { min, max: Math.max(min, most) })
    return Array.from({ length }, () => this.#value(schema['items'], depth + 1))
  }

  #object(schema: Schema, depth: number): unknown {
    const wanted = new Set((schema['required'] as string[] | undefined) ?? [])
    const excluded = new Set<string>()
    this.#decide(schema, wanted, excluded)
    const members: Array<[string, unknown]> = []
    for (const [name, member] of Object.entries((schema['properties'] as Schema | undefined) ?? {})) {
      const isTaken = depth <= DEPTH_MAX && !excluded.has(name) && this.#g(fc.boolean)
      if (wanted.has(name) || isTaken) members.push([name, this.#value(member, depth + 1)])
    }
    const more = schema['additionalProperties']
    const names = schema['propertyNames']
    if (isSchema(more) && isSchema(names)) members.push([this.#text(names), this.#value(more, depth + 1)])
    for (const [pattern, member] of Object.entries((schema['patternProperties'] as Schema | undefined) ?? {})) {
      if (this.#g(fc.boolean)) members.push([this.#text({ pattern }), this.#value(member, depth + 1)])
    }
    return Object.fromEntries(members)
  }

  /** Chooses a branch of each condition on the members. */
  #decide(schema: Schema, wanted: Set<string>, excluded: Set<string>): void {
    for (const one of schemasIn(schema, 'allOf')) this.#decide(one, wanted, excluded)
    for (const keyword of ['anyOf', 'oneOf']) {
      const choices = schemasIn(schema, keyword)
      if (choices.length === 0) continue
      const chosen = this.#pick(choices)
      for (const name of (chosen['required'] as string[] | undefined) ?? []) wanted.add(name)
      for (const [name, member] of Object.entries((chosen['properties'] as Schema | undefined) ?? {}))
        if (member === false) excluded.add(name)
      this.#decide(chosen, wanted, excluded)
      if (keyword === 'oneOf') for (const other of choices) if (other !== chosen) exclude(other, wanted, excluded)
    }
  }

  #text(schema: Schema): string {
    const patterns = [schema, ...schemasIn(schema, 'allOf')].flatMap(({ pattern }) =>
      typeof pattern === 'string' ? [new RegExp(pattern, 'u')] : []
    )
    const [min, max] = [Number(schema['minLength'] ?? 0), Number(schema['maxLength'] ?? Infinity)]
    let text = ''
    for (let tries = 0; tries < PATTERN_TRIES; tries++) {
      text =
        patterns.length === 0
          ? this.#g(fc.string, { minLength: min, maxLength: Math.min(max, min + 8) })
          : this.#g(fc.stringMatching, withoutLookahead(this.#pick(patterns)))
      const length = Array.from(text).length
      if (length >= min && length <= max && patterns.every((pattern) => pattern.test(text))) return text
    }
    return text
  }
}

/** fast-check knows none; the text is tested with them. */
function withoutLookahead({ source }: RegExp): RegExp {
  return new RegExp(source.replaceAll(/\(\?[=!](?:[^()[\]]|\[[^\]]*\])*\)/g, ''), 'u')
}

function exclude(condition: Schema, wanted: ReadonlySet<string>, excluded: Set<string>): void {
  const names = (condition['required'] as string[] | undefined) ?? []
  for (const name of names) if (!wanted.has(name)) excluded.add(name)
  for (const inner of schemasIn(condition, 'anyOf', 'allOf')) exclude(inner, wanted, excluded)
}

/** True for the alternatives of a message, which repeat all members, not for conditions on members. */
function isVariants(choices: readonly Schema[]): boolean {
  return choices.length > 0 && choices.every((one) => one['type'] === 'object')
}

function schemasIn(schema: Schema, ...keywords: readonly string[]): Schema[] {
  return keywords.flatMap((keyword) => {
    const all = schema[keyword]
    return Array.isArray(all) ? all.filter(isSchema) : []
  })
}

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
