import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { checksummed } from '../../lib/index.ts'
import type {
  ChannelView,
  ClosedChannelsView,
  EarningsView,
  ReceiptView,
  WalletView,
  WithdrawalView
} from '../../node/admin/money/money-api.ts'
import { actor, type ChainBench, chainBench } from '../helpers/chain.ts'
import { eventually } from '../helpers/eventually.ts'
import { judgeApi, type JudgeApi } from '../helpers/judge-api.ts'
import { type HomeNode, type SoukHome, soukHome, tellWhenFailed } from '../helpers/souk-home.ts'

const BOUND_MS = 20_000
const CALLS = 4
/** Blocks until an earlier block is final on the dev chain. */
const FINAL_BLOCKS = 3

/** The money commands of two nodes. */
describe('the commands about money', () => {
  let chain: ChainBench
  let home: SoukHome
  let api: JudgeApi
  let owner: HomeNode
  let flags: string[]
  let consumer: HomeNode
  const payout = checksummed(actor('provider of the books').address.toLowerCase() as `0x${string}`)

  const json = async <View>(profile: string, command: string): Promise<View> => {
    const { code, stdout, stderr } = await home.run(`--profile ${profile} --json --no-input ${command}`)
    assert.equal(code, 0, `${command}: ${stderr}`)
    return JSON.parse(stdout) as View
  }

  before(async () => {
    chain = await chainBench()
    home = await soukHome()
    api = await judgeApi('books')
    const passphrase = join(home.directory, 'passphrase')
    await writeFile(passphrase, 'secret\n', { mode: 0o600 })
    const rpc = `--chain-rpc ${chain.parameters.rpcUrl}`
    for (const profile of ['owner', 'consumer']) {
      await json(profile, `wallet create --network dev --passphrase-file ${passphrase}`)
      await json(profile, `wallet deposit 5 ${rpc}`)
    }
    const ports = ['--p2p-port', '0', '--admin-port', '0', '--ingress-port', '0']
    flags = ['--payment-scheme', 'channel', ...rpc.split(' '), '--passphrase-file', passphrase, ...ports]
    owner = await home.up('owner', ...flags, '--payout', payout)
    consumer = await home.up('consumer', ...flags, '--bootstrap', ...owner.p2p)
    await owner.cli(`api register --name sold --protocol REST --endpoint ${api.url} --price 0.01`)
    // The calls use the channel that is opened first.
    await consumer.cli('key issue --api sold --open-channels')
    const opened = await consumer.cli<ChannelView>('channel open sold')
    assert.deepEqual([opened.state, opened.deposit, opened.spent], ['open', '0.5', '0'])
    for (let i = 0; i < CALLS; i++) await consumer.cli('call sold', JSON.stringify({ id: String(i) }))
  })
  tellWhenFailed(() => home)
  after(async () => {
    await home?.close()
    await api?.close()
    await chain?.close()
  })

  it('show both sides the same receipts, and the payer that they are signed', async () => {
    const [paid, earned] = await eventually('the payer has written its receipts', BOUND_MS, async () => {
      const paid = await consumer.cli<{ receipts: ReceiptView[] }>('receipts --role payer')
      const earned = await owner.cli<{ receipts: ReceiptView[] }>('receipts --role owner')
      return paid.receipts.length === CALLS ? [paid.receipts, earned.receipts] : undefined
    })
    const ids = (rows: readonly ReceiptView[]) => rows.map(({ request_id: id }) => id)
    assert.deepEqual(ids(paid), ids(earned))
    for (const { charged, signature, peer } of paid) {
      assert.deepEqual({ charged, signature, peer }, { charged: '0.01', signature: 'valid', peer: owner.peer })
    }
    assert.deepEqual(new Set(earned.map(({ peer }) => peer)), new Set([consumer.peer]))
    assert.deepEqual((await consumer.cli<{ receipts: ReceiptView[] }>('receipts --role owner')).receipts, [])
    const { receipts } = await consumer.cli<{ receipts: ReceiptView[] }>('receipts --limit 1 --api sold --since 1h')
    assert.deepEqual(ids(receipts), ids(paid).slice(0, 1))
    assert.deepEqual((await consumer.cli<{ receipts: ReceiptView[] }>('receipts --until 2020-01-01')).receipts, [])
  })

  it('export them as CSV', async () => {
    const { stdout } = await home.run('--profile consumer receipts --csv')
    const [head, ...rows] = stdout.split('\r\n')
    assert.equal(head, 'role,request_id,time,api,peer,channel,status,charged,rule,signature,proof')
    assert.equal(rows.pop(), '')
    assert.equal(rows.length, CALLS)
    for (const row of rows) {
      const [role, , time, name, , , status, charged, rule] = row.split(',')
      assert.deepEqual([role, status, charged, rule], ['payer', '200', '0.01', 'success'])
      assert.equal(new Date(time ?? '').toISOString(), time)
      assert.match(name ?? '', /^sold@12D3KooW/)
    }
  })

  it('show earnings until they are paid to the provider', async () => {
    const before = await owner.cli<EarningsView>('earnings')
    assert.equal(before.providers.length, 1)
    const { gross, captured, paid_provider: paid } = before.providers[0]!
    assert.deepEqual({ gross, captured, paid }, { gross: '0.04', captured: '0.04', paid: '0' })
    await owner.cli('settle --now')
    await chain.client.mine({ blocks: FINAL_BLOCKS })
    const { providers, gas } = await eventually('it is final', BOUND_MS, async () => {
      const view = await owner.cli<EarningsView>('earnings')
      return view.gas.transactions >= 4 ? view : undefined
    })
    const { transactions, splitter: _, ...row } = providers[0]!
    const zero = {
      direct: '0',
      others: '0',
      captured: '0',
      claiming: '0',
      claimed: '0',
      waiting: '0',
      written_off: '0'
    }
    const sides = { paid_provider: '0.038', paid_treasury: '0.002' }
    assert.deepEqual(row, { payout, gross: '0.04', fee: '0.002', net: '0.038', ...zero, ...sides })
    assert.deepEqual(new Set(transactions.map(({ what }) => what)), new Set(['settle', 'distribute']))
    assert.ok(Number(gas.cost) > 0)
    const { stdout } = await home.run('--profile owner earnings --csv')
    const [head, line] = stdout.split('\r\n').map((record) => record.split(','))
    assert.equal(line?.[head?.indexOf('paid_provider') ?? -1], '0.038')
    const { stdout: text, stderr } = await home.run('--profile owner earnings')
    assert.match(text, /paid out +0\.038 play USDC to the provider/)
    assert.match(stderr, /up to block \d+/)
    assert.deepEqual((await consumer.cli<EarningsView>('earnings')).providers, [])
  })

  it('withdraw from the wallet once per id, and only with confirmation', async () => {
    const to = checksummed(actor('cold wallet of the books').address.toLowerCase() as `0x${string}`)
    const before = await owner.cli<WalletView>('wallet balance')
    assert.deepEqual([before.balance, before.money], ['5', 'play USDC'])
    const unsure = await home.run(`--profile owner --no-input wallet withdraw 1 --to ${to}`)
    assert.equal(unsure.code, 64)
    assert.match(unsure.stderr, /--yes/)
    const sent = await owner.cli<WithdrawalView>(`wallet withdraw 1.5 --to ${to} --yes --id rent`)
    const again = await owner.cli<WithdrawalView>(`wallet withdraw 1.5 --to ${to} --yes --id rent`)
    assert.equal(again.transaction, sent.transaction)
    assert.equal((await owner.cli<WalletView>('wallet balance')).balance, '3.5')
    const mistyped = to.replace(/[a-f]/, (letter) => letter.toUpperCase())
    for (const [amount, address, words] of [
      ['4', to, /holds 3\.5 USDC[^]*souk --profile owner wallet deposit/],
      ['1', mistyped, /checksum/],
      ['0', to, /above 0/],
      ['1', chain.parameters.usdc.address, /is lost/]
    ] as const) {
      const refused = await home.run(`--profile owner wallet withdraw ${amount} --to ${address} --yes`)
      assert.notEqual(refused.code, 0)
      assert.match(refused.stderr, words)
    }
    assert.equal((await owner.cli<WalletView>('wallet balance')).balance, '3.5')
  })

  it('close channels and return the unspent deposit', async () => {
    const list = (node: HomeNode) => node.cli<{ channels: ChannelView[] }>('channel list')
    const [paid] = (await list(consumer)).channels
    const [earned] = (await list(owner)).channels
    assert.ok(paid !== undefined && earned !== undefined)
    assert.deepEqual([paid.role, paid.state, paid.spent, paid.peer], ['payer', 'open', '0.04', owner.peer])
    assert.deepEqual([earned.role, earned.spent, earned.claimed], ['owner', '0.04', '0.04'])
    assert.equal(earned.channel, paid.channel)
    const before = (await owner.cli<EarningsView>('earnings')).providers[0]!
    const { channels } = await consumer.cli<ClosedChannelsView>('channel close --all')
    assert.deepEqual(
      channels.map(({ channel, problem }) => [channel.state, channel.returned, problem]),
      [['closed', '0.46', null]]
    )
    assert.equal((await consumer.cli<WalletView>('wallet balance')).balance, '4.96')
    assert.deepEqual((await list(consumer)).channels, [])
    assert.equal((await consumer.cli<{ channels: ChannelView[] }>('channel list --all')).channels.length, 1)
    const { gross, paid_provider: out } = (await owner.cli<EarningsView>('earnings')).providers[0]!
    assert.deepEqual([gross, out], [before.gross, before.paid_provider])
  })

  it('withdraw from a channel without its owner, by an id prefix', async () => {
    await consumer.cli('call sold', '{"id":"again"}')
    const { channels } = await consumer.cli<{ channels: ChannelView[] }>('channel list')
    const brief = channels[0]!.channel.slice(0, 14)
    const left = await consumer.cli<ChannelView>(`channel withdraw ${brief} --yes`)
    assert.equal(left.state, 'withdrawing')
    assert.ok(left.withdrawable_at !== null && left.withdrawable_at > Date.now())
    for (const [command, code, words] of [
      [`channel withdraw 0x${'00'.repeat(32)} --yes`, 1, /no channel with this id/],
      [`channel accept ${brief} --yes`, 1, /no closed and disputed channel with this id/],
      ['channel withdraw 0xffff', 1, /id that begins or ends with 0xffff/],
      ['channel close zzz', 1, /begins or ends with zzz/],
      ['disputes accept zzz --yes', 1, /begins or ends with zzz/],
      ['disputes take-back zzz --peer zzz --yes', 64, /starts with 12D3KooW/],
      ['channel close', 64, /--all/],
      ['channel open nowhere', 1, /"nowhere"/],
      ['key issue --open-channels', 64, /needs --api/],
      [`channel close ${brief} --all`, 64, /--all/]
    ] as const) {
      const refused = await home.run(`--profile consumer ${command}`)
      assert.equal(refused.code, code, refused.stderr)
      assert.match(refused.stderr, words)
    }
  })

  it('give no credit with --no-credit, also after the next start', async () => {
    const credit = async (node: HomeNode) => (await node.cli<EarningsView>('earnings')).credit
    assert.equal((await credit(owner)).max, '1')
    await json('prudent', `wallet create --network dev --passphrase-file ${join(home.directory, 'passphrase')}`)
    for (const typed of [['--no-credit'], []]) {
      const prudent = await home.up('prudent', ...flags, '--no-ingress', ...typed)
      assert.deepEqual(await credit(prudent), { used: '0', max: '0' })
      await prudent.end()
    }
  })

  it('explain on a node without money what is missing', async () => {
    const node = await home.up('plain', '--no-ingress')
    for (const command of ['earnings', 'channel list', `wallet withdraw 1 --to 0x${'11'.repeat(20)} --yes`]) {
      const { code, stderr } = await home.run(`--profile plain ${command}`)
      assert.equal(code, 1, stderr)
      assert.match(stderr, /moves no money/)
    }
    await node.end()
  })
})
