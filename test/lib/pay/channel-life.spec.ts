import { CREDIT_ADDRESS_ATOMS_MAX, EXPOSURE_ATOMS_MAX } from '../../../lib/base/limits/pay.ts'
import assert from 'node:assert/strict'
import { SoukError, withUnknownCharge } from '../../../lib/base/errors.ts'
import type { Chain } from '../../../lib/interface/chain.ts'
import type { ChannelId } from '../../../lib/interface/channel.ts'
import { decodePayRequest, encodePayReply, encodePayRequest } from '../../../lib/pay/channel/pay-messages.ts'
import { verifyReceipt } from '../../../lib/pay/verify-receipt.ts'
import { storeFailed } from '../../../lib/store/commit-queue.ts'
import { createMemoryStore } from '../../../lib/store/memory/store.ts'
import { type ChannelBench, channelBench } from '../../helpers/channel-bench.ts'
import { type Life, lifeBench, type LifeBench } from '../../helpers/life-bench.ts'
import { type Mortal, mortal } from '../../helpers/mortal.ts'
import { outcome } from '../../helpers/scheme-bench.ts'

const USDC = 1_000_000n
const DEPOSIT = USDC / 2n
/** A threshold that makes a few calls worth the gas of a claim. */
const PRICE = 50_000n
const SPENT = 18n * PRICE
const GAS = { gas: false }

