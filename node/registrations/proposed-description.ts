import { limits } from '../../lib/index.ts'
import type { Inspection } from '../../lib/interface/index.ts'

const CONTROL = /\p{Cc}+/gu
const HEADING = /^\s*(?:#|<|!?\[|[-=]{3})/

/**
 * The description of an API whose provider gives none, so that a search finds it: the title of its document, and the first line of
 * text in it. Undefined if it has neither.
 */
export function proposedDescription({ about }: Pick<Inspection, 'about'>): string | undefined {
  const { title = '', description = '' } = about ?? {}
  const first = description.split(/\r?\n/).find((line) => line.trim() !== '' && !HEADING.test(line)) ?? ''
  const parts = [title, first].map((part) => part.replaceAll(CONTROL, ' ').trim()).filter((part) => part !== '')
  return parts.length === 0 ? undefined : parts.join(': ').slice(0, limits.DESCRIPTION_CHARS_MAX).toWellFormed()
}
