import { malformed } from './malformed.ts'

/** The rule for one member of an object that an embedder passes, because not every embedder has TypeScript. */
export interface MemberRule {
  /** Not called for a member that is absent. */
  readonly fits: (value: unknown) => boolean
  /** Completes "`<member>` must be …". */
  readonly what: string
}

/** A rule for each member of `T`. The compiler requires all of them, so that a name without a rule is a mistyped one. */
export type MemberRules<T> = { readonly [Member in keyof T]-?: MemberRule }

export const isText = (value: unknown): value is string => typeof value === 'string'
const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null
const has = (value: unknown, method: string) =>
  isObject(value) && typeof (value as Readonly<Record<string, unknown>>)[method] === 'function'

export const TEXT: MemberRule = { fits: isText, what: 'a string' }
export const FLAG: MemberRule = { fits: (value) => typeof value === 'boolean', what: 'true or false' }
export const NUMBER: MemberRule = { fits: (value) => typeof value === 'number', what: 'a number' }
export const COUNT: MemberRule = {
  fits: (value) => typeof value === 'number' && value >= 0,
  what: 'a number from 0 on'
}
export const FUNCTION: MemberRule = { fits: (value) => typeof value === 'function', what: 'a function' }
export const OBJECT: MemberRule = {
  fits: (value) => isObject(value) && !Array.isArray(value),
  what: 'an object'
}
export const TEXTS: MemberRule = {
  fits: (value) => Array.isArray(value) && value.every(isText),
  what: 'a list of strings'
}
export const OBJECTS: MemberRule = {
  fits: (value) => Array.isArray(value) && value.every(OBJECT.fits),
  what: 'a list of objects'
}
export const FUNCTIONS: MemberRule = {
  fits: (value) => Array.isArray(value) && value.every((each) => typeof each === 'function'),
  what: 'a list of functions'
}
export const AMOUNT: MemberRule = { fits: isText, what: 'an amount in USDC as a string, such as "0.001"' }

/** An object with these methods. */
export const withMethods = (what: string, ...methods: readonly string[]): MemberRule => ({
  fits: (value) => methods.every((method) => has(value, method)),
  what
})

export const CLOCK = withMethods('a clock', 'now', 'elapsed', 'after', 'soon')
export const LOGGER = withMethods(
  'an object with `forComponent`, such as `defaultLogger()` of @libp2p/logger',
  'forComponent'
)

/**
 * Checks the types of an object's members. Their ranges are checked where they are used.
 * @param of - completes "… must be an object", at the start of a sentence
 * @param required - members that must be present
 * @throws SoukError `invalid_request`, which names the member
 */
export function checkMembers<T extends object>(
  of: string,
  value: T,
  rules: MemberRules<T>,
  required: ReadonlyArray<keyof T & string> = []
): void {
  if (!OBJECT.fits(value)) throw malformed(of, `${of} must be an object.`)
  // Without a list of the names, because each call is checked.
  for (const member in value) {
    if (!Object.hasOwn(rules, member)) {
      const all = Object.keys(rules).toSorted()
      throw malformed(member, `${of} cannot have \`${member.slice(0, 80)}\`, only: ${all.join(', ')}.`)
    }
    const { fits, what } = rules[member]
    if (value[member] !== undefined && !fits(value[member])) throw malformed(member, `\`${member}\` must be ${what}.`)
  }
  for (const member of required) {
    if (value[member] === undefined) throw malformed(member, `\`${member}\` must be ${rules[member].what}.`)
  }
}
