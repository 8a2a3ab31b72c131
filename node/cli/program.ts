import { Command, CommanderError } from 'commander'
import { packageVersion } from '../config.ts'
import { PROTOCOLS_TEXT } from '../../protocols/protocol-descriptors.ts'
import { addAccount } from './account.ts'
import { addApi } from './api.ts'
import { addBackup, addRestore } from './backup.ts'
import { addCall } from './call.ts'
import { addChannel } from './channel.ts'
import { addConsole } from './console.ts'
import { type AddCommand, type Cli, createCli } from './cli.ts'
import { addCompletion } from './completion.ts'
import { addDemo } from './demo.ts'
import { addDevChain } from './dev-chain.ts'
import { addDoctor } from './doctor.ts'
import { addEarnings } from './earnings.ts'
import { EXIT } from './exit-code.ts'
import { failureJson, failureLines, failureOf } from './failure.ts'
import { addInit } from './init.ts'
import { addKey } from './key.ts'
import { addMapping } from './mapping.ts'
import { addMcp } from './mcp.ts'
import { addMarket } from './market.ts'
import { addNetwork } from './network.ts'
import { addPayout } from './payout.ts'
import { addPeers } from './peers.ts'
import { addPin } from './pin.ts'
import { addPlan } from './plan.ts'
import { addProvider } from './provider.ts'
import { addReceipts } from './receipts.ts'
import { addBooks } from './books.ts'
import { addSearch } from './search.ts'
import { addSettings } from './settings.ts'
import { addSettle } from './settle.ts'
import { addStatus } from './status.ts'
import { addSubscribe } from './subscribe.ts'
import { addSubscribers, addSubscriptions } from './subscriptions.ts'
import { addTail } from './tail.ts'
import { processTerminal, type Terminal } from './terminal.ts'
import { addUp } from './up.ts'
import { addWallet } from './wallet.ts'
import { addWhy } from './why.ts'
import { addWebhook } from './webhook.ts'

const COMMANDS: readonly AddCommand[] = [
  addInit,
  addUp,
  addDemo,
  addApi,
  addPlan,
  addSubscribers,
  addMapping,
  addKey,
  addAccount,
  addWallet,
  addPayout,
  addEarnings,
  addReceipts,
  addBooks,
  addSettle,
  addChannel,
  addSearch,
  addMarket,
  addWhy,
  addSubscribe,
  addSubscriptions,
  addCall,
  addMcp,
  addStatus,
  addConsole,
  addSettings,
  addTail,
  addWebhook,
  addPeers,
  addDoctor,
  addBackup,
  addRestore,
  addProvider,
  addPin,
  addNetwork,
  addDevChain,
  addCompletion
]

/** The whole command line, to run or to read. */
export function createProgram(terminal: Terminal): { readonly program: Command; readonly cli: Cli } {
  const program = new Command('souk')
  const cli = createCli(program, terminal)
  describe(program, terminal)
  for (const add of COMMANDS) add(program, cli)
  program.option('-V, --version', 'print the version').on('option:version', () => {
    throw new CommanderError(EXIT.ok, 'souk.version', '')
  })
  return { program, cli }
}

/** Runs one command line, without the program's own name in front; resolves to the exit code. */
export async function main(argv: readonly string[], terminal: Terminal = processTerminal()): Promise<number> {
  const { program, cli } = createProgram(terminal)
  try {
    await program.parseAsync(argv, { from: 'user' })
    return cli.exitCode
  } catch (error) {
    if (!(error instanceof CommanderError)) return report(error, cli)
    if (error.code === 'souk.version') await printVersion(terminal)
    // Commander has said what is wrong; asking for help is none.
    return error.exitCode === 0 ? EXIT.ok : EXIT.usage
  }
}

function describe(program: Command, terminal: Terminal): void {
  program
    .description(
      `A peer-to-peer marketplace for APIs: sell a ${PROTOCOLS_TEXT} API per call, call any of them with JSON.`
    )
    .option('--profile <name>', 'which node of this machine (default: "default", or SOUK_PROFILE)')
    .option('--json', 'data as JSON on stdout')
    .option('--no-input', 'never ask anything')
    .showSuggestionAfterError(true)
    .showHelpAfterError('Try: souk --help, or --help behind any command')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void terminal.write(text),
      writeErr: (text) => terminal.note(text.trimEnd())
    })
    .addHelpText('after', EXAMPLES)
}

const EXAMPLES = `
Examples:
  souk up --network dev
  souk api register --name bb-sse-ticker --protocol REST --endpoint http://127.0.0.1:9000/ --price 0.001 --currency USDC
  souk call bb-sse-ticker '{"symbol":"BTCUSDT","interval":"1m"}'`

async function printVersion(terminal: Terminal): Promise<void> {
  await terminal.write(`${packageVersion()}\n`)
}

function report(error: unknown, cli: Cli): number {
  const failure = failureOf(error)
  for (const line of cli.json ? [failureJson(failure)] : failureLines(failure)) cli.terminal.note(line)
  return failure.exitCode
}
