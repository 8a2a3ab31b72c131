import assert from 'node:assert/strict'
import { SoukError } from '../../../lib/base/errors.ts'
import type { Settled } from '../../../lib/interface/payment-scheme.ts'
import type { ChannelId } from '../../../lib/interface/channel.ts'
import { type ChannelBench, channelBench } from '../../helpers/channel-bench.ts'
import { type Life, lifeBench, type LifeBench } from '../../helpers/life-bench.ts'
import { outcome, sent } from '../../helpers/scheme-bench.ts'

const USDC = 1_000_000n
const PRICE = 3_000n

describe('a response after the end of its channel', () => {
  let bench: ChannelBench
  let lives: LifeBench
  let owner: Life
  let payer: Life

  before(async () => {
    bench = await channelBench()
  })
  after(() => bench.close())
  beforeEach(async () => {
    lives = await lifeBench(bench)
    owner = await lives.start('D')
    payer = await lives.start('C', { usdc: USDC })
  })
  afterEach(() => lives.close())

  /** A call whose owner stops after it served it, and whose channel is withdrawn before the response comes. */
  const late = async () => {
    await lives.call(payer, owner)
    const { channelId: id } = lives.channel(payer)
    const { order, reservation } = await lives.begin(payer, owner, PRICE)
    const settled = await reservation.capture({ ...outcome(order.api), rule: 'success' })
    await lives.stop(owner)
    await payer.paymentScheme.withdraw(id)
    await lives.wait(901)
    await lives.until('it is out', () => lives.channel(payer, id).state === 'closed')
    owner = await lives.start('D', { of: owner })
    return { id, order, settled }
  }
  /** All of the deposit came back, since the owner claimed nothing. */
  const check = async (id: ChannelId): Promise<void> => {
    await lives.stop(payer)
    payer = await lives.start('C', { of: payer })
    assert.deepEqual(await lives.books(payer, id), { inside: 0n, spent: 1_000n, wallet: 0n, unclaimed: -1_000n })
    assert.deepEqual(await payer.paymentScheme.disputes(), [])
    const { reserved, spent, isDisputed } = lives.channel(payer, id)
    assert.deepEqual({ reserved, spent, isDisputed }, { reserved: 0n, spent: 1_000n, isDisputed: false })
    await lives.call(payer, owner)
  }

  it('is booked nowhere if it has a receipt', async () => {
    const { id, order, settled } = await late()
    await payer.paymentScheme.accept(order, { ...settled, status: 200 }, sent(order.api))
    await check(id)
  })

  it('is not disputed if it has none', async () => {
    const { id, order, settled } = await late()
    const unproved: Settled = { ...settled, receipt: new Uint8Array(0) }
    await payer.paymentScheme.accept(order, { ...unproved, status: 200 }, sent(order.api))
    await check(id)
  })

  it('causes no dispute by the owner’s books', async () => {
    const { id, order } = await late()
    const books = { ceiling: '10000', captured: '4000', reserved: '0', signature: '0x' }
    const error = new SoukError('payment_rejected', undefined, { notAccepted: true, members: { channel: books } })
    payer.paymentScheme.fail(order, { fate: 'not_accepted', error })
    await check(id)
  })

  it('holds no money if it never comes', async () => {
    const { id, order } = await late()
    payer.paymentScheme.fail(order, { fate: 'lost', error: new SoukError('owner_unreachable') })
    assert.equal(lives.channel(payer, id).reserved, 0n)
    await check(id)
  })
})
