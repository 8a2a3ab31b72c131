import type { Argument, Command, Option } from 'commander'
import { EXIT } from '../../../node/cli/terminal/exit-code.ts'
import { createProgram } from '../../../node/cli/program.ts'
import { testTerminal } from '../../helpers/test-terminal.ts'
import { anchor, code, NOTICE, sentence, table } from '../markdown.ts'

/** The command tree, for reading only. */
export function commandTree(): Command {
  return createProgram(testTerminal()).program
}

/** The meaning of each exit code. The type requires one for each code. */
const EXITS: Readonly<Record<keyof typeof EXIT, string>> = {
  ok: 'It succeeded.',
  failed: 'It was understood and tried, and did not succeed.',
  usage: 'The command line is wrong, or something that it needs was not said.',
  unavailable: 'No node is running on the profile, or it gives no response.',
  internal: 'A fault of Souk’s own.',
  storage:
    'The disk took no more writes: it is full, read-only or failing. Starting the node again helps once there is room; nothing that was answered is lost.',
  hung: 'The event loop of `souk up` hung, and the watchdog ended the process. A supervisor starts it again.',
  notPermitted: 'A file that others can read, a wrong passphrase, or something that is not allowed.',
  config: 'Wrong settings, a damaged profile, or a version of Node.js that is too old.'
}

export function cliPage(): string {
  const program = commandTree()
  const groups = program.commands
  return `${NOTICE}

# Command line

\`souk <command> [options]\`. \`souk --help\`, and \`--help\` behind any command, say the same as this page. Nearly all commands
talk to the node that runs on the chosen profile; start one with [\`souk up\`](#souk-up).

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
  ['Command', 'What it is for'],
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
