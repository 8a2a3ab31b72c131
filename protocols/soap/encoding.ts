import type { SoukError } from '../../lib/base/errors.ts'
import type { ElementUse } from './model.ts'
import type { XmlWriter } from './xml-write.ts'

export type JsonObject = { readonly [name: string]: unknown }

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** What the parts of the encoder share: where the XML goes, and where in the JSON it comes from. */
export interface Encoding {
  readonly writer: XmlWriter
  /** Values are checked against their types, and required ones must be there. */
  readonly checks: boolean
  /** Pays for work that is not in proportion to the JSON. @throws OutOfSteps */
  spend(steps: number): void
  /** Runs `write` one step deeper in the JSON. @throws SoukError `invalid_request` past `JSON_DEPTH_MAX` */
  at(step: string | number, write: () => void): void
  /** An error about the value at the current place. `rule` completes "`path` …". */
  refuse(rule: string, value?: unknown): SoukError
  element(use: ElementUse, value: unknown): void
  /** Elements that the schema leaves open; `namespace` is that of names without one. */
  any(items: unknown, namespace: string): void
  /** An attribute that no schema declares: `@name` or `@{namespace}name`, as text. */
  openAttribute(name: string, value: unknown): void
}

/** `$.order.items[2].qty`, as in RFC 9535. */
export function jsonPath(steps: ReadonlyArray<string | number>): string {
  let path = '$'
  for (const step of steps) {
    if (typeof step === 'number') path += `[${step}]`
    else path += /^[\w$@-]+$/.test(step) ? `.${step}` : `[${JSON.stringify(step.slice(0, 80))}]`
  }
  return path
}

/** Enough of a value to recognise it by. */
export function glimpse(value: unknown): string {
  if (Array.isArray(value)) return 'an array'
  if (typeof value === 'object' && value !== null) return 'an object'
  const text = JSON.stringify(value) ?? 'nothing'
  return text.length > 60 ? `${text.slice(0, 60)}…` : text
}
