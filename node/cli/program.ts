import { type Command, CommanderError } from 'commander'
import { packageVersion } from '../config.ts'
import { PROTOCOLS_TEXT } from '../../protocols/protocol-descriptors.ts'
import { addAccount } from './ingress/account-command.ts'
import { addApi } from './api/api-command.ts'
import { addBackup, addRestore } from './node/backup-command.ts'
import { addCall } from './market/call-command.ts'
import { addChannel } from './money/channel-command.ts'
import { addConformance } from './node/conformance-command.ts'
import { addConsole } from './node/console-command.ts'
import { type AddCommand, type Cli, createCli } from './cli.ts'
import { CliCommand } from './terminal/cli-command.ts'
import { addCompletion } from './node/completion-command.ts'
import { addDemo } from './node/demo-command.ts'
import { addDev } from './node/dev-command.ts'
import { didYouMean } from './did-you-mean.ts'
import { addDisputes } from './money/disputes-command.ts'
import { addDoctor } from './node/doctor-command.ts'
import { addEarnings } from './money/earnings-command.ts'
import { addExamples } from './examples.ts'
import { EXIT } from './terminal/exit-code.ts'
import { failureJson, failureLines, failureOf, forProfile } from './terminal/failure.ts'
import { addInit } from './node/init-command.ts'
import { addInvite, addJoin } from './node/join-command.ts'
import { addKey } from './ingress/key-command.ts'
import { addMapping } from './api/mapping-command.ts'
import { addMcp } from './ingress/mcp-command.ts'
import { addMarket } from './market/market-command.ts'
import { addTypes } from './market/types-command.ts'
import { addNetwork } from './node/network-command.ts'
import { addPayout } from './money/payout-command.ts'
import { addPeers } from './node/peers-command.ts'
import { addPin } from './market/pin-command.ts'
import { addPlan } from './api/plan-command.ts'
import { addProvider } from './api/provider-command.ts'
import { addReceipts } from './market/receipts-command.ts'
import { addBooks } from './money/books-command.ts'
import { addSearch } from './market/search-command.ts'
import { addSell } from './api/sell-command.ts'
import { addSettings } from './node/settings-command.ts'
import { addSettle } from './money/settle-command.ts'
import { addStatus } from './node/status-command.ts'
import { addSubscribe } from './market/subscribe-command.ts'
import { addSubscribers, addSubscriptions } from './market/subscriptions-command.ts'
import { addTail } from './node/tail-command.ts'
import { processTerminal, type Terminal } from './terminal/terminal.ts'
import { addUp } from './node/up-command.ts'
import { addWallet } from './money/wallet-command.ts'
import { addWhy } from './market/why-command.ts'
import { addWebhook } from './node/webhook-command.ts'

/** The commands by group of `souk --help`. */
const GROUPS: ReadonlyArray<readonly [heading: string, commands: readonly AddCommand[]]> = [
  ['Sell:', [addSell, addApi, addPlan, addSubscribers, addMapping, addProvider]],
  [
    'Buy:',
    [
      addSearch,
      addMarket,
      addCall,
      addTypes,
      addSubscribe,
      addSubscriptions,
      addKey,
      addAccount,
      addMcp,
      addWhy,
      addPin
    ]
  ],
  ['Money:', [addWallet, addPayout, addEarnings, addReceipts, addBooks, addSettle, addChannel, addDisputes]],
  [
    'Node:',
    [
      addInit,
      addUp,
      addDemo,
      addStatus,
      addConsole,
      addDoctor,
      addSettings,
      addTail,
      addWebhook,
      addPeers,
      addBackup,
      addRestore,
      addNetwork,
      addInvite,
      addJoin,
      addDev,
      addConformance,
      addCompletion
    ]
  ]
]

/** Builds the command tree, to run it or to document it. */
export function createProgram(terminal: Terminal): { readonly program: CliCommand; readonly cli: Cli } {
  const program = new CliCommand('souk')
  const cli = createCli(program, terminal)
  describe(program, terminal)
  for (const [heading, commands] of GROUPS) {
    program.commandsGroup(heading)
    for (const add of commands) add(program, cli)
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
  const { program, cli } = createProgram(terminal)
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

function describe(program: Command, terminal: Terminal): void {
  program
    .description(
      `A peer-to-peer marketplace for APIs: sell a ${PROTOCOLS_TEXT} API per call, call any of them with JSON.`
    )
    .option('--profile <name>', 'profile of the node on this machine (default: "default", or SOUK_PROFILE)')
    .option('--json', 'print data as JSON on stdout')
    .option('--wide', 'print tables in full: all columns and long ids, not fitted to 80 characters')
    .option('--no-input', 'never ask for input')
    .showSuggestionAfterError(true)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void terminal.write(text),
      writeErr: (text) => terminal.note(text.trimEnd())
    })
}

async function printVersion(terminal: Terminal): Promise<void> {
  await terminal.write(`${packageVersion()}\n`)
}

async function report(error: unknown, cli: Cli, running: Command | undefined): Promise<number> {
  const failed = failureOf(error)
  const hint = failed.hint === undefined ? {} : { hint: forProfile(failed.hint, cli.profile) }
  const failure = { ...failed, ...hint, similar: await didYouMean(failed, cli, running) }
  for (const line of cli.json ? [failureJson(failure)] : failureLines(failure)) cli.terminal.note(line)
  return failure.exitCode
}
