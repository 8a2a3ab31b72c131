import assert from 'node:assert/strict'
import type { Command } from 'commander'
import { EXAMPLES } from '../../../node/cli/examples.ts'
import { createProgram, main } from '../../../node/cli/program.ts'
import { testTerminal } from '../../helpers/test-terminal.ts'

/** Names of all commands that a help text lists. */
function namesIn(command: Command, name = command.name()): string[] {
  const shown = command.createHelp().visibleCommands(command)
  const below = shown
    .filter((each) => each.name() !== 'help')
    .flatMap((each) => namesIn(each, `${name} ${each.name()}`))
  return [name, ...below]
}

/** Splits a line as a shell does, without its redirections. */
function wordsOf(line: string): string[] {
  const [, command = ''] = /(souk .*?)(?:\)| [<>] .*)?$/.exec(line) ?? []
  return [...command.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '')
}

describe('the examples of the command line', () => {
  let names: readonly string[]

  before(async () => {
    names = namesIn((await createProgram(testTerminal())).program)
  })

  it('exist for every command, and for no other', () => {
    assert.deepEqual(Object.keys(EXAMPLES).sort(), names.toSorted())
  })

  it('are one to three lines that parse as printed, and run the command', async () => {
    const { program } = await createProgram(testTerminal())
    const parsed = new Error('all options and arguments are checked')
    let found: string[] = []
    program.hook('preAction', (_, command) => {
      found = []
      for (let each: Command | null = command; each !== null; each = each.parent) found.unshift(each.name())
      throw parsed
    })
    for (const [name, lines] of Object.entries(EXAMPLES)) {
      assert.ok(lines.length >= 1 && lines.length <= 3, name)
      for (const line of lines) {
        await assert.rejects(program.parseAsync(wordsOf(line).slice(1), { from: 'user' }), parsed, line)
        assert.equal(`${found.join(' ')} `.startsWith(`${name} `), true, line)
      }
    }
  })

  it('stand in the help', async () => {
    for (const name of names) {
      const terminal = testTerminal()
      assert.equal(await main([...name.split(' ').slice(1), '--help'], terminal), 0)
      for (const line of EXAMPLES[name] ?? []) assert.ok(terminal.stdout().includes(`\n  ${line}\n`), name)
    }
  })
})
