import assert from 'node:assert/strict'
import type { SoukError } from '../../../lib/base/errors.ts'
import { DAY_MS } from '../../../lib/base/limits/time.ts'
import type { Chain } from '../../../lib/interface/chain.ts'
import type { ChannelId, DepositAuthorization } from '../../../lib/interface/channel.ts'
import { decodePayReply, encodePayRequest } from '../../../lib/pay/channel/pay-messages.ts'
import { channelSalt } from '../../../lib/pay/signing/channel-salt.ts'
import { type ChannelBench, channelBench } from '../../helpers/channel-bench.ts'
import { type Mortal, mortal } from '../../helpers/mortal.ts'
import { type Life, lifeBench, type LifeBench } from '../../helpers/life-bench.ts'

const USDC = 1_000_000n
const DEPOSIT = USDC / 2n
const GAS = { gas: false }

describe('a channel that earned less than its gas', () => {
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
    payer = await lives.start('C', { ...GAS, usdc: USDC })
  })
  afterEach(() => lives.close())

  const openOf = ({ paymentScheme }: Life): ChannelId =>
    paymentScheme.channels().find(({ state }) => state === 'open')?.channelId ?? assert.fail('no open channel')
  const code = (expected: string) => (error: Error & { code?: string }) => {
    assert.equal(error.code, expected, error.message)
    return true
  }
  const spend = async (calls: number): Promise<void> => {
    for (let i = 0; i < calls; i++) await lives.call(payer, owner)
  }

  it('closes a few times a day for a payer, who can also withdraw alone', async () => {
    for (let times = 0; times < 2; times++) {
      await spend(1)
      await payer.paymentScheme.close(openOf(payer))
    }
    await spend(1)
    const id = openOf(payer)
    await lives.until('the deposit is mined', async () => (await lives.onChain(id)).balance > 0n)
    const nonce = () => bench.chain.nonce(owner.signer.address, 'latest')
    const before = await nonce()
    for (let times = 0; times < 3; times++) {
      await assert.rejects(payer.paymentScheme.close(id), (error: SoukError) => {
        assert.equal(error.code, 'settlement_unavailable')
        assert.match(error.message, /Withdraw from the channel yourself, which takes its delay, or close it later/)
        assert.ok(error.retryAfterMs! > 0 && error.retryAfterMs! <= DAY_MS, `${error.retryAfterMs}`)
        return true
      })
    }
    assert.equal(await nonce(), before)
    assert.equal(lives.channel(owner, id).state, 'open')
    // The address has another node as well, and others can still close.
    const twin = await lives.start('T', { ...GAS, signer: payer.signer, usdc: USDC })
    await lives.call(twin, owner)
    await assert.rejects(twin.paymentScheme.close(openOf(twin)), code('settlement_unavailable'))
    const other = await lives.start('O', { ...GAS, usdc: USDC })
    await lives.call(other, owner)
    await other.paymentScheme.close(openOf(other))
    // The payer gets its money back, and the owner has its earnings.
    await bench.fundGas(payer.signer.address)
    await payer.paymentScheme.withdraw(id)
    await owner.paymentScheme.settlement.redeemer.settleNow()
    await lives.wait(901)
    await lives.until('it is withdrawn', () => lives.channel(payer, id).state === 'closed')
    assert.equal((await lives.onChain(id)).claimed, 1_000n)
  })

  /** A channel of a node of its own, and how it sends deposits to the owner. */
  const newChannel = async (name: string) => {
    const { peer } = await lives.start(name, GAS)
    const config = bench.newConfig({
      receiver: bench.factory.splitterOf(lives.provider),
      receiverAuthorizer: owner.signer.address,
      salt: channelSalt(peer, 1n)
    })
    const send = async (deposit: DepositAuthorization) => {
      const request = encodePayRequest({ kind: 'deposit', deposit: { ...deposit, config, counter: 1n } })
      return decodePayReply(await lives.services.get(owner.peer)!(request, peer))
    }
    return { config, send }
  }

  it('loses no deposit of the day to deposits that are never sent', async () => {
    const { config, send } = await newChannel('R')
    await bench.mint(bench.payer.address, DEPOSIT)
    assert.equal((await send(await bench.authorize(config, DEPOSIT))).kind, 'state')
    // The wallet cannot pay for this one, whatever was minted before.
    const tooMuch = await bench.authorize(config, 2n ** 60n)
    for (let times = 0; times < 4; times++) {
      const refused = await send(tooMuch)
      assert.ok(refused.kind === 'refusal' && refused.code === 'payment_rejected', JSON.stringify(refused.kind))
    }
    await bench.mint(bench.payer.address, 2n * DEPOSIT)
    assert.equal((await send(await bench.authorize(config, DEPOSIT))).kind, 'state')
    assert.equal((await send(await bench.authorize(config, DEPOSIT))).kind, 'state')
  })

  it('loses no deposit of the day to deposits that are refused right before they are sent', async () => {
    const process = mortal()
    /** While it is on, the chain accepts each transaction at first, and refuses it when it is to be signed. */
    const changing = { isOn: false, asked: 0 }
    const fickle: Mortal = {
      ...process,
      chain: (chain: Chain): Chain => ({
        ...process.chain(chain),
        simulate: async (from, call) =>
          changing.isOn && changing.asked++ % 2 === 1 ? { ok: false, reason: 'no' } : chain.simulate(from, call)
      })
    }
    owner = await lives.start('E', { process: fickle })
    const { config, send } = await newChannel('R')
    await bench.mint(bench.payer.address, 10n * DEPOSIT)
    assert.equal((await send(await bench.authorize(config, DEPOSIT))).kind, 'state')
    changing.isOn = true
    const further = await bench.authorize(config, DEPOSIT)
    for (let times = 0; times < 4; times++) {
      const refused = await send(further)
      assert.ok(refused.kind === 'refusal' && refused.code === 'payment_rejected', JSON.stringify(refused.kind))
    }
    assert.equal(changing.asked, 8)
    changing.isOn = false
    assert.equal((await send(further)).kind, 'state')
    const kept = await owner.store.documents.get('payee-channels', bench.domain.channelId(config))
    assert.equal((JSON.parse(kept!) as { deposits: number }).deposits, 2)
  })

  it('accepts a few more deposits a day, and repeats of them always', async () => {
    const { config, send } = await newChannel('R')
    await bench.mint(bench.payer.address, 10n * USDC)
    const deposits = []
    for (let i = 0; i < 4; i++) deposits.push(await bench.authorize(config, DEPOSIT))
    const kinds = []
    for (const deposit of deposits) kinds.push((await send(deposit)).kind)
    assert.deepEqual(kinds, ['state', 'state', 'state', 'refusal'])
    const refused = await send(deposits[3]!)
    assert.ok(refused.kind === 'refusal' && refused.code === 'settlement_unavailable', JSON.stringify(refused.kind))
    assert.match(refused.detail, /Spend what is in the channel/)
    assert.equal((await send(deposits[2]!)).kind, 'state')
    const id = bench.domain.channelId(config)
    assert.equal((await lives.onChain(id)).balance, 3n * DEPOSIT)
    const kept = await owner.store.documents.get('payee-channels', id)
    assert.equal((JSON.parse(kept!) as { deposits: number }).deposits, 3)
  })
})
