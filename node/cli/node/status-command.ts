import type { StatusView } from '../../admin/api.ts'
import type { AddCommand } from '../cli.ts'
import { facts } from '../terminal/table.ts'
import { restartNeeded } from './old-node.ts'

export const addStatus: AddCommand = (to, cli) => {
  to.command('status')
    .description('show the status of this node')
    .action(async () => {
      const status = await (await cli.node()).request('GET /status')
      await cli.print(status, () => lines(status))
      if (status.alone) cli.terminal.note(ALONE)
      else if (status.reachability.hint !== null) cli.terminal.note(status.reachability.hint)
    })
}

const ALONE =
  'No peer is connected, so other nodes cannot find your APIs.\n' +
  'Try: souk up --bootstrap <multiaddr of a peer>; souk status of another node shows it as p2p'

function lines(status: StatusView): string[] {
  const restart = restartNeeded(status)
  return facts([
    ['node', `souk ${status.version}, profile ${status.profile}, up ${duration(status.uptime_ms)}`],
    ['network', `${status.network} (${status.money})`],
    ...(restart === null ? [] : [['restart', `needed: ${restart}`] as const]),
    ['peer', status.peer],
    ...(status.provider === status.peer ? [] : [['provider', status.provider] as const]),
    ...status.p2p.map((address) => ['p2p', address] as const),
    ['reach', status.reachability.text],
    ['ingress', status.ingress ?? 'none'],
    ['admin', status.admin],
    ['peers', String(status.peers)],
    ['listings', String(status.listings)],
    ['calls', `${status.serving} being served, ${status.calling} being made`],
    ['payment', status.till],
    ['store', storeOf(status)],
    ...(status.wallet === null ? [] : [['wallet', status.wallet] as const]),
    ...(status.chain === null ? [] : [['chain', status.chain] as const]),
    ...(status.payout === null ? [] : [['payout', status.payout] as const])
  ])
}

const GIB = 2 ** 30

function storeOf({ store: { free_bytes, shared, refusal } }: StatusView): string {
  return [
    free_bytes === null ? 'free disk space unknown' : `${(free_bytes / GIB).toFixed(1)} GiB free`,
    ...(shared === null ? [] : [shared === 'connected' ? 'database connected' : 'database unavailable']),
    ...(refusal === null ? [] : [`refuses new calls (${refusal})`])
  ].join(', ')
}

function duration(ms: number): string {
  const seconds = Math.floor(ms / 1000)
  const [days, hours, minutes] = [
    Math.floor(seconds / 86_400),
    Math.floor(seconds / 3_600) % 24,
    Math.floor(seconds / 60) % 60
  ]
  if (days > 0) return `${days} d ${hours} h`
  if (hours > 0) return `${hours} h ${minutes} min`
  return minutes > 0 ? `${minutes} min` : `${seconds} s`
}
