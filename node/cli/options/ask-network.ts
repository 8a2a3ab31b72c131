import type { Cli } from '../cli.ts'
import { facts } from '../terminal/table.ts'

interface Choice {
  readonly name: string
  readonly summary: string
}

/** Asks for the network of a new profile. */
export async function askNetwork(cli: Cli, choices: readonly Choice[]): Promise<string> {
  cli.terminal.note('This profile is new. Choose its network. It cannot be changed later.')
  for (const line of facts(choices.map(({ name, summary }) => [`  ${name}`, summary]))) cli.terminal.note(line)
  const [first] = choices
  const answer = await cli.terminal.ask(`Network [${first?.name}]: `)
  return answer === '' ? (first?.name ?? '') : answer
}
