import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { createChain } from '../../../lib/pay/index.ts'
import { toHex } from '../../../lib/base/hex.ts'
import type { Store } from '../../../lib/interface/store.ts'
import { readChannel, readVoucher } from '../../../lib/pay/payee/payee-channel.ts'
import { readPayerChannel, type ReadPayerChannel } from '../../../lib/pay/payer/payer-channel.ts'
import { depositNonce } from '../../../lib/pay/chain/settlement-calls.ts'
import { ReceiptCheck, readReceipt, receiptDigests } from '../../../lib/pay/signing/receipt.ts'
import { storeAt } from './roles/store.ts'
import { checkStreams } from './stream-books.ts'
import { PRICE_ATOMS, WALLET_ATOMS, type World } from './world.ts'

const EVERYTHING = Number.MAX_SAFE_INTEGER

const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')

/** Checks all invariants after both processes have stopped. Returns a summary line. */
export async function checkBooks(world: World, refused: readonly string[]): Promise<string> {
  const places = (['owner', 'consumer'] as const).map((name) => world.placeOf(name))
  for (const place of places) if (existsSync(place)) checkIntegrity(place)
  const [owner, payer] = places.map((place) => storeAt(place))
  assert.ok(owner !== undefined && payer !== undefined)
  await Promise.all([owner.open(), payer.open()])
  try {
    const charged = await checkCalls(world, owner)
    const cut = checkStreams(world, await owner.calls.recent({ limit: EVERYTHING }))
    await checkSums(owner)
    await checkSums(payer)
    await checkReceipts(world, payer, charged)
    const channel = await checkChannels(owner, payer)
    assert.deepEqual(refused, [])
    await checkChain(world, channel, owner, payer)
    const { kills } = world.owner
    const answered = [...world.told.values()].filter(({ kind }) => kind === 'answered').length
    return `${world.told.size} calls, ${answered} answered, ${charged.size} charged, ${cut} streams cut off; ${kills} + ${world.consumer.kills} kills`
  } finally {
    await Promise.all([owner.close(), payer.close()])
  }
}

function checkIntegrity(path: string): void {
  const db = new DatabaseSync(path)
  try {
    assert.deepEqual({ ...db.prepare('PRAGMA integrity_check').get() }, { integrity_check: 'ok' })
    assert.deepEqual(db.prepare('PRAGMA foreign_key_check').all(), [])
  } finally {
    db.close()
  }
}

/**
 * Each call reached the upstream at most once, was captured at most once, and was charged as its response says. Returns the charges
 * by request id, including payments for events.
 */
async function checkCalls(world: World, owner: Store): Promise<ReadonlyMap<string, bigint>> {
  const { told, upstream, streams } = world
  for (const [id, times] of upstream.reached) assert.equal(times, 1, `${id} reached the API ${times} times`)
  const records = await owner.calls.recent({ limit: EVERYTHING })
  const byId = new Map(records.map((record) => [hexOf(record.requestId), record]))
  assert.equal(byId.size, records.length)
  const charged = new Map<string, bigint>()
  for (const [id, { outcome, charged: atoms, api }] of byId) {
    if (outcome === 'captured') charged.set(id, atoms)
    else assert.equal(atoms, 0n)
    if (outcome === 'captured' && api !== streams.api) {
      assert.equal(atoms, PRICE_ATOMS)
      assert.ok(told.has(id), `${id} was charged, and nobody asked for it`)
    }
  }
  for (const [id, what] of told) {
    if (what.kind === 'interrupted') {
      assert.ok(!charged.has(id), `${id} was charged, but its response is lost: ${what.why}`)
    } else {
      assert.ok(upstream.reached.has(id), `${id} got a response, but never reached the API`)
      assert.deepEqual(what.echoed, { id })
      assert.equal(what.charged, charged.get(id) ?? 0n, `the response of ${id} said charged ${what.charged}`)
      assert.equal(what.status === 200, charged.has(id), `the response of ${id} had status ${what.status}`)
    }
  }
  const entries = (await owner.ledger.entries({ limit: EVERYTHING })).filter(({ kind }) => kind === 'call')
  assert.deepEqual(
    entries.map(({ reference }) => reference.replaceAll('-', '')).sort(),
    [...charged.keys()].sort(),
    'one entry for each captured call'
  )
  return charged
}

