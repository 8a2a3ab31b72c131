import { SoukError } from './souk-error.ts'

type Kind = 'string' | 'number' | 'function' | 'object'

/** The types of the members of `T`. The compiler requires all of them. */
export type Kinds<T> = { readonly [Name in keyof T]-?: readonly Kind[] }

/**
 * Refuses options of a wrong name or type, because a mistyped `maxPrice` would be no limit. Their values are checked where they are used.
 * @param of - completes "… must be an object"
 * @throws SoukError `invalid_request`
 */
export function checkOptions<T extends object>(of: string, given: T, kinds: Kinds<T>): void {
  const refuse = (why: string) => {
    throw new SoukError('invalid_request', why)
  }
  if (typeof given !== 'object' || given === null) refuse(`${of} must be an object.`)
  const known: Readonly<Record<string, readonly string[]>> = kinds
  for (const [name, value] of Object.entries(given)) {
    const types = Object.hasOwn(known, name) ? known[name] : undefined
    if (types === undefined) refuse(`${of} cannot have "${name}", only: ${Object.keys(known).join(', ')}.`)
    else if (value !== undefined && !types.includes(typeof value))
      refuse(`"${name}" must be of type ${types.join(' or ')}.`)
  }
}
