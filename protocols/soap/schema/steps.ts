/**
 * The costs of a translation in steps of a `Meter`: per element or group, per member that its type may have, and per type part to
 * compile.
 */
export const ELEMENT_STEPS = 100
export const MEMBER_STEPS = 20
export const PART_STEPS = 50
/** Per character of a default or fixed value that the schema adds. */
export const CHAR_STEPS = 10

/** The cost of an object's empty arrays. Objects with many members are slow to create. */
export function arraySteps(arrays: number): number {
  return arrays * (20 + arrays / 4)
}
