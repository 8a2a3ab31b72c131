import type { SoukError } from '../../../lib/base/errors.ts'
import type { ElementUse } from '../schema/model.ts'
import type { XmlWriter } from '../xml/write.ts'

export type JsonObject = { readonly [name: string]: unknown }

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The interface that the parts of the encoder share: the XML output and the current JSON path. */
export interface Encoding {
  readonly writer: XmlWriter
  /** True if values are checked against their types and required ones must be present. */
  readonly checks: boolean
  /** Charges work that is not proportional to the size of the JSON. @throws OutOfSteps */
  spend(steps: number): void
  /** Runs `write` one step deeper in the JSON. @throws SoukError `invalid_request` past `JSON_DEPTH_MAX` */
  at(step: string | number, write: () => void): void
  /** An error about the value at the current path. `rule` completes "`path` …". */
  refuse(rule: string, value?: unknown): SoukError
  element(use: ElementUse, value: unknown): void
  /** Writes items of `$any`. @param namespace the namespace of names without one */
  any(items: readonly unknown[], namespace: string, range: { readonly from: number; readonly to: number }): void
  /** Writes an undeclared attribute, `@name` or `@{namespace}name`, as text. */
  openAttribute(name: string, value: unknown): void
}

/** Formats `$.order.items[2].qty`, as in RFC 9535. */
export function jsonPath(steps: ReadonlyArray<string | number>): string {
  let path = '$'
  for (const step of steps) {
    if (typeof step === 'number') path += `[${step}]`
    else path += /^[\w$@-]+$/.test(step) ? `.${step}` : `[${JSON.stringify(step.slice(0, 80))}]`
  }
  return path
}

/** A short form of a value for error messages. */
export function glimpse(value: unknown): string {
  if (Array.isArray(value)) return 'an array'
  if (typeof value === 'object' && value !== null) return 'an object'
  const text = JSON.stringify(value) ?? 'nothing'
  return text.length > 60 ? `${text.slice(0, 60)}…` : text
}
