import type { Terminal } from './terminal.ts'
import { UsageError } from './usage-error.ts'

/** A change that cannot be undone, or not easily. */
export interface Confirmation {
  /** `--yes` was given. */
  readonly yes?: boolean | undefined
  /** For example `Revoke key k1?` */
  readonly question: string
  /** What will be different. Shown before the question. */
  readonly consequence?: string
}

/** `--yes` of all commands. */
export const YES = ['--yes', 'do not ask for confirmation'] as const

/** Asks on a terminal. False if the user declined. @throws UsageError without a terminal and without `--yes` */
export async function confirmed(
  terminal: Terminal,
  canAsk: boolean,
  { yes, question, consequence }: Confirmation
): Promise<boolean> {
  if (yes === true) return true
  if (!canAsk) {
    throw new UsageError(`There is no terminal to confirm this: ${question}`, 'the same command with --yes')
  }
  if (consequence !== undefined) terminal.note(consequence)
  const answer = await terminal.ask(`${question} [y/N] `)
  if (/^\s*y(es)?\s*$/i.test(answer)) return true
  terminal.note('Nothing was changed.')
  return false
}
