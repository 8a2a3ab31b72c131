import type { CallInit } from '../lib/interface/index.ts'

/** `CallInit` while it is put together. */
export type CallDraft = { -readonly [Key in keyof CallInit]: CallInit[Key] }
