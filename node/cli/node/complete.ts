import type { Command, Option } from 'commander'
import { PROTOCOL_NAMES } from '../../../protocols/protocol-descriptors.ts'

/** Possible words at the cursor. */
export interface Completion {
  readonly words: ReadonlyArray<readonly [word: string, about: string]>
  /** True if a file name is possible too. The shell completes file names. */
  readonly isFile: boolean
}

/** Lookups of names at the node or on disk. Each returns an empty list if the names are not available quickly. */
export interface KnownNames {
  profiles(): Promise<readonly string[]>
  apis(): Promise<readonly string[]>
  keys(): Promise<readonly string[]>
  channels(): Promise<readonly string[]>
}

/** Values of options, by placeholder. */
const VALUES: Readonly<Record<string, readonly string[]>> = {
  network: ['demo', 'dev', 'base-sepolia', 'base'],
  protocol: PROTOCOL_NAMES,
  scheme: ['channel', 'metered'],
  currency: ['USDC']
}
const NOTHING: Completion = { words: [], isFile: false }

/**
 * Completes the last word typed after `souk`. The source is the command tree itself, so every command and option is covered.
 */
export async function complete(program: Command, typed: readonly string[], names: KnownNames): Promise<Completion> {
  const current = typed.at(-1) ?? ''
  const { chain, operands, waiting, isOver } = read(program, typed.slice(0, -1))
  const command = chain.at(-1) ?? program
  if (waiting !== undefined) return only(current, await valuesOf(waiting, names))
  if (current.startsWith('-') && !isOver) return only(current, { words: optionsOf(chain), isFile: false })
  const found = await operandsOf(command, operands, names)
  const commands = operands === 0 ? subcommandsOf(command) : []
  return only(current, { words: [...commands, ...found.words], isFile: found.isFile })
}

interface Reading {
  /** Path from the program down to the current command. */
  readonly chain: readonly Command[]
  /** Number of arguments already typed. */
  readonly operands: number
  /** The option that expects a value next. */
  readonly waiting: Option | undefined
  /** True after `--`: no options follow. */
  readonly isOver: boolean
}

function read(program: Command, words: readonly string[]): Reading {
  const chain: Command[] = [program]
  let operands = 0
  let waiting: Option | undefined
  let isOver = false
  for (const word of words) {
    if (waiting !== undefined) {
      waiting = undefined
      continue
    }
    if (!isOver && word === '--') isOver = true
    else if (!isOver && word.startsWith('-')) waiting = takesNext(chain, word)
    else {
      const below = operands === 0 ? chain.at(-1)?.commands.find((command) => isCalled(command, word)) : undefined
      if (below === undefined) operands++
      else chain.push(below)
    }
  }
  return { chain, operands, waiting, isOver }
}

function isCalled(command: Command, word: string): boolean {
  return command.name() === word || command.aliases().includes(word)
}

function takesNext(chain: readonly Command[], word: string): Option | undefined {
  const option = chain.flatMap(({ options }) => options).find(({ short, long }) => word === short || word === long)
  return option?.required === true ? option : undefined
}

/** `--p2p-port <port>` → `port` */
function placeholder(flags: string): string {
  return /<([^>.]+)/.exec(flags)?.[1] ?? ''
}

async function valuesOf({ flags, long, argChoices }: Option, names: KnownNames): Promise<Completion> {
  const kind = placeholder(flags)
  if (long === '--profile') return plain(await names.profiles())
  if (argChoices !== undefined) return plain(argChoices)
  if (long === '--api') return plain(await names.apis())
  if (/^(file|directory)$/.test(kind)) return { words: [], isFile: true }
  return plain(VALUES[kind] ?? [])
}

function optionsOf(chain: readonly Command[]): Completion['words'] {
  const given = chain.toReversed().flatMap(({ options }) => options)
  const visible = given.filter(({ hidden }) => !hidden)
  return [
    ...visible.map((option) => [option.long ?? option.short ?? '', option.description] as const),
    ['--help', 'show the help of this command']
  ]
}

function subcommandsOf(command: Command): Completion['words'] {
  const shown = command.createHelp().visibleCommands(command)
  return shown.map((below) => [below.name(), below.description()] as const)
}

/** The command group decides: a name under `api` is an API name, an id under `key` is a key id. */
async function operandsOf(command: Command, at: number, names: KnownNames): Promise<Completion> {
  const expected = command.registeredArguments
  const argument = expected[at] ?? (expected.at(-1)?.variadic === true ? expected.at(-1) : undefined)
  if (argument === undefined) return NOTHING
  if (argument.argChoices !== undefined) return plain(argument.argChoices)
  const name = argument.name()
  if (/^(file|directory)$/.test(name)) return { words: [], isFile: true }
  if (name === 'name' || name === 'api') return plain(await names.apis())
  if (name === 'channel') return plain(await names.channels())
  if (name === 'id' && command.parent?.name() === 'key') return plain(await names.keys())
  return NOTHING
}

function plain(words: readonly string[]): Completion {
  return { words: words.map((word) => [word, ''] as const), isFile: false }
}

function only(start: string, { words, isFile }: Completion): Completion {
  return { words: words.filter(([word]) => word.startsWith(start)), isFile }
}
