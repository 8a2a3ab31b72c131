import { Help } from 'commander'

/** Width of the help outside a terminal. */
export const HELP_CHARS = 80
/** Descriptions are wrapped down to this width. In fewer characters, most lines would have one word. */
export const WRAPPED_CHARS_MIN = 20
const INDENT = ' '.repeat(6)
/** Commander's spaces before and behind a term. */
const AROUND_TERM = 4

/** An option or command of the help. In a narrow terminal, the description is below the term, because beside it there is no room. */
export function narrowItem(term: string, termWidth: number, description: string, helper: Help): string {
  const width = helper.helpWidth ?? HELP_CHARS
  if (description === '' || width - termWidth - AROUND_TERM >= WRAPPED_CHARS_MIN)
    return Help.prototype.formatItem.call(helper, term, termWidth, description, helper)
  const lines = helper.boxWrap(description, width - INDENT.length).split('\n')
  return [`  ${term}`, ...lines.map((line) => INDENT + line)].join('\n')
}
