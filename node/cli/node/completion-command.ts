import { readdir } from 'node:fs/promises'
import { Argument, type Command } from 'commander'
import { homeDirectory } from '../../config.ts'
import type { AddCommand, Cli } from '../cli.ts'
import { complete, type KnownNames } from './complete.ts'

/** Time limit to ask the node for names: the user waits after pressing Tab. */
const NAMES_MS = 1_000
/** Output line that tells the scripts to complete file names. */
const FILES = ':files'

/**
 * Each script passes the words of the line to `souk completion words`, so completions match the installed version. Each output line
 * is a word, a tab and a description.
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
    .description('print a script that makes your shell complete commands, options, profiles and API names')
    .addArgument(new Argument('<shell>', 'which').choices(Object.keys(SCRIPTS)))
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

/** Reads the profile from the completed line. This command itself runs without `--profile`. */
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
    keys: () =>
      soon(async () => (await (await cli.node()).request('GET /keys', { query: {} })).keys.map(({ id }) => id)),
    channels: () =>
      soon(async () => (await (await cli.node()).request('GET /channels')).channels.map(({ channel }) => channel))
  }
}

/** Returns no names if no node runs, because a completion cannot show errors. */
async function soon(ask: () => Promise<string[]>): Promise<readonly string[]> {
  const late = Promise.withResolvers<string[]>()
  const timer = setTimeout(() => late.resolve([]), NAMES_MS)
  try {
    return await Promise.race([ask().catch(() => []), late.promise])
  } finally {
    clearTimeout(timer)
  }
}
