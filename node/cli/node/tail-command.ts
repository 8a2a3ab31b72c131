import type { TailItem } from '../../admin/events/webhook-api.ts'
import type { AddCommand } from '../cli.ts'
import { milliseconds } from '../terminal/table.ts'

interface TailFlags {
  readonly events?: string
  readonly calls: boolean
}

export const addTail: AddCommand = (to, cli) => {
  to.command('tail')
    .description('show calls and events of this node as they happen, until Ctrl-C')
    .option('--events <types>', 'event types to show, like listing.*,key.revoked (default: all)')
    .option('--no-calls', 'show events only')
    .action(async ({ events, calls }: TailFlags) => {
      const stop = new AbortController()
      void cli.terminal.stopped().then(() => stop.abort())
      const node = await cli.node()
      try {
        for await (const item of node.events({ types: events, calls: calls ? '1' : undefined }, stop.signal)) {
          await cli.print(item, () => [line(item)])
        }
      } catch (error) {
        if (!stop.signal.aborted) throw error
      }
    })
}

function line({ type, timestamp, ...item }: TailItem): string {
  // With the Z of UTC.
  const at = timestamp.slice(11, 24)
  if (type !== 'call') return `${at}  ${type}  ${JSON.stringify(item['data'] ?? {})}`
  const { role, api, status, code, ms, charged } = item
  const way = role === 'owner' ? 'served' : 'called'
  const parts = [at, way, String(api), String(status), `${milliseconds(Number(ms))} ms`, `${String(charged)} USDC`]
  return [...parts, ...(typeof code === 'string' ? [code] : [])].join('  ')
}
