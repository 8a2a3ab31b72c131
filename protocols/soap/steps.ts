/**
 * What translating takes, in steps of a `Meter`: for an element or a group, for what its type might have in it, for a part of a type to
 * compile.
 */
export const ELEMENT_STEPS = 100
export const MEMBER_STEPS = 20
export const PART_STEPS = 50
/** A character that a document gets by its schema: of a default or fixed value. */
export const CHAR_STEPS = 10

/** The empty arrays that an object gets by its type. Objects with many members are slow to make. */
export function arraySteps(arrays: number): number {
  return arrays * (20 + arrays / 4)
}
