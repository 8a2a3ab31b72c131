import { type Command, CommanderError } from 'commander'
import { forProfile, packageVersion } from '../config.ts'
import { PROTOCOLS_TEXT } from '../../protocols/protocol-descriptors.ts'
import { type AddCommand, type Cli, createCli } from './cli.ts'
import { CliCommand } from './terminal/cli-command.ts'
import { didYouMean } from './did-you-mean.ts'
import { addExamples } from './examples.ts'
import { explainOldNode } from './node/old-node.ts'
import { EXIT } from './terminal/exit-code.ts'
import { failureJson, failureLines, failureOf } from './terminal/failure.ts'
import { HELP_CHARS, narrowItem, WRAPPED_CHARS_MIN } from './terminal/narrow-help.ts'
import { processTerminal, type Terminal } from './terminal/terminal.ts'

type Loaders = Readonly<Record<string, () => Promise<AddCommand>>>

/** The commands by group of `souk --help`. Each has a loader, because a command line runs only one of them. */
const GROUPS: ReadonlyArray<readonly [heading: string, commands: Loaders]> = [
  [
    'Sell:',
    {
      sell: async () => (await import('./api/sell-command.ts')).addSell,
      api: async () => (await import('./api/api-command.ts')).addApi,
      plan: async () => (await import('./api/plan-command.ts')).addPlan,
      subscribers: async () => (await import('./market/subscriptions-command.ts')).addSubscribers,
      mapping: async () => (await import('./api/mapping-command.ts')).addMapping,
      provider: async () => (await import('./api/provider-command.ts')).addProvider
    }
  ],
  [
    'Buy:',
    {
      search: async () => (await import('./market/search-command.ts')).addSearch,
      market: async () => (await import('./market/market-command.ts')).addMarket,
      call: async () => (await import('./market/call-command.ts')).addCall,
      types: async () => (await import('./market/types-command.ts')).addTypes,
      subscribe: async () => (await import('./market/subscribe-command.ts')).addSubscribe,
      subscriptions: async () => (await import('./market/subscriptions-command.ts')).addSubscriptions,
      key: async () => (await import('./ingress/key-command.ts')).addKey,
      account: async () => (await import('./ingress/account-command.ts')).addAccount,
      mcp: async () => (await import('./ingress/mcp-command.ts')).addMcp,
      why: async () => (await import('./market/why-command.ts')).addWhy,
      pin: async () => (await import('./market/pin-command.ts')).addPin
    }
  ],
  [
    'Money:',
    {
      wallet: async () => (await import('./money/wallet-command.ts')).addWallet,
      payout: async () => (await import('./money/payout-command.ts')).addPayout,
      earnings: async () => (await import('./money/earnings-command.ts')).addEarnings,
      receipts: async () => (await import('./market/receipts-command.ts')).addReceipts,
      books: async () => (await import('./money/books-command.ts')).addBooks,
      settle: async () => (await import('./money/settle-command.ts')).addSettle,
      channel: async () => (await import('./money/channel-command.ts')).addChannel,
      disputes: async () => (await import('./money/disputes-command.ts')).addDisputes
    }
  ],
  [
    'Node:',
    {
      init: async () => (await import('./node/init-command.ts')).addInit,
      up: async () => (await import('./node/up-command.ts')).addUp,
      demo: async () => (await import('./node/demo-command.ts')).addDemo,
      status: async () => (await import('./node/status-command.ts')).addStatus,
      console: async () => (await import('./node/console-command.ts')).addConsole,
      doctor: async () => (await import('./node/doctor-command.ts')).addDoctor,
      settings: async () => (await import('./node/settings-command.ts')).addSettings,
      tail: async () => (await import('./node/tail-command.ts')).addTail,
      webhook: async () => (await import('./node/webhook-command.ts')).addWebhook,
      peers: async () => (await import('./node/peers-command.ts')).addPeers,
      backup: async () => (await import('./node/backup-command.ts')).addBackup,
      restore: async () => (await import('./node/backup-command.ts')).addRestore,
      network: async () => (await import('./node/network-command.ts')).addNetwork,
      invite: async () => (await import('./node/join-command.ts')).addInvite,
      join: async () => (await import('./node/join-command.ts')).addJoin,
      dev: async () => (await import('./node/dev-command.ts')).addDev,
      conformance: async () => (await import('./node/conformance-command.ts')).addConformance,
      completion: async () => (await import('./node/completion-command.ts')).addCompletion
    }
  ]
]

