import { DESCRIPTION_NOTE_CHARS_MAX, DESCRIPTION_WARNINGS_MAX } from '../../lib/base/limits/descriptions.ts'

/** The first warnings about a document: one with a flaw in each part has thousands, and may quote names of any length. */
export function boundedWarnings(warnings: readonly string[]): readonly string[] {
  const first = warnings.slice(0, DESCRIPTION_WARNINGS_MAX).map((each) => each.slice(0, DESCRIPTION_NOTE_CHARS_MAX))
  const more = warnings.length - first.length
  return more > 0 ? [...first, `There are ${more} more warnings.`] : first
}
