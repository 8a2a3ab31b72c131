import type { Command } from 'commander'

/** A command line from a page. */
export interface ShownCommand {
  readonly text: string
  /** True if the line is in a code block, so readers run it unchanged. */
  readonly isWhole: boolean
}

/** Finds `souk …` and `docker compose exec souk souk …` in a page's code blocks and inline code. */
export function commandsOf(page: string): ShownCommand[] {
  const blocks = [...page.matchAll(/^```(?:sh|console)\n([^]*?)^```/gm)].map(([, block = '']) => block)
  const lines = blocks.flatMap((block) => block.replaceAll(/\\\n\s*/g, ' ').split('\n'))
  const run = lines.flatMap((line) =>
    line.split(/ && | \| /).flatMap((part) => {
      const [, text] = /^(?:\$ )?(?:sudo (?:-u souk )?)?(?:SOUK_\w+=\S* )*((?:souk) .*)$/.exec(part.trim()) ?? []
      const [, inside] = /(?:compose (?:exec|run)\b.* souk|souk-node) ((?:souk )?.*)$/.exec(part.trim()) ?? []
      return [text, inside === undefined ? undefined : `souk ${inside.replace(/^souk /, '')}`].filter(
        (each) => each !== undefined
      )
    })
  )
  const said = [...page.replaceAll(/^```[^]*?^```/gm, '').matchAll(/`(souk [^`]+)`/g)]
  return [
    ...run.map((text) => ({ text: text.replace(/\s#\s.*$/, ''), isWhole: true })),
    ...said.map(([, text = '']) => ({ text: text.replaceAll(/\s+/g, ' '), isWhole: false }))
  ]
}

/** The problem of a command line according to the command tree; undefined if there is none. */
export function problemOf({ text, isWhole }: ShownCommand, program: Command): string | undefined {
  const words = wordsOf(text).slice(1)
  const isCut = words.some((word) => /^(?:…|\.\.\.)/.test(word))
  let command = program
  let given = 0
  const options = new Set<string>()
  for (let i = 0; i < words.length; i++) {
    const word = words[i] ?? ''
    if (['…', '>', '<', '2>', '&'].includes(word)) break
    if (word.startsWith('-') && word !== '-') {
      const name = word.split('=')[0] ?? ''
      const option = [...command.options, ...program.options].find(({ long, short }) => long === name || short === name)
      if (option === undefined && name !== '--help') return `${command.name()} has no option ${name}`
      options.add(name)
      // A variadic option takes all words up to the next option.
      if (option?.variadic) while (words[i + 1] !== undefined && !words[i + 1]?.startsWith('-')) i++
      else if ((option?.required || option?.optional) && !word.includes('=')) i++
      continue
    }
    const below = command.commands.find((each) => each.name() === word)
    if (below === undefined && command.commands.length > 0 && command.registeredArguments.length === 0) {
      return `${command.name()} has no command ${word}`
    }
    if (below === undefined) given++
    else command = below
  }
  const { registeredArguments } = command
  if (given > registeredArguments.length && !registeredArguments.at(-1)?.variadic) return `too many words`
  if (!isWhole || isCut) return undefined
  if (command.commands.length > 0 && !runsItself(command)) return `${command.name()} is a group of commands`
  const missing = registeredArguments.slice(given).find(({ required }) => required)
  if (missing !== undefined) return `<${missing.name()}> is missing`
  const needed = command.options.find(({ mandatory, long = '' }) => mandatory && !options.has(long ?? ''))
  return needed === undefined ? undefined : `${needed.long} is missing`
}

/** Splits a line as a shell does, but `<peer id>` is one word. */
function wordsOf(text: string): string[] {
  return [...text.matchAll(/'([^']*)'|"([^"]*)"|(<[^>]*>\S*|[^\s'"<]+(?:<[^>]*>\S*)?)/g)].map(
    ([, single, double, plain]) => single ?? double ?? plain ?? ''
  )
}

/** A group may also be a command. Commander does not expose whether it has an action. */
function runsItself(command: Command): boolean {
  return Reflect.get(command, '_actionHandler') !== null
}