/** A command that needs all others, because it completes their names and options. */
const NEEDS_ALL = 'completion'

/**
 * Builds the command tree, to run it or to document it.
 * @param only - the one command to load. Default: all
 */
export async function createProgram(
  terminal: Terminal,
  only?: string
): Promise<{ readonly program: CliCommand; readonly cli: Cli }> {
  const program = new CliCommand('souk')
  const cli = createCli(program, terminal)
  describe(program, terminal)
  for (const [heading, commands] of GROUPS) {
    program.commandsGroup(heading)
    const wanted = Object.entries(commands).filter(([name]) => only === undefined || name === only)
    for (const add of await Promise.all(wanted.map(([, load]) => load()))) add(program, cli)
  }
  program.helpCommand(false)
  program
    .command('help', { hidden: true })
    .argument('[command...]')
    .action((words: readonly string[]) => program.find(words).outputHelp())
  program.option('-V, --version', 'print the version').on('option:version', () => {
    throw new CommanderError(EXIT.ok, 'souk.version', '')
  })
  addExamples(program)
  return { program, cli }
}

/** Runs one command line, given without the program name. Resolves to the exit code. */
export async function main(argv: readonly string[], terminal: Terminal = processTerminal()): Promise<number> {
  const { program, cli } = await createProgram(terminal, commandIn(argv))
  let running: Command | undefined
  program.hook('preAction', (_, command) => {
    running = command
  })
  try {
    await program.parseAsync(argv, { from: 'user' })
    return cli.exitCode
  } catch (error) {
    if (!(error instanceof CommanderError)) return report(error, cli, running)
    if (error.code === 'souk.version') await printVersion(terminal)
    // Commander has printed the help. A request for it is not an error.
    return error.exitCode === 0 ? EXIT.ok : EXIT.usage
  }
}

/** The command that a command line runs. Undefined if all commands are needed: to list them, or to suggest one. */
function commandIn(argv: readonly string[]): string | undefined {
  const word = argv.find((each, at) => !each.startsWith('-') && argv[at - 1] !== '--profile')
  const isCommand = GROUPS.some(([, commands]) => Object.hasOwn(commands, word ?? ''))
  return isCommand && word !== NEEDS_ALL ? word : undefined
}

function describe(program: Command, terminal: Terminal): void {
  program
    .description(
      `A peer-to-peer marketplace for APIs: sell a ${PROTOCOLS_TEXT} API per call, call any of them with JSON.`
    )
    .option('--profile <name>', 'profile of the node on this machine (default: "default", or SOUK_PROFILE)')
    .option('--json', 'print data as JSON on stdout')
    .option('--wide', 'print tables in full: all columns and long ids, not fitted to the terminal')
    .option('--no-input', 'never ask for input')
    .showSuggestionAfterError(true)
    .exitOverride()
    .configureHelp({ minWidthToWrap: WRAPPED_CHARS_MIN, formatItem: narrowItem })
    .configureOutput({
      getOutHelpWidth: () => terminal.columns ?? HELP_CHARS,
      writeOut: (text) => void terminal.write(text),
      writeErr: (text) => terminal.note(text.trimEnd())
    })
}

async function printVersion(terminal: Terminal): Promise<void> {
  await terminal.write(`${packageVersion()}\n`)
}

async function report(error: unknown, cli: Cli, running: Command | undefined): Promise<number> {
  const failed = await explainOldNode(failureOf(error), cli)
  const hint = failed.hint === undefined ? {} : { hint: forProfile(failed.hint, cli.profile) }
  const failure = { ...failed, ...hint, similar: await didYouMean(failed, cli, running) }
  for (const line of cli.json ? [failureJson(failure)] : failureLines(failure)) cli.terminal.note(line)
  return failure.exitCode
}
