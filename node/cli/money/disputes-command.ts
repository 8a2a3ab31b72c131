import type { DisputeView } from '../../admin/money/money-api.ts'
import type { AddCommand, Cli } from '../cli.ts'
import { checkPeerId } from '../options/check-typed.ts'
import { YES } from '../terminal/confirm.ts'
import { fullId, shortApi, shortId } from '../terminal/short-id.ts'
import { type Column, moment, table } from '../terminal/table.ts'

export const addDisputes: AddCommand = (to, cli) => {
  const disputes = to.command('disputes').description('charges without a valid receipt')

  disputes
    .command('list', { isDefault: true })
    .description('list disputed charges, newest first')
    .option('--all', 'include disputes that ended in the last 30 days')
    .action(async ({ all }: { all?: boolean }) => {
      const found = (await (await cli.node()).request('GET /disputes')).disputes
      const shown = all === true ? found : found.filter(isOpen)
      await cli.list({ disputes: shown }, shown, COLUMNS, {
        what: 'No charge is disputed.',
        next: found.length > 0 ? 'souk disputes --all' : 'souk receipts'
      })
    })

  disputes
    .command('accept')
    .description('as payer: accept a charge without a receipt, and pay its owner again')
    .argument('<request>', 'request id from souk disputes')
    .option(...YES)
    .action(async (given: string, { yes }: { yes?: boolean }) => {
      const dispute = await disputeOf(cli, given, 'payer')
      const consequence = 'There will be no proof of what it paid for.'
      const question = `Accept the charge of ${dispute.amount} USDC for ${shortApi(dispute.api)}?`
      if (!(await cli.confirm({ yes, question, consequence }))) return
      const node = await cli.node()
      await told(cli, await node.request('POST /disputes/:request/accept', { params: { request: dispute.request_id } }))
    })

  disputes
    .command('take-back')
    .description('as owner: take the charge of a call back; the payer can spend the amount on other calls')
    .argument('<request>', 'request id from souk disputes, or from souk receipts with --peer')
    .option('--peer <id>', 'peer id of the payer, for a call that is not disputed')
    .option(...YES)
    .action(async (given: string, { yes, peer }: { yes?: boolean; peer?: string }) => {
      if (peer !== undefined) await checkPeerId(peer)
      const { request_id: request, peer: payer } =
        peer === undefined ? await disputeOf(cli, given, 'owner') : { request_id: given, peer }
      const consequence = 'The amount leaves your earnings.'
      if (!(await cli.confirm({ yes, question: `Take the charge of ${shortId(request)} back?`, consequence }))) return
      const node = await cli.node()
      const options = { params: { request }, body: { peer: payer } }
      await told(cli, await node.request('POST /disputes/:request/take-back', options))
    })
}

const told = (cli: Cli, view: DisputeView): Promise<void> => cli.print(view, () => table([view], COLUMNS, cli))

/** At the owner, a sent receipt does not say that the payer agrees. */
const isOpen = ({ state }: DisputeView): boolean => state === 'open'

/** Accepts the short id of a table. */
async function disputeOf(cli: Cli, given: string, role: DisputeView['role']): Promise<DisputeView> {
  const { disputes } = await (await cli.node()).request('GET /disputes')
  const own = disputes.filter((dispute) => dispute.role === role)
  const ids = own.map(({ request_id: id }) => id)
  const id = fullId(given, ids, 'disputed call', 'souk disputes --all')
  return own[ids.indexOf(id)] as DisputeView
}

const COLUMNS: ReadonlyArray<Column<DisputeView>> = [
  { head: 'REQUEST', of: ({ request_id: id }) => id, short: ({ request_id: id }) => shortId(id) },
  { head: 'ROLE', of: ({ role }) => role },
  { head: 'TIME (UTC)', of: ({ at }) => moment(at) },
  { head: 'API', of: ({ api }) => api, short: ({ api }) => shortApi(api), least: 10 },
  { head: 'USDC', of: ({ amount }) => amount },
  { head: 'FAULT', of: ({ fault }) => fault },
  { head: 'STATE', of: ({ state }) => state },
  { head: 'PEER', of: ({ peer }) => peer, isExtra: true },
  { head: 'CHANNEL', of: ({ channel }) => channel, isExtra: true }
]
