import type { ChannelView } from '../../admin/money/money-api.ts'
import type { AdminClient } from '../../admin/client.ts'
import type { AddCommand, Cli } from '../cli.ts'
import { EXIT } from '../terminal/exit-code.ts'
import { moment, table } from '../terminal/table.ts'
import { UsageError } from '../terminal/usage-error.ts'

export const addChannel: AddCommand = (to, cli) => {
  const channel = to.command('channel').description('where deposits are, and how to get them back')

  channel
    .command('list')
    .description('channels that this node pays through, and is paid through')
    .option('--all', 'closed ones as well')
    .action(async ({ all }: { all?: boolean }) => {
      const found = (await (await cli.node()).request('GET /channels')).channels
      const channels = all === true ? found : found.filter(({ state }) => state !== 'closed')
      await cli.print({ channels }, () => lines(channels))
      if (channels.length === 0)
        cli.terminal.note('There is none: one is opened with the first call that costs something.')
    })

  channel
    .command('close')
    .description('pay through it no more, and have its owner give back what was not spent; costs no gas')
    .argument('[channel]', 'as channel list shows it')
    .option('--all', 'each one that this node pays through')
    .action(async (given: string | undefined, { all }: { all?: boolean }) => {
      const node = await cli.node()
      if ((given === undefined) === (all !== true)) {
        throw new UsageError('Say which channel, or --all.', 'souk channel list')
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
    .description('take out without the owner what it does not claim meanwhile; takes the channel’s delay, and gas')
    .argument('<channel>', 'as channel list shows it')
    .action(async (given: string) => {
      const node = await cli.node()
      await told(
        cli,
        await node.request('POST /channels/:channel/withdraw', { params: { channel: await idOf(node, given) } })
      )
    })
}

async function told(cli: Cli, view: ChannelView): Promise<void> {
  await cli.print(view, () => lines([view]))
  if (view.withdrawable_at !== null) {
    cli.terminal.note(`The rest comes by itself, after ${moment(view.withdrawable_at)} UTC, while this node runs.`)
  }
}

/** Enough to be told apart by. */
const BRIEF_CHARS = 14

const brief = (channel: string): string => channel.slice(0, BRIEF_CHARS)

/** A beginning is enough where only one channel has it. */
async function idOf(node: AdminClient, given: string): Promise<string> {
  if (given.length === 66) return given
  const { channels } = await node.request('GET /channels')
  const found = channels.filter(({ role, channel }) => role === 'payer' && channel.startsWith(given.toLowerCase()))
  const [only] = found
  if (only !== undefined && found.length === 1) return only.channel
  const what = found.length === 0 ? 'This node pays through no channel' : 'This node pays through several channels'
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