async function checkSums({ ledger }: Store): Promise<void> {
  const sums = new Map<string, bigint>()
  for (const { postings, kind, reference } of await ledger.entries({ limit: EVERYTHING })) {
    const sum = postings.reduce((sum, { amount }) => sum + amount, 0n)
    assert.equal(sum, 0n, `${kind} ${reference} does not sum to zero`)
    for (const { account, amount } of postings) sums.set(account, (sums.get(account) ?? 0n) + amount)
  }
  for (const { account, amount } of await ledger.balances('')) assert.equal(amount, sums.get(account), account)
}

async function checkReceipts(world: World, payer: Store, charged: ReadonlyMap<string, bigint>): Promise<void> {
  const check = new ReceiptCheck(receiptDigests(world.chain.parameters))
  for (const { key, value } of await payer.documents.list('receipts')) {
    const receipt = readReceipt(Buffer.from(value, 'base64'))
    assert.ok(receipt !== undefined && check.isSigned(receipt, world.signers.owner.address), `the receipt of ${key}`)
    const id = toHex(receipt.body.requestId).slice(2)
    assert.equal(id, key.replaceAll('-', ''))
    assert.equal(receipt.body.charged, charged.get(id), `the receipt of ${id}`)
  }
}

/** There is one channel, and the books of payer and owner agree about it. */
async function checkChannels(owner: Store, payer: Store) {
  const [owned, ...more] = await owner.documents.list('payee-channels')
  assert.ok(owned !== undefined && more.length === 0)
  const channelId = readChannel(owned.key as `0x${string}`, owned.value).info.channelId
  const [paid, ...others] = await payer.documents.list('payer-channels')
  assert.ok(paid !== undefined && others.length === 0)
  const state = readPayerChannel(paid.key as `0x${string}`, paid.value)
  assert.equal(state.info.channelId, channelId)
  const earned = -(await owner.ledger.balance(`earned/${channelId}`))
  assert.equal(state.channelState.isDisputed, false, 'the channel with an honest owner is disputed')
  assert.equal(await payer.ledger.balance(`spent/${channelId}`), earned, 'the books of payer and owner differ')
  assert.equal(state.spent, earned)
  const voucher = await owner.documents.get('payee-vouchers', channelId)
  assert.ok(voucher !== undefined)
  const { ceiling } = readVoucher(channelId, voucher)
  assert.ok(earned <= ceiling, 'more was captured than was signed')
  assert.ok(state.ceiling >= ceiling, 'the payer does not know what it signed')
  return state
}

/** On the chain, provider, treasury and payer have exactly the amounts that the books say. */
async function checkChain(
  world: World,
  { info, pending }: ReadPayerChannel,
  owner: Store,
  payer: Store
): Promise<void> {
  const { channelId } = info
  const chain = createChain(world.chain.parameters)
  const earned = -(await owner.ledger.balance(`earned/${channelId}`))
  const [state] = (await chain.channels([channelId], 'latest')).channels
  assert.ok(state !== undefined)
  assert.equal(state.claimed, earned, 'the claimed amount differs from the earned amount')
  const receivable = await owner.ledger.balance(`receivable/${channelId}`)
  assert.ok(receivable >= 0n && receivable <= earned, 'the amount booked as claimed exceeds the claimed amount')
  const { treasury } = world.chain.parameters
  assert.ok(treasury !== undefined)
  assert.equal(await world.usdc(treasury), earned / 20n)
  assert.equal(await world.usdc(world.payout), earned - earned / 20n)
  const wallet = await world.usdc(world.signers.consumer.address)
  assert.equal(wallet + state.balance, WALLET_ATOMS)
  // A payer killed before it sees its deposit on the chain checks again only when it next needs a deposit.
  const { address } = world.signers.consumer
  const isMined =
    pending !== undefined && (await chain.authorizationUsed(address, depositNonce(channelId, pending.salt)))
  const booked = state.balance - (isMined ? pending.amount : 0n)
  assert.equal(-(await payer.ledger.balance('wallet')), booked, 'each deposit is booked once')
  assert.equal(await payer.ledger.balance(`channel/${channelId}`), booked - earned)
}
