import type { ChannelView } from '../../admin/money/money-api.ts'
import type { AdminClient } from '../../admin/client.ts'
import type { AddCommand, Cli } from '../cli.ts'
import { YES } from '../terminal/confirm.ts'
import { EXIT } from '../terminal/exit-code.ts'
import { moment, table } from '../terminal/table.ts'
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
      await cli.print({ channels }, () => lines(channels))
      if (channels.length === 0) cli.terminal.note('There is no channel. The first paid call opens one.')
    })

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
      await cli.print(closed, () => lines(closed.channels.map((each) => each.channel)))
      for (const { channel, problem } of closed.channels) {
        if (problem === null) continue
        cli.terminal.note(`warning: ${brief(channel.channel)} is not closed yet: ${problem}`)
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
      if (!(await cli.confirm({ yes, question: `Withdraw the deposit of ${brief(channel)}?`, consequence }))) return
      await told(cli, await node.request('POST /channels/:channel/withdraw', { params: { channel } }))
    })
}

async function told(cli: Cli, view: ChannelView): Promise<void> {
  await cli.print(view, () => lines([view]))
  if (view.withdrawable_at !== null) {
    cli.terminal.note(`This node completes the withdrawal after ${moment(view.withdrawable_at)} UTC. Keep it running.`)
  }
}

/** Shortens a channel id for tables. */
const BRIEF_CHARS = 14

const brief = (channel: string): string => channel.slice(0, BRIEF_CHARS)

/** Accepts a prefix of a channel id if only one channel matches. */
async function idOf(node: AdminClient, given: string): Promise<string> {
  if (given.length === 66) return given
  const { channels } = await node.request('GET /channels')
  const found = channels.filter(({ role, channel }) => role === 'payer' && channel.startsWith(given.toLowerCase()))
  const [only] = found
  if (only !== undefined && found.length === 1) return only.channel
  const what = found.length === 0 ? 'No payer channel has an id' : 'Several payer channels have an id'
  throw new UsageError(`${what} that begins with ${given}.`, 'souk channel list')
}

function lines(channels: readonly ChannelView[]): string[] {
  if (channels.length === 0) return []
  return table(
    ['CHANNEL', 'ROLE', 'STATE', 'DEPOSIT', 'SPENT', 'CLAIMED', 'RETURNED', 'WITHDRAWABLE (UTC)', 'PEER'],
    channels.map((channel) => [
      brief(channel.channel),
      channel.role,
      channel.disputed ? `${channel.state}, disputed` : channel.state,
      `${channel.deposit} USDC`,
      `${channel.spent} USDC`,
      channel.claimed ?? '-',
      channel.returned ?? '-',
      moment(channel.withdrawable_at),
      channel.peer ?? 'x402'
    ])
  )
}
