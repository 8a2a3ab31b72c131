import type { ChannelView } from '../../admin/money/money-api.ts'
import type { AdminClient } from '../../admin/client.ts'
import type { AddCommand, Cli } from '../cli.ts'
import { YES } from '../terminal/confirm.ts'
import { EXIT } from '../terminal/exit-code.ts'
import { fullId, shortId } from '../terminal/short-id.ts'
import { type Column, moment, table } from '../terminal/table.ts'
import { UsageError } from '../terminal/usage-error.ts'

export const addChannel: AddCommand = (to, cli) => {
  const channel = to.command('channel').description('payment channels: deposits, and how to get them back')

  channel
    .command('list')
    .description('list payer channels and payee channels')
    .option('--all', 'include closed channels')
    .action(async ({ all }: { all?: boolean }) => {
      const found = (await (await cli.node()).request('GET /channels')).channels
      const channels = all === true ? found : found.filter(({ state }) => state !== 'closed')
      await cli.list({ channels }, channels, COLUMNS, {
        what: found.length === 0 ? 'There is no channel. The first paid call opens one.' : 'There is no open channel.',
        next: found.length === 0 ? 'souk search, then souk call <name>' : 'souk channel list --all'
      })
    })

  channel
    .command('open')
    .description('open the channel to an API’s owner now, so that the first paid call does not wait for a deposit')
    .argument('<api>', 'name or name@provider')
    .action(async (api: string) => told(cli, await (await cli.node()).request('POST /channels', { body: { api } })))

  channel
    .command('close')
    .description('close a payer channel; its owner returns the unspent deposit; costs no gas')
    .argument('[channel]', 'channel id from souk channel list')
    .option('--all', 'close all payer channels')
    .action(async (given: string | undefined, { all }: { all?: boolean }) => {
      const node = await cli.node()
      if ((given === undefined) === (all !== true)) {
        throw new UsageError('Give a channel id, or --all.', 'souk channel list')
      }
      if (given !== undefined)
        return told(
          cli,
          await node.request('POST /channels/:channel/close', { params: { channel: await idOf(node, given) } })
        )
      const closed = await node.request('POST /channels/close')
      await cli.print(closed, () =>
        table(
          closed.channels.map((each) => each.channel),
          COLUMNS,
          cli
        )
      )
      for (const { channel, problem } of closed.channels) {
        if (problem === null) continue
        cli.terminal.note(`warning: ${shortId(channel.channel)} is not closed yet: ${problem}`)
        cli.exitCode = EXIT.failed
      }
    })

  channel
    .command('withdraw')
    .description('withdraw the deposit without the owner, less its claims; takes the channel’s delay, and gas')
    .argument('<channel>', 'channel id from souk channel list')
    .option(...YES)
    .action(async (given: string, { yes }: { yes?: boolean }) => {
      const node = await cli.node()
      const channel = await idOf(node, given)
      const consequence = 'No call can be paid from it any more. souk channel close is faster and costs no gas.'
      if (!(await cli.confirm({ yes, question: `Withdraw the deposit of ${shortId(channel)}?`, consequence }))) return
      await told(cli, await node.request('POST /channels/:channel/withdraw', { params: { channel } }))
    })

  channel
    .command('accept')
    .description('accept what the owner of a closed, disputed channel took too much, and pay this owner again')
    .argument('<channel>', 'channel id from souk channel list --all')
    .option(...YES)
    .action(async (given: string, { yes }: { yes?: boolean }) => {
      const node = await cli.node()
      const channel = await idOf(node, given)
      const question = `Pay the owner of ${shortId(channel)} again?`
      const consequence = 'It took more than your calls cost. Its own receipts prove it: souk receipts.'
      if (!(await cli.confirm({ yes, question, consequence }))) return
      await told(cli, await node.request('POST /channels/:channel/accept', { params: { channel } }))
    })
}

async function told(cli: Cli, view: ChannelView): Promise<void> {
  await cli.print(view, () => table([view], COLUMNS, cli))
  if (view.withdrawable_at !== null) {
    cli.terminal.note(`This node completes the withdrawal after ${moment(view.withdrawable_at)} UTC. Keep it running.`)
  }
}

/** Accepts the short id of a table. */
async function idOf(node: AdminClient, given: string): Promise<string> {
  if (given.length === ID_CHARS) return given
  const { channels } = await node.request('GET /channels')
  const ids = channels.filter(({ role }) => role === 'payer').map(({ channel }) => channel)
  return fullId(given, ids, 'payer channel', 'souk channel list')
}

/** 0x, and 32 bytes. */
const ID_CHARS = 66

const COLUMNS: ReadonlyArray<Column<ChannelView>> = [
  { head: 'CHANNEL', of: ({ channel }) => channel, short: ({ channel }) => shortId(channel) },
  { head: 'ROLE', of: ({ role }) => role },
  { head: 'STATE', of: ({ state, disputed }) => (disputed ? `${state}, disputed` : state) },
  { head: 'DEPOSIT', of: ({ deposit }) => deposit },
  { head: 'SPENT', of: ({ spent }) => spent },
  { head: 'DISPUTED', of: ({ disputed_amount: amount }) => amount, isExtra: true },
  { head: 'CLAIMED', of: ({ claimed }) => claimed ?? '', isExtra: true },
  { head: 'RETURNED', of: ({ returned }) => returned ?? '', isExtra: true },
  { head: 'WITHDRAWABLE (UTC)', of: ({ withdrawable_at: at }) => moment(at), isExtra: true },
  { head: 'PEER', of: ({ peer }) => peer ?? 'x402', short: ({ peer }) => (peer === null ? 'x402' : shortId(peer)) }
]
