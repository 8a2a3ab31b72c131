import { InvalidArgumentError } from 'commander'
import type { SettingsView } from '../../admin/node/settings-api.ts'
import type { AddCommand } from '../cli.ts'
import { facts } from '../terminal/table.ts'

export const addSettings: AddCommand = (to, cli) => {
  to.command('settings')
    .description('show which data of calls the node stores, and for how long')
    .option('--capture <on|off>', 'capture requests of calls from this machine, in memory and without secrets', onOrOff)
    .action(async ({ capture }: { capture?: boolean }) => {
      const node = await cli.node()
      const view =
        capture === undefined
          ? await node.request('GET /settings')
          : await node.request('PUT /settings', { body: { capture } })
      await cli.print(view, () => lines(view))
    })
}

const DAY_MS = 24 * 60 * 60_000

function lines({ capture, captured, captured_max, retention }: SettingsView): string[] {
  const days = (ms: number) => `${Math.round(ms / DAY_MS)} d`
  return facts([
    ['capture', capture ? `on, ${captured} of at most ${captured_max} requests captured` : 'off'],
    ['responses', `${days(retention.answers_ms)}, for repeats of the same call`],
    ['charts', `${days(retention.series_ms)}, in memory`],
    ['browsers', `${days(retention.sessions_ms)} after sign-in`],
    ['receipts', 'see souk up --keep-days']
  ])
}

function onOrOff(typed: string): boolean {
  if (typed !== 'on' && typed !== 'off') throw new InvalidArgumentError('Give on or off.')
  return typed === 'on'
}
