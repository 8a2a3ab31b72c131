import type { CallInit } from '../lib/interface/index.ts'

/** A `CallInit` under construction. */
export type CallDraft = { -readonly [Key in keyof CallInit]: CallInit[Key] }
