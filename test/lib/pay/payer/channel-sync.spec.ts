import assert from 'node:assert/strict'
import { encodeFunctionData, parseAbi } from 'viem'
import { asSoukError, SoukError } from '../../../../lib/base/errors.ts'
import { DEPOSIT_VALID_MS } from '../../../../lib/base/limits/pay.ts'
import type { Chain } from '../../../../lib/interface/chain.ts'
import type { ChannelConfig, ChannelId } from '../../../../lib/interface/channel.ts'
import { decodePayRequest, encodePayRequest } from '../../../../lib/pay/channel/pay-messages.ts'
import { type ChannelBench, channelBench } from '../../../helpers/channel-bench.ts'
import { type Life, lifeBench, type LifeBench } from '../../../helpers/life-bench.ts'
import { type Mortal, mortal } from '../../../helpers/mortal.ts'

const USDC = 1_000_000n
const DEPOSIT = USDC / 2n
const PRICE = 1_000n
const FINAL_BLOCKS = 4
/** After the expiry of a deposit that was signed a moment ago. */
const EXPIRED_S = DEPOSIT_VALID_MS / 1_000 + 60
const NO_CREDIT = { creditHourMax: 0n }
const TRANSFER = parseAbi(['function transfer(address to, uint256 amount)'])

describe('a channel whose deposit has gone', () => {
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
    owner = await lives.start('D', { rules: NO_CREDIT })
    payer = await lives.start('C', { usdc: USDC })
    await lives.call(payer, owner)
  })
  afterEach(() => lives.close())

  const first = (): ChannelId => payer.paymentScheme.channels()[0]?.channelId ?? assert.fail('no channel')
  const wallet = () => bench.usdc(payer.signer.address)
  const final = () => bench.client.mine({ blocks: FINAL_BLOCKS })
  const config = async (): Promise<ChannelConfig> => {
    const [kept] = await payer.store.documents.list('payer-channels')
    return (JSON.parse(kept!.value) as { config: ChannelConfig }).config
  }
  /** All the payer's money goes elsewhere. */
  const drain = async () => {
    const data = encodeFunctionData({ abi: TRANSFER, args: [bench.stranger.address, await wallet()] })
    await bench.act(payer.signer, { to: bench.parameters.usdc.address, data })
  }
  /** A reorganisation replaces the deposit's block. The owner's next process sends the deposit again without a pause. */
  const loseDeposit = async (withMoney: boolean) => {
    await lives.stop(owner)
    await bench.client.request({ method: 'anvil_reorg' as never, params: [1, []] as never })
    assert.equal((await lives.onChain(first())).balance, 0n)
    if (!withMoney) await drain()
    owner = await lives.start('D', { of: owner, rules: NO_CREDIT })
  }
  const refusal = async (): Promise<SoukError | undefined> =>
    lives.call(payer, owner).then(() => undefined, asSoukError)
  const isServed = () => lives.until('a call is served', async () => (await refusal()) === undefined)
  const sumsToZero = async () => {
    for (const { store } of [owner, payer]) {
      const balances = await store.ledger.balances('')
      assert.equal(
        balances.reduce((sum, { amount }) => sum + amount, 0n),
        0n
      )
    }
  }
  const holds = (deposit: bigint) => assert.equal(lives.channel(payer, first()).deposit, deposit)

  it('by a reorganisation makes the same deposit again', async () => {
    await loseDeposit(true)
    await isServed()
    assert.equal((await lives.onChain(first())).balance, DEPOSIT)
    assert.equal(await wallet(), USDC - DEPOSIT)
    holds(DEPOSIT)
    await sumsToZero()
  })

  it('by a reorganisation tells a payer with an empty wallet how much to send to it', async () => {
    await loseDeposit(false)
    await lives.until('the error says it', async () => (await refusal())?.code === 'insufficient_funds')
    assert.match(
      (await refusal())?.message ?? '',
      new RegExp(`holds 0 USDC; a deposit of 0.5 USDC is needed. Send 0.5 USDC to ${payer.signer.address}`)
    )
    await sumsToZero()
  })

  it('by a reorganisation makes another deposit once the first has expired, and pays old charges with it', async () => {
    await loseDeposit(false)
    await lives.until('the payer knows', async () => (await refusal())?.code === 'insufficient_funds')
    await lives.stop(payer)
    payer = await lives.start('C', { of: payer })
    await lives.wait(EXPIRED_S)
    await final()
    await bench.mint(payer.signer.address, USDC)
    await isServed()
    const id = first()
    assert.equal((await lives.onChain(id)).balance, DEPOSIT)
    holds(DEPOSIT)
    assert.equal(await payer.store.ledger.balance(`uncollected/${id}`), 0n)
    assert.equal(await payer.store.ledger.balance('wallet'), -DEPOSIT)
    await sumsToZero()
  })

  it('by a reorganisation is filled by a deposit that was not sent before', async () => {
    const deposited = await bench.client.getBlockNumber()
    const service = lives.services.get(owner.peer) ?? assert.fail('no owner')
    lives.services.set(owner.peer, (request, peer) => {
      if (decodePayRequest(request).kind === 'deposit') return Promise.reject(new SoukError('owner_unreachable'))
      return service(request, peer)
    })
    for (let i = 0; i < 9; i++) await lives.call(payer, owner, 50n * PRICE)
    await assert.rejects(lives.call(payer, owner, 50n * PRICE), { code: 'owner_unreachable' })
    await lives.stop(owner)
    const [kept] = await payer.store.documents.list('payer-channels')
    assert.match(kept?.value ?? '', /"pending":\{/)
    const depth = Number((await bench.client.getBlockNumber()) - deposited) + 1
    await bench.client.request({ method: 'anvil_reorg' as never, params: [depth, []] as never })
    assert.equal((await lives.onChain(first())).balance, 0n)
    await drain()
    owner = await lives.start('D', { signer: owner.signer, rules: NO_CREDIT })
    await refusal()
    await bench.mint(payer.signer.address, 2n * USDC)
    await isServed()
    await sumsToZero()
  })

  it('can be closed after a reorganisation', async () => {
    await loseDeposit(false)
    const id = first()
    void payer.paymentScheme.close(id).catch(() => undefined)
    await lives.wait(EXPIRED_S)
    await lives.until('it is closed', async () => {
      await bench.client.mine({ blocks: 1 })
      return lives.channel(payer, id).state === 'closed'
    })
    assert.equal(await payer.store.ledger.balance('wallet'), 0n)
    await sumsToZero()
  })

  it('by a refund that the payer has forgotten is followed by another channel', async () => {
    const id = first()
    await lives.services.get(owner.peer)!(encodePayRequest({ kind: 'close', channelId: id }), payer.peer)
    await lives.until('the owner closes it', () => lives.channel(owner, id).state === 'closed')
    await isServed()
    assert.equal(lives.channel(payer, id).state, 'closed')
    assert.equal(lives.channel(payer, id).returned, DEPOSIT - PRICE)
    assert.equal(payer.paymentScheme.channels().length, 2)
    await sumsToZero()
  })

  it('by a withdrawal of another program is followed by another channel', async () => {
    const id = first()
    await final()
    await bench.act(payer.signer, bench.calls.initiateWithdraw(await config(), DEPOSIT))
    await lives.until('the owner sees it', () => lives.channel(owner, id).state === 'withdrawing')
    const told = await refusal()
    assert.equal(told?.code, 'settlement_unavailable')
    assert.match(told?.message ?? '', /is being withdrawn. Afterwards, a call opens another channel/)
    await lives.wait(901)
    await lives.until('it is withdrawn', () => lives.channel(payer, id).state === 'closed')
    await isServed()
    assert.equal(payer.paymentScheme.channels().length, 2)
    await sumsToZero()
  })

  it('by a completed withdrawal that the payer has missed is followed by another channel', async () => {
    const id = first()
    await lives.wait(EXPIRED_S)
    await bench.act(payer.signer, bench.calls.initiateWithdraw(await config(), DEPOSIT))
    await lives.wait(901)
    await bench.act(payer.signer, bench.calls.finalizeWithdraw(await config()))
    await final()
    await isServed()
    assert.equal(lives.channel(payer, id).state, 'closed')
    await sumsToZero()
  })

  it('is not believed to have gone because the owner says so', async () => {
    const books = { ceiling: '10000', captured: '1000', reserved: '0', signature: '0x' }
    const { reservation, order } = await lives.begin(payer, owner, PRICE)
    await reservation.release({ status: 200, requestHash: new Uint8Array(32), at: 1, ownerMs: 1, upstreamMs: 1 })
    const error = new SoukError('insufficient_funds', undefined, { notAccepted: true, members: { channel: books } })
    assert.equal(payer.paymentScheme.fail(order, { fate: 'not_accepted', error }), true)
    await lives.call(payer, owner)
    assert.equal(await wallet(), USDC - DEPOSIT)
    holds(DEPOSIT)
  })

  it('by a refund gets no deposit that was being prepared', async () => {
    const process = mortal()
    const [readWallet, readChannel, askTerms] = [gate(), gate(), gate()]
    const slow: Mortal = {
      ...process,
      chain: (chain: Chain): Chain => ({
        ...process.chain(chain),
        async balance(...of) {
          await readWallet.pass()
          return chain.balance(...of)
        },
        async channels(ids, at) {
          if (at === 'finalized') await readChannel.pass()
          return chain.channels(ids, at)
        }
      })
    }
    const other = await lives.start('E', { usdc: 4n * USDC, process: slow })
    const spend = (price: bigint) => lives.call(other, owner, price)
    for (let calls = 0; calls < 8; calls++) await spend(DEPOSIT / 10n)
    const { channelId: id } = lives.channel(other)
    readWallet.close()
    // This call deposits ahead, which reads the wallet first.
    await spend(DEPOSIT / 10n)
    await readWallet.reached
    await lives.services.get(owner.peer)?.(encodePayRequest({ kind: 'close', channelId: id }), other.peer)
    readChannel.close()
    lives.line.before = (_to, { kind }) => (kind === 'terms' ? askTerms.pass() : undefined)
    askTerms.close()
    // The owner refuses this call. The payer reads the channel, and opens another one.
    const next = spend(PRICE)
    await readChannel.reached
    readWallet.open()
    await askTerms.reached
    readChannel.open()
    await lives.until('the channel has ended', () => lives.channel(other, id).state === 'closed')
    askTerms.open()
    await next
    await lives.stop(other)
    assert.equal((await lives.onChain(id)).balance, 9n * (DEPOSIT / 10n))
    const kept = await other.store.documents.get('payer-channels', id)
    assert.equal((JSON.parse(kept ?? '{}') as { pending?: unknown }).pending, undefined)
  })
})

/** A place where a closed gate holds all who come. */
function gate() {
  const { promise: reached, resolve: reach } = Promise.withResolvers<void>()
  let opened = Promise.withResolvers<void>()
  opened.resolve()
  let isClosed = false
  return {
    reached,
    pass(): Promise<void> {
      if (isClosed) reach()
      return opened.promise
    },
    close() {
      isClosed = true
      opened = Promise.withResolvers<void>()
    },
    open() {
      isClosed = false
      opened.resolve()
    }
  }
}
