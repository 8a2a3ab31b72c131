import { Command, type ErrorOptions, type HelpContext } from 'commander'
import { didYouMeanText, similarTo } from './similar.ts'
import { UsageError } from './usage-error.ts'

/** A command of commander whose errors look like all other errors of the command line. */
export class CliCommand extends Command {
  override createCommand(name?: string): CliCommand {
    return new CliCommand(name)
  }

  /** Commander reports a missing required option first. It may be the one that is mistyped. */
  override parseOptions(argv: string[]): { operands: string[]; unknown: string[] } {
    const parsed = super.parseOptions(argv)
    const [unknown] = parsed.unknown
    const isHelp = parsed.unknown.includes('--help') || parsed.unknown.includes('-h')
    if (this.commands.length === 0 && unknown !== undefined && !isHelp) {
      const known = linesOf(this).flatMap(({ options }) => options.filter(({ hidden }) => !hidden))
      const names = known.flatMap(({ long }) => long?.slice(2) ?? [])
      const typed = unknown.replace(/^-+/, '').replace(/=.*$/, '')
      this.#refuse(
        'option',
        unknown,
        similarTo(typed, names).map((name) => `--${name}`)
      )
    }
    return parsed
  }

  /** @throws UsageError */
  override error(message: string, options?: ErrorOptions): never {
    if (options?.code === 'commander.excessArguments') this.#refuseSubcommand()
    const [text = '', suggestion] = message.replace(/^error: /, '').split(/\n\(|\)$/)
    const what = `${text.charAt(0).toUpperCase()}${text.slice(1)}`
    throw new UsageError(
      [/[.?]$/.test(what) ? what : `${what}.`, ...(suggestion === undefined ? [] : [suggestion])].join(' '),
      `${nameOf(this)} --help`
    )
  }

  /** Shows the help. With `--json`, a group without its subcommand gets an error that a script can read. @throws UsageError */
  override help(context?: HelpContext | ((text: string) => string)): never {
    const isError = typeof context === 'object' && context.error
    if (!isError || this.optsWithGlobals()['json'] !== true) return super.help(context as HelpContext)
    const names = namesBelow(this).filter((name) => name !== 'help')
    throw new UsageError(`Name a command of ${nameOf(this)}: ${names.join(', ')}.`, `${nameOf(this)} --help`)
  }

  /** The command of these words below this one. @throws UsageError */
  find(words: readonly string[]): Command {
    return words.reduce<Command>((command, word) => {
      const below = command.commands.find((each) => each.name() === word)
      return below ?? (command as CliCommand).#refuse('command', word, similarTo(word, namesBelow(command)))
    }, this)
  }

  /** A group that runs by itself takes the name of an unknown subcommand as an argument. */
  #refuseSubcommand(): void {
    const group = this.commands.length > 0 ? this : this.parent
    const [typed] = group?.args ?? []
    if (group === null || typed === undefined || namesBelow(group).includes(typed)) return
    const similar = similarTo(typed, namesBelow(group))
    if (similar.length > 0) (group as CliCommand).#refuse('command', typed, similar)
  }

  #refuse(kind: string, typed: string, similar: readonly string[]): never {
    const meant = similar.length === 0 ? '' : ` ${didYouMeanText(similar)}`
    throw new UsageError(`Unknown ${kind} '${typed}'.${meant}`, `${nameOf(this)} --help`)
  }
}

/** The command, and those above it. */
function linesOf(command: Command): Command[] {
  return command.parent === null ? [command] : [command, ...linesOf(command.parent)]
}

function nameOf(command: Command): string {
  return linesOf(command)
    .map((each) => each.name())
    .toReversed()
    .join(' ')
}

function namesBelow(command: Command): string[] {
  const shown = command.createHelp().visibleCommands(command)
  return shown.map((each) => each.name())
}
