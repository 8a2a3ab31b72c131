import { readdir } from 'node:fs/promises'
import { Argument, type Command } from 'commander'
import { homeDirectory } from '../../config.ts'
import type { AddCommand, Cli } from '../cli.ts'
import { complete, type KnownNames } from './complete.ts'

/** Whoever pressed Tab is waiting: a node that takes longer for its names is not waited for. */
const NAMES_MS = 1_000
/** Stands for names of files in what the scripts read. */
const FILES = ':files'

/**
 * Each script hands the words of the line to `souk completion words`, which knows this very version's commands, and passes on what
 * it prints: a word, a tab and what it is, on a line each.
 */
const SCRIPTS: Readonly<Record<string, string>> = {
  bash: `# souk completion for bash; in ~/.bashrc: source <(souk completion bash)
_souk() {
  local line
  COMPREPLY=()
  while IFS= read -r line; do
    if [[ $line == '${FILES}' ]]; then
      compopt -o default
    else
      COMPREPLY+=("\${line%%$'\\t'*}")
    fi
  done < <("$1" completion words -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _souk souk
`,
  zsh: `#compdef souk
# souk completion for zsh; in ~/.zshrc, behind compinit: source <(souk completion zsh)
_souk() {
  local line
  local -a found
  for line in "\${(@f)$("\${words[1]}" completion words -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
    if [[ $line == '${FILES}' ]]; then
      _files
    elif [[ -n $line ]]; then
      found+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}")
    fi
  done
  (( $#found )) && _describe souk found
}
compdef _souk souk
`,
  fish: `# souk completion for fish; into ~/.config/fish/completions/souk.fish: souk completion fish
function __souk_words
  set -l typed (commandline -opc) (commandline -ct)
  for line in ($typed[1] completion words -- $typed[2..-1] 2>/dev/null)
    if test "$line" = '${FILES}'
      __fish_complete_path (commandline -ct)
    else
      echo $line
    end
  end
end
complete -c souk -f -a '(__souk_words)'
`
}

export const addCompletion: AddCommand = (to, cli) => {
  const completion = to
    .command('completion')
    .description('a script that lets your shell complete commands, options, profiles and names of APIs')
    .addArgument(new Argument('<shell>', 'which').choices(Object.keys(SCRIPTS)))
    .addHelpText('after', '\nIn ~/.bashrc: source <(souk completion bash)')
    .action(async (shell: string) => cli.terminal.write(SCRIPTS[shell] ?? ''))

  completion
    .command('words', { hidden: true })
    .argument('[words...]')
    .action(async (typed: readonly string[]) => {
      const { words, isFile } = await complete(to, typed, namesOf(cli, to, typed))
      const lines = words.map(([word, about]) => `${word}\t${about}`)
      const all = [...lines, ...(isFile ? [FILES] : [])]
      if (all.length > 0) await cli.terminal.write(`${all.join('\n')}\n`)
    })
}

/** Of the profile that the line itself names, which is not the one this command runs with. */
function namesOf(cli: Cli, program: Command, typed: readonly string[]): KnownNames {
  const at = typed.lastIndexOf('--profile')
  const named = at < 0 ? undefined : typed[at + 1]
  if (named !== undefined && at + 2 < typed.length) program.setOptionValue('profile', named)
  return {
    profiles: async () => {
      const entries = await readdir(homeDirectory(cli.terminal.env), { withFileTypes: true }).catch(() => [])
      return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name)
    },
    apis: () =>
      soon(async () =>
        (await (await cli.node()).request('GET /apis')).apis.map(({ own, name, id }) => (own ? name : id))
      ),
    keys: () => soon(async () => (await (await cli.node()).request('GET /keys')).keys.map(({ id }) => id)),
    channels: () =>
      soon(async () => (await (await cli.node()).request('GET /channels')).channels.map(({ channel }) => channel))
  }
}

/** No name at all where there is no node: a Tab is no place for an error. */
async function soon(ask: () => Promise<string[]>): Promise<readonly string[]> {
  const late = Promise.withResolvers<string[]>()
  const timer = setTimeout(() => late.resolve([]), NAMES_MS)
  try {
    return await Promise.race([ask().catch(() => []), late.promise])
  } finally {
    clearTimeout(timer)
  }
}
