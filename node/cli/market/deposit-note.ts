import type { Cli } from '../cli.ts'

/** A payment from an existing channel takes less. */
const NOTE_MS = 2_000
const NOTE =
  'Waiting until the provider counts the deposit for the fee: seconds, or minutes for more than 1 USDC on Base.\n' +
  'The fee is charged only then. If you stop now, the same command continues with the same deposit.'

/** Shows why a change of a subscription takes time. The node waits for the deposit, up to a limit. */
export async function whileDepositCounts<T>({ terminal }: Cli, paying: Promise<T>): Promise<T> {
  const note = setTimeout(() => terminal.note(NOTE), NOTE_MS)
  try {
    return await paying
  } finally {
    clearTimeout(note)
  }
}
