import assert from 'node:assert/strict'
import { encodeFunctionData, parseAbi } from 'viem'
import { asSoukError } from '../../../lib/base/errors.ts'
import { DEPOSIT_GAS } from '../../../lib/base/limits/chain.ts'
import { DEPOSIT_VALID_MS } from '../../../lib/base/limits/pay.ts'
import type { ChannelId } from '../../../lib/interface/channel.ts'
import { decodePayRequest, encodePayRequest } from '../../../lib/pay/channel/pay-messages.ts'
import { signTransaction } from '../../../lib/pay/chain/transaction.ts'
import { type ChannelBench, channelBench } from '../../helpers/channel-bench.ts'
import { type Life, lifeBench, type LifeBench } from '../../helpers/life-bench.ts'
import { mortal } from '../../helpers/mortal.ts'

const USDC = 1_000_000n
const CENT = 10_000n
const PRICE = 1_000n
const TRANSFER = parseAbi(['function transfer(address to, uint256 amount)'])

describe('the first paid call', () => {
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
    await bench.client.setAutomine(false)
  })
  afterEach(async () => {
    await bench.client.setAutomine(true)
    await lives.close()
  })

  const mine = (blocks = 1) => bench.client.mine({ blocks })
  const idOf = ({ paymentScheme }: Life): ChannelId =>
    paymentScheme.channels()[0]?.channelId ?? assert.fail('no channel')
  const balance = (life: Life, account: string) => life.store.ledger.balance(account)
  const code = (expected: string) => (error: Error & { code?: string }) => {
    assert.equal(error.code, expected, error.message)
    return true
  }
  const isSent = () => lives.until('the deposit is sent', async () => (await pending()) > 0)
  const pending = async () => (await bench.client.getTxpoolStatus()).pending

  /** The payer's transfer of all its money comes into the block before the owner's deposit. */
  const frontRun = async ({ signer }: Life): Promise<void> => {
    await isSent()
    const amount = await bench.usdc(signer.address)
    const { chainId } = bench.parameters
    const data = encodeFunctionData({ abi: TRANSFER, args: [bench.stranger.address, amount] })
    const [nonce, { maxFee }] = await Promise.all([bench.chain.nonce(signer.address, 'latest'), bench.chain.fees()])
    const fees = { maxFee: maxFee * 100n, tip: maxFee * 50n }
    const call = { to: bench.parameters.usdc.address, data, chainId, nonce, gas: 100_000n, fees }
    await bench.chain.broadcast((await signTransaction(call, signer)).raw)
    await mine()
    assert.equal(await bench.usdc(signer.address), 0n)
  }
  const bringBack = async ({ signer }: Life): Promise<void> => {
    await bench.client.setAutomine(true)
    await bench.mint(signer.address, USDC)
  }
  const isWrittenOff = async (id: ChannelId, amount: bigint) => {
    await mine(4)
    await owner.paymentScheme.settlement.bookkeeper.look()
    return (await balance(owner, `uncollected/${id}`)) === amount
  }
  const sumsToZero = async (life: Life) => {
    const balances = await life.store.ledger.balances('')
    assert.equal(
      balances.reduce((sum, { amount }) => sum + amount, 0n),
      0n
    )
  }

  it('is served before its deposit is in a block, and the deposit pays for it', async () => {
    for (let calls = 0; calls < 3; calls++) assert.equal((await lives.call(payer, owner)).charged, PRICE)
    const id = idOf(payer)
    assert.equal((await lives.onChain(id)).balance, 0n)
    assert.equal(owner.paymentScheme.credit().used > CENT, true)
    await isSent()
    await mine()
    await lives.until('the deposit counts', () => lives.channel(payer).deposit === USDC / 2n)
    assert.equal(owner.paymentScheme.credit().used, 0n)
    await bench.client.setAutomine(true)
    await owner.paymentScheme.settlement.redeemer.settleNow()
    assert.equal((await lives.onChain(id)).claimed, 3n * PRICE)
  })

  it('is served before any deposit is in a block for five newcomers at once, with the gas of a play chain', async () => {
    await bench.client.setAutomine(true)
    const newcomers = await Promise.all([1, 2, 3, 4, 5].map((n) => lives.start(`N${n}`, { usdc: USDC })))
    await bench.client.setAutomine(false)
    const calls = await Promise.all(newcomers.map((newcomer) => lives.call(newcomer, owner)))
    assert.deepEqual(
      calls.map(({ charged }) => charged),
      newcomers.map(() => PRICE)
    )
    for (const newcomer of newcomers) assert.equal((await lives.onChain(idOf(newcomer))).balance, 0n)
  })

  it('beyond the credit waits for the deposit', async () => {
    await lives.call(payer, owner)
    const dear = lives.call(payer, owner, CENT)
    await isSent()
    assert.equal(lives.channel(owner).reserved, 0n)
    await mine()
    assert.equal((await dear).charged, CENT)
  })

  it('makes one deposit that covers it and the next calls, as far as the wallet allows', async () => {
    await bench.client.setAutomine(true)
    const price = (USDC * 6n) / 10n
    const usual = USDC / 2n
    for (const [usdc, deposited] of [
      [price + usual, price + usual],
      [price + usual - 1n, price]
    ] as const) {
      const dear = await lives.start(`R${usdc}`, { usdc, rules: { priceMax: USDC } })
      const deposits = new Set<bigint>()
      lives.line.before = (_to, request) => {
        if (request.kind === 'deposit') deposits.add(request.deposit.amount)
      }
      assert.equal((await lives.call(dear, owner, price)).charged, price)
      assert.deepEqual([...deposits], [deposited])
    }
  })

  it('waits if the owner gives no credit, or does not know what it is', async () => {
    const prudent = await lives.start('N', { rules: { creditHourMax: 0n } })
    const call = lives.call(payer, prudent)
    await isSent()
    await mine()
    assert.equal((await call).charged, PRICE)
    // An older owner ignores the field.
    const other = await lives.start('O', { usdc: USDC })
    const service = lives.services.get(owner.peer)!
    lives.services.set(owner.peer, (bytes, peer) => {
      const read = decodePayRequest(bytes)
      if (read.kind !== 'deposit') return service(bytes, peer)
      const { isEarly: _, ...deposit } = read.deposit
      return service(encodePayRequest({ kind: 'deposit', deposit }), peer)
    })
    const second = lives.call(other, owner)
    await isSent()
    await mine()
    assert.equal((await second).charged, PRICE)
  })

  it('costs the owner at most the credit if the payer moves its money first, and both books balance', async () => {
    await lives.call(payer, owner, 3_000n)
    const id = idOf(payer)
    await frontRun(payer)
    await lives.until('the credit is over', async () => {
      const refused = await lives.call(payer, owner).then(() => undefined, asSoukError)
      return refused !== undefined && ['insufficient_funds', 'payment_rejected'].includes(refused.code)
    })
    const lost = lives.channel(owner, id).spent
    assert.ok(lost >= 3_000n && lost <= CENT, `${lost} lost`)
    await lives.until('the owner writes it off', () => isWrittenOff(id, lost))
    assert.equal(await balance(owner, `receivable/${id}`), 0n)
    assert.ok(owner.paymentScheme.credit().used > CENT, 'the credit counts for an hour')
    await sumsToZero(owner)
    await lives.wait(DEPOSIT_VALID_MS / 1_000)
    await lives.until('the payer writes it off', async () => {
      await mine()
      return (await balance(payer, `uncollected/${id}`)) === -lost
    })
    assert.deepEqual(await lives.books(payer, id), { inside: 0n, spent: lost, wallet: 0n, unclaimed: 0n })
    // The next deposit pays for it, and no call is served before it counts.
    await bringBack(payer)
    await bench.client.setAutomine(false)
    const next = lives.call(payer, owner)
    await isSent()
    assert.equal(lives.channel(owner, id).spent, lost)
    await mine()
    assert.equal((await next).charged, PRICE)
    await bench.client.setAutomine(true)
    await owner.paymentScheme.settlement.redeemer.settleNow()
    await lives.until('nothing is written off any more', () => isWrittenOff(id, 0n))
    assert.equal((await lives.onChain(id)).claimed, lost + PRICE)
    assert.equal(await balance(payer, `uncollected/${id}`), 0n)
    assert.equal(await balance(payer, `channel/${id}`), USDC / 2n - lost - PRICE)
    for (const life of [owner, payer]) await sumsToZero(life)
  })

  it('closes without a deposit that was never mined, for nothing', async () => {
    await lives.call(payer, owner)
    const id = idOf(payer)
    await frontRun(payer)
    const closing = payer.paymentScheme.close(id).catch(code('payment_rejected'))
    await closing
    await lives.wait(DEPOSIT_VALID_MS / 1_000)
    await lives.until('it is closed', async () => {
      await mine()
      return lives.channel(payer, id).state === 'closed'
    })
    assert.equal(await balance(payer, `channel/${id}`), 0n)
    assert.equal(await balance(payer, 'wallet'), 0n)
    await sumsToZero(payer)
  })

  it('never costs an owner more than the hourly total, for any number of fresh addresses', async () => {
    const TRIES = 6n
    const gas = owner.paymentScheme.settlement.redeemer.costOf(DEPOSIT_GAS)
    const small = await lives.start('S', { rules: { creditHourMax: 3n * (CENT + gas) } })
    let served = 0n
    for (let i = 0n; i < TRIES; i++) {
      await bench.client.setAutomine(true)
      const attacker = await lives.start(`X${i}`, { usdc: USDC / 2n })
      await bench.client.setAutomine(false)
      const called = lives.call(attacker, small, CENT).then(
        ({ charged }) => charged,
        () => 0n
      )
      await frontRun(attacker)
      served += await called
    }
    const failed = served / CENT
    assert.ok(failed > 0n && failed < TRIES, `${failed} were served`)
    const { used, max } = small.paymentScheme.credit()
    assert.ok(served + (failed * gas) / 2n <= used && used <= max, `${served} served, ${used} used of ${max}`)
  })

  it('is paid if the owner is killed at any instant of it', async function () {
    this.slow(30_000)
    await bench.client.setAutomine(true)
    let instants = 0
    for (let hasLived = false; !hasLived; instants++) {
      const [consumer, started] = [await lives.start(`C${instants}`, { usdc: USDC }), mortal()]
      await lives.stop(await lives.start('B', { process: started }))
      const process = mortal(started.lived.length + instants)
      const killed = await lives.start(`K${instants}`, { process })
      await Promise.race([lives.call(consumer, killed).catch(() => undefined), death(process)])
      hasLived = !process.isDead
      lives.kill(killed)
      const again = await lives.start(`K${instants}`, { of: killed })
      const isPaid = () =>
        lives.call(consumer, again).then(
          () => true,
          () => false
        )
      await lives.until('a call is paid', isPaid)
      // The call may be served on credit, before its deposit is in a block.
      await lives.until('its deposit is known', () => isDeposited(again))
      const id = idOf(consumer)
      await again.paymentScheme.settlement.redeemer.settleNow()
      assert.equal((await lives.onChain(id)).claimed, lives.channel(again, id).spent)
      assert.equal(lives.channel(again, id).spent, lives.channel(consumer, id).spent)
      await lives.stop(again)
    }
    assert.ok(instants > 8, `${instants} instants`)
  })

  const isDeposited = ({ paymentScheme }: Life): boolean => {
    const { planned, unmined } = paymentScheme.settlement.submitter.status()
    return planned + unmined === 0
  }
  const death = (process: { readonly isDead: boolean }) =>
    lives.until('its death', () => process.isDead).catch(() => undefined)
})