describe('the lifecycle of a channel', () => {
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

  const idOf = (life: Life): ChannelId => lives.channel(life).channelId
  const code = (expected: string) => (error: Error & { code?: string }) => {
    assert.equal(error.code, expected, error.message)
    return true
  }
  const wallet = () => bench.usdc(payer.signer.address)
  const spend = async (calls: number, price = 1_000n): Promise<void> => {
    for (let i = 0; i < calls; i++) await lives.call(payer, owner, price)
  }

  it('keeps an amount reserved while a failed commit may have charged it', async () => {
    const store = createMemoryStore()
    let fails = false
    const calls: typeof store.calls = {
      ...store.calls,
      append: (...args) => (fails ? Promise.reject(withUnknownCharge(storeFailed())) : store.calls.append(...args))
    }
    const other = await lives.start('E', { store: { ...store, calls } })
    await lives.call(payer, other)
    const { order, reservation } = await lives.begin(payer, other, 1_000n)
    fails = true
    await assert.rejects(reservation.capture({ ...outcome(order.api), rule: 'success' }), { isChargeUnknown: true })
    const { spent, reserved } = lives.channel(other)
    assert.deepEqual([spent, reserved], [1_000n, 1_000n])
  })

  describe('closed with its owner', () => {
    it('refunds the exact unspent amount, and pays 95% of the rest to the provider', async () => {
      await spend(7)
      const id = idOf(payer)
      const closed = await payer.paymentScheme.close(id)
      assert.equal(await wallet(), USDC - 7_000n)
      assert.deepEqual(
        { ...closed, ceiling: undefined },
        {
          role: 'payer',
          channelId: id,
          peer: owner.peer,
          receiver: closed.receiver,
          state: 'closed',
          isDisputed: false,
          deposit: DEPOSIT,
          ceiling: undefined,
          spent: 7_000n,
          reserved: 0n,
          returned: DEPOSIT - 7_000n
        }
      )
      assert.deepEqual(await lives.books(payer, id), { inside: 0n, spent: 7_000n, wallet: -7_000n, unclaimed: 0n })
      const { state, spent } = lives.channel(owner)
      assert.deepEqual({ state, spent }, { state: 'closed', spent: 7_000n })
      await owner.paymentScheme.settlement.redeemer.settleNow()
      assert.deepEqual(await lives.paid(), { provider: 6_650n, treasury: 350n })
    })

    it('is followed by another channel with a new counter', async () => {
      await spend(1)
      const id = idOf(payer)
      await payer.paymentScheme.close(id)
      await spend(2)
      const [first, second] = payer.paymentScheme.channels()
      assert.equal(first?.channelId, id)
      assert.equal(second?.state, 'open')
      assert.notEqual(second?.channelId, id)
      assert.equal(second?.spent, 2_000n)
      const kept = await payer.store.documents.list('payer-channels')
      assert.deepEqual(kept.map(({ value }) => (JSON.parse(value) as { counter: string }).counter).sort(), ['1', '2'])
    })

    it('waits for running calls, admits no others, and pays for the running ones', async () => {
      await spend(1)
      const id = idOf(payer)
      const slow = await lives.begin(payer, owner, 3_000n)
      const closing = payer.paymentScheme.close(id)
      await assert.rejects(lives.call(payer, owner), code('settlement_pending'))
      assert.equal(lives.channel(payer).state, 'closing')
      await lives.end(payer, slow)
      await closing
      assert.equal(await wallet(), USDC - 4_000n)
      assert.equal(lives.channel(owner).spent, 4_000n)
    })

    it('waits at the owner for calls that the payer has abandoned', async () => {
      await spend(1)
      const id = idOf(payer)
      const { order, reservation } = await lives.begin(payer, owner, 3_000n)
      payer.paymentScheme.fail(order, { fate: 'lost', error: new SoukError('owner_unreachable') })
      const closing = payer.paymentScheme.close(id)
      await lives.until('the owner closes it', () => lives.channel(owner).state === 'closing')
      await reservation.capture({ status: 200, requestHash: new Uint8Array(32), at: 1, ownerMs: 1, upstreamMs: 1 })
      await closing
      assert.equal(await wallet(), USDC - 4_000n)
      assert.deepEqual(await lives.books(payer, id), { inside: 0n, spent: 4_000n, wallet: -4_000n, unclaimed: 0n })
    })

    it('closes once, for any number of requests', async () => {
      await spend(1)
      const id = idOf(payer)
      const closed = await Promise.all([
        payer.paymentScheme.close(id),
        payer.paymentScheme.close(id),
        payer.paymentScheme.closeAll()
      ])
      assert.deepEqual(
        closed[2].map(({ channel, error }) => [channel.state, error]),
        [['closed', undefined]]
      )
      assert.equal((await payer.paymentScheme.close(id)).state, 'closed')
      assert.equal(await wallet(), USDC - 1_000n)
      await assert.rejects(payer.paymentScheme.close(`0x${'00'.repeat(32)}`), code('invalid_request'))
      await assert.rejects(owner.paymentScheme.close(id), code('invalid_request'))
    })

    it('refunds a deposit that the endpoint did not show at first', async () => {
      const process = mortal()
      /** The endpoint shows this balance until the first refund. */
      const shown: { balance?: bigint } = {}
      const behind: Mortal = {
        ...process,
        chain: (chain: Chain): Chain => ({
          ...process.chain(chain),
          channels: async (ids, at) => {
            const view = await chain.channels(ids, at)
            const { balance } = shown
            if (balance === undefined || view.channels.some((state) => state?.refundNonce !== 0n)) return view
            return { ...view, channels: view.channels.map((state) => state && { ...state, balance }) }
          }
        })
      }
      const other = await lives.start('E', { process: behind })
      await lives.call(payer, other)
      const { channelId } = lives.channel(payer)
      await lives.until('the deposit', async () => (await lives.onChain(channelId)).balance > 0n)
      const first = (await lives.onChain(channelId)).balance
      while ((await lives.onChain(channelId)).balance === first) await lives.call(payer, other, PRICE)
      const { spent } = lives.channel(payer)
      shown.balance = spent + 1n
      await payer.paymentScheme.close(channelId)
      assert.equal(await wallet(), USDC - spent)
    })

    it('closes only for its payer', async () => {
      await spend(1)
      const receiptSigner = lives.services.get(owner.peer)!
      const stranger = await lives.start('X', GAS)
      const reply = await receiptSigner(encodePayRequest({ kind: 'close', channelId: idOf(payer) }), stranger.peer)
      assert.match(Buffer.from(reply).toString(), /payment_required.*does not know/)
      assert.equal(lives.channel(owner).state, 'open')
      await spend(1)
    })

    it('admits no call and no deposit any more, even after a restart of its owner', async () => {
      await spend(1)
      const id = idOf(payer)
      const { order } = await lives.begin(payer, owner, 1_000n)
      const authorization = await payer.paymentScheme.authorise({ ...order, requestId: new Uint8Array(16).fill(3) })
      await owner.paymentScheme.stop()
      owner = await lives.start('D', { of: owner })
      const receiptSigner = lives.services.get(owner.peer)!
      await receiptSigner(encodePayRequest({ kind: 'close', channelId: id }), payer.peer)
      const admission = { ...order, peer: payer.peer, authorization: authorization! }
      await assert.rejects(async () => owner.paymentScheme.admit(admission), code('payment_rejected'))
      await owner.paymentScheme.stop()
      owner = await lives.start('D', { of: owner })
      assert.equal(lives.channel(owner).state, 'closed')
      await assert.rejects(async () => owner.paymentScheme.admit(admission), code('payment_rejected'))
    })

    it('closes with an owner that lost its books', async () => {
      await spend(1)
      await lives.stop(owner)
      const { signer } = owner
      const { createMemoryStore } = await import('../../../lib/store/memory/store.ts')
      owner = await lives.start('D', { of: { ...owner, signer, store: createMemoryStore() } })
      const { returned } = await payer.paymentScheme.close(idOf(payer))
      assert.equal(returned, DEPOSIT)
      assert.deepEqual(await lives.books(payer, idOf(payer)), {
        inside: 0n,
        spent: 1_000n,
        wallet: 0n,
        unclaimed: -1_000n
      })
    })

    it('stays closing if the owner only promises it, and can then be withdrawn', async () => {
      await spend(2)
      const id = idOf(payer)
      await bench.fundGas(payer.signer.address)
      const receiptSigner = lives.services.get(owner.peer)!
      let isPromised = false
      lives.services.set(owner.peer, async (request, peer) => {
        const promise = await receiptSigner(lives.asState(request), peer)
        isPromised = true
        return promise
      })
      const giveUp = new AbortController()
      const closing = assert.rejects(payer.paymentScheme.close(id, giveUp.signal))
      await lives.until('it is promised', () => isPromised)
      giveUp.abort()
      await closing
      assert.equal(lives.channel(payer).state, 'closing')
      assert.ok((await payer.paymentScheme.withdraw(id)).withdrawableAt)
      assert.equal(lives.channel(payer).state, 'withdrawing')
    })
  })

  describe('left without its owner', () => {
    const ripen = async (id: ChannelId): Promise<void> => {
      await lives.wait(901)
      await lives.until('it is out', () => lives.channel(payer, id).state === 'closed')
    }

    it('returns everything that the owner does not claim within the delay', async () => {
      await spend(5)
      const id = idOf(payer)
      await bench.fundGas(payer.signer.address)
      await lives.stop(owner)
      const begun = await payer.paymentScheme.withdraw(id)
      assert.equal(begun.state, 'withdrawing')
      const head = await bench.chain.block('latest')
      assert.equal(begun.withdrawableAt, head!.at + 900_000)
      assert.equal((await payer.paymentScheme.withdraw(id)).withdrawableAt, begun.withdrawableAt)
      await ripen(id)
      assert.equal(await wallet(), USDC)
      assert.equal(lives.channel(payer).returned, DEPOSIT)
      // Five calls with unclaimed earnings.
      assert.deepEqual(await lives.books(payer, id), { inside: 0n, spent: 5_000n, wallet: 0n, unclaimed: -5_000n })
    })

    it('pays a watching owner its earnings, and admits no calls any more', async () => {
      await spend(18, PRICE)
      const id = idOf(payer)
      await bench.fundGas(payer.signer.address)
      await payer.paymentScheme.withdraw(id)
      await assert.rejects(lives.call(payer, owner), code('settlement_unavailable'))
      await lives.until('the owner claims', async () => (await lives.onChain(id)).claimed === SPENT)
      assert.equal(lives.channel(owner).state, 'withdrawing')
      await ripen(id)
      assert.equal(await wallet(), USDC - SPENT)
      await lives.until('the owner knows', async () => {
        await bench.client.mine({ blocks: 1 })
        return lives.channel(owner).state === 'closed'
      })
      const { claimed, spent } = lives.channel(owner)
      assert.deepEqual({ claimed, spent }, { claimed: SPENT, spent: SPENT })
      await owner.paymentScheme.settlement.redeemer.settleNow()
      assert.deepEqual(await lives.paid(), { provider: 17n * PRICE + PRICE / 10n, treasury: PRICE - PRICE / 10n })
      await lives.stop(owner)
      owner = await lives.start('D', { of: owner })
      assert.equal(lives.channel(owner).state, 'closed')
      await bench.mint(payer.signer.address, USDC)
      await spend(1)
      assert.equal(payer.paymentScheme.channels().length, 2)
    })

    it("proves an owner's claim up to the signed ceiling by its own receipt, and books it as spent", async () => {
      const { receipt } = await lives.call(payer, owner)
      const { channelId: id, ceiling } = lives.channel(payer)
      await bench.fundGas(payer.signer.address)
      await lives.stop(owner)
      const { documents } = owner.store
      const [channel] = await documents.list('payee-channels')
      const { config } = JSON.parse(channel!.value) as { config: Parameters<typeof bench.row>[0] }
      const row = await bench.row(config, ceiling, { by: payer.signer })
      await bench.act(owner.signer, bench.calls.claim([row]))
      // The receipt is signed by the owner, and the contract shows what it claimed.
      const { captured } = verifyReceipt(receipt, config, bench.parameters)
      const { claimed } = await lives.onChain(id)
      assert.deepEqual([captured, claimed], [1_000n, ceiling])
      assert.ok(claimed - captured <= EXPOSURE_ATOMS_MAX)
      await payer.paymentScheme.withdraw(id)
      await ripen(id)
      // On credit, vouchers are signed ahead up to the credit.
      assert.equal(ceiling, CREDIT_ADDRESS_ATOMS_MAX)
      assert.equal(await wallet(), USDC - ceiling)
      assert.deepEqual(await lives.books(payer, id), { inside: 0n, spent: ceiling, wallet: -ceiling, unclaimed: 0n })
    })

    it('reports a wallet without gas, and stays unchanged', async () => {
      await spend(1)
      await assert.rejects(payer.paymentScheme.withdraw(idOf(payer)), (error: Error) => {
        assert.match(error.message, new RegExp(`${payer.signer.address} has too little ETH`))
        return code('settlement_unavailable')(error)
      })
      assert.equal(lives.channel(payer).state, 'open')
      await spend(1)
    })

    it('counts calls without an outcome until it is closed', async () => {
      await spend(1)
      const id = idOf(payer)
      const { order } = await lives.begin(payer, owner, 2_000n)
      payer.paymentScheme.fail(order, { fate: 'lost', error: new SoukError('owner_unreachable') })
      await bench.fundGas(payer.signer.address)
      await lives.stop(owner)
      await payer.paymentScheme.withdraw(id)
      assert.equal(lives.channel(payer).reserved, 2_000n)
      await ripen(id)
      assert.equal(lives.channel(payer).reserved, 0n)
    })

    it('ends when the owner refunds everything in the meantime', async () => {
      await spend(2)
      const id = idOf(payer)
      await bench.fundGas(payer.signer.address)
      await payer.paymentScheme.withdraw(id)
      await lives.services.get(owner.peer)!(encodePayRequest({ kind: 'close', channelId: id }), payer.peer)
      await lives.until('it is back', () => lives.channel(payer).state === 'closed')
      assert.equal(await wallet(), USDC - 2_000n)
      assert.equal(lives.channel(owner).state, 'closed')
    })
  })

  describe('in dispute', () => {
    const lie = async () => {
      const { order, reservation } = await lives.begin(payer, owner, 1_000n)
      const books = { ceiling: '1900000', captured: '1890000', reserved: '0', signature: '0x' }
      const error = new SoukError('payment_required', undefined, { notAccepted: true, members: { channel: books } })
      assert.equal(payer.paymentScheme.fail(order, { fate: 'not_accepted', error }), false)
      return reservation
    }
    const refused = () =>
      assert.rejects(lives.call(payer, owner), (error: SoukError) => {
        assert.equal(error.source, 'owner')
        return code('settlement_unavailable')(error)
      })
    /** The owner may claim its earnings within the withdrawal delay; the chain's clock is advanced after that. */
    const leave = async (earned: bigint) => {
      await lives.until('it is withdrawn', () => lives.channel(payer).withdrawableAt !== undefined)
      const id = idOf(payer)
      await lives.until('it is claimed', async () => (await lives.onChain(id)).claimed === earned)
      await refused()
      await lives.wait(901)
      await lives.until('it is out', () => lives.channel(payer, id).state === 'closed')
      return id
    }
    const restart = async () => {
      await lives.stop(payer)
      payer = await lives.start('C', { of: payer })
    }

    it('is withdrawn from automatically, and ends when the chain shows that its owner got no more than was agreed to', async () => {
      await spend(18, PRICE)
      await bench.fundGas(payer.signer.address)
      await lie()
      const id = await leave(SPENT)
      assert.equal(await wallet(), USDC - SPENT)
      assert.equal(lives.channel(payer, id).isDisputed, false)
      await restart()
      assert.equal(lives.channel(payer, id).isDisputed, false)
      await bench.mint(payer.signer.address, USDC)
      await lives.call(payer, owner)
    })

    it('is permanent for an owner that took more, even after a restart; others are paid', async () => {
      await spend(18, PRICE)
      await bench.fundGas(payer.signer.address)
      const reservation = await lie()
      await reservation.capture({ status: 200, requestHash: new Uint8Array(32), at: 0, ownerMs: 0, upstreamMs: 0 })
      const id = await leave(SPENT + 1_000n)
      assert.equal(await wallet(), USDC - SPENT - 1_000n)
      await bench.mint(payer.signer.address, USDC)
      for (let times = 0; times < 2; times++) {
        await refused()
        await restart()
      }
      assert.equal(lives.channel(payer, id).isDisputed, true)
      await lives.call(payer, await lives.start('E'))
    })

    it('is reported once without gas, and withdrawn from when there is gas', async () => {
      await spend(3)
      await lie()
      await lives.until('it is told', () => payer.errors.length > 0)
      assert.equal(lives.channel(payer).state, 'disputed')
      assert.match(payer.errors[0]!.message, /too little ETH/)
      await assert.rejects(payer.paymentScheme.close(idOf(payer)), code('invalid_request'))
      await lives.stop(payer)
      payer = await lives.start('C', { of: payer })
      await lives.until('it is told', () => payer.errors.length > 0)
      assert.equal(lives.channel(payer).state, 'disputed')
      await bench.fundGas(payer.signer.address)
      await lives.until('it is withdrawn', () => lives.channel(payer).state === 'withdrawing')
      assert.equal(payer.errors.length, 1)
    })

    it('begins if an owner keeps more than was spent when it closes', async () => {
      await spend(2)
      await bench.fundGas(payer.signer.address)
      const receiptSigner = lives.services.get(owner.peer)!
      const books = { ceiling: 30_000n, captured: 30_000n, reserved: 0n, signature: new Uint8Array(65) }
      lives.services.set(owner.peer, async (request, peer) =>
        decodePayRequest(request).kind === 'close'
          ? encodePayReply({ kind: 'state', state: books })
          : receiptSigner(request, peer)
      )
      void payer.paymentScheme.close(idOf(payer)).catch(() => undefined)
      await lives.until('it is withdrawn', () => lives.channel(payer).withdrawableAt !== undefined)
      assert.equal(lives.channel(payer).isDisputed, true)
    })
  })
})
