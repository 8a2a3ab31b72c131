import type { Argument, Command, Option } from 'commander'
import { EXAMPLES } from '../../../node/cli/examples.ts'
import { EXIT } from '../../../node/cli/terminal/exit-code.ts'
import { createProgram } from '../../../node/cli/program.ts'
import { testTerminal } from '../../helpers/test-terminal.ts'
import { anchor, code, NOTICE, sentence, table } from '../markdown.ts'

/** The command tree, for reading only. */
export async function commandTree(): Promise<Command> {
  return (await createProgram(testTerminal())).program
}

/** The meaning of each exit code. The type requires one for each code. */
const EXITS: Readonly<Record<keyof typeof EXIT, string>> = {
  ok: 'The command succeeded.',
  failed: 'The command was valid, but failed.',
  usage: 'The command line is invalid or incomplete.',
  unavailable: 'No node runs on the profile, or the node does not respond.',
  internal: 'A fault in Souk itself.',
  storage:
    'A write to disk failed: the disk is full, read-only or failing. Free space, then start the node again. No response that was sent is lost.',
  hung: 'The event loop of `souk up` hung, and the watchdog ended the process. A supervisor starts it again.',
  notPermitted: 'Others can read a secret file, the passphrase is wrong, or the action is not allowed.',
  config: 'The settings are invalid, the profile is damaged, or Node.js is too old.'
}

export async function cliPage(): Promise<string> {
  const program = await commandTree()
  const groups = program.createHelp().visibleCommands(program)
  return `${NOTICE}

# Command line

\`souk <command> [options]\`. \`souk --help\`, and \`--help\` after any command, show the same texts. Most commands connect to the
running node of the chosen profile. Start a node with [\`souk up\`](#souk-up).

Data goes to stdout and messages to stderr. \`souk completion bash\` (or \`zsh\`, \`fish\`) prints a script that completes commands,
options and names.

## Options of every command

${optionTable(program.options.filter(({ hidden }) => !hidden))}

## Exit codes

${table(
  ['Code', 'Meaning'],
  Object.entries(EXIT).map(([name, number]) => [String(number), EXITS[name as keyof typeof EXIT]])
)}

## Commands

${table(
  ['Command', 'Purpose'],
  groups.map((each) => [
    `[${code(`souk ${each.name()}`)}](#${anchor(`souk ${each.name()}`)})`,
    sentence(each.description())
  ])
)}

${groups.map((each) => section(each, 'souk', '##')).join('\n\n')}
`
}

function section(command: Command, path: string, level: string): string {
  const name = `${path} ${command.name()}`
  const shown = command.createHelp().visibleCommands(command)
  const below = command.commands.filter((each) => shown.includes(each))
  const parts = [`${level} ${name}`, sentence(command.description())]
  if (below.length === 0) {
    const options = command
      .createHelp()
      .visibleOptions(command)
      .filter(({ long }) => long !== '--help')
    parts.push(`\`\`\`sh\n${usage(command, name, options)}\n\`\`\``)
    const described = command.registeredArguments.filter((each) => each.description !== '' || each.argChoices)
    if (described.length > 0) {
      parts.push(
        table(
          ['Argument', ''],
          described.map((each) => [code(each.name()), argumentText(each)])
        )
      )
    }
    if (options.length > 0) parts.push(optionTable(options))
  }
  const examples = EXAMPLES[name] ?? []
  if (examples.length > 0) parts.push(`\`\`\`sh\n${examples.join('\n')}\n\`\`\``)
  return [...parts, ...below.map((each) => section(each, name, `${level}#`))].join('\n\n')
}

function usage(command: Command, name: string, options: readonly Option[]): string {
  const needed = options.filter(({ mandatory }) => mandatory)
  const words = command.registeredArguments.map((each) => {
    const word = `${each.name()}${each.variadic ? '...' : ''}`
    return each.required ? `<${word}>` : `[${word}]`
  })
  const others = options.length > needed.length ? ['[options]'] : []
  return [name, ...words, ...needed.map(({ flags }) => flags), ...others].join(' ')
}

function argumentText({ description, argChoices }: Argument): string {
  return [sentence(description), ...choices(argChoices)].join(' ').trim()
}

function optionTable(options: readonly Option[]): string {
  return table(
    ['Option', ''],
    options.map(({ flags, description, mandatory, defaultValue, argChoices }) => {
      const text = [sentence(description), ...choices(argChoices)]
      if (mandatory) text.push('Required.')
      if (['string', 'number'].includes(typeof defaultValue)) text.push(`Default: ${code(String(defaultValue))}.`)
      return [code(flags), text.join(' ').trim()]
    })
  )
}

function choices(of: readonly string[] | undefined): string[] {
  return of === undefined ? [] : [`One of ${of.map(code).join(', ')}.`]
}
