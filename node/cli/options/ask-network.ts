import type { Cli } from '../cli.ts'
import { facts } from '../terminal/table.ts'

interface Choice {
  readonly name: string
  readonly summary: string
}

/** For a profile that is new: nothing else can say which network it is to belong to. */
export async function askNetwork(cli: Cli, choices: readonly Choice[]): Promise<string> {
  cli.terminal.note('This profile is new. Which network does it belong to? It stays there for good.')
  for (const line of facts(choices.map(({ name, summary }) => [`  ${name}`, summary]))) cli.terminal.note(line)
  const [first] = choices
  const answer = await cli.terminal.ask(`Network [${first?.name}]: `)
  return answer === '' ? (first?.name ?? '') : answer
}
