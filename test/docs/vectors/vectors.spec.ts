import assert from 'node:assert/strict'
import { createSecretKey } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import { resolve } from 'node:path'
import { generateKeyPairFromSeed } from '@libp2p/crypto/keys'
import { peerIdFromPrivateKey } from '@libp2p/peer-id'
import protobuf from 'protobufjs'
import { hashTypedData } from 'viem'
import { type Hex, toHex } from '../../../lib/base/hex.ts'
import type { ChannelConfig } from '../../../lib/interface/channel.ts'
import type { TokenParameters } from '../../../lib/interface/network.ts'
import { decodeFrame } from '../../../lib/call/frame.ts'
import { ChunkReader } from '../../../lib/link/chunk-reader.ts'
import { splitterFactory } from '../../../lib/pay/chain/splitter.ts'
import { decodePayReply, decodePayRequest } from '../../../lib/pay/channel/pay-messages.ts'
import { decodeAuthorization } from '../../../lib/pay/signing/authorization.ts'
import { channelSalt } from '../../../lib/pay/signing/channel-salt.ts'
import { ReceiptCheck, readReceipt, receiptDigests } from '../../../lib/pay/signing/receipt.ts'
import { signerOf } from '../../../lib/pay/signing/signature.ts'
import { verifyDelegation } from '../../../lib/resolve/directory/delegation.ts'
import { verifyRecord } from '../../../lib/resolve/directory/record.ts'
import { verifyManifest } from '../../../lib/resolve/manifest/verify-manifest.ts'
import { keyDigest } from '../../../node/keys/key-digest.ts'
import { createPseudonyms } from '../../../node/keys/pseudonyms.ts'
import { read, ROOT } from '../markdown.ts'
import { exchanges } from './exchange-vectors.ts'
import { messageTypes, vectorFiles } from './files.ts'
import { frames } from './frames.ts'
import { bytesOf, CHAIN, hex, NOW } from './keys.ts'
import { manifestOfVectors } from './directory-vectors.ts'
import { configOfVectors, DOMAIN, payMessages, receiptBodies } from './payment-vectors.ts'

type Vector = Readonly<Record<string, string>>

describe('the test vectors', () => {
  const vectorsOf = async (name: string): Promise<Vector[]> => {
    const { vectors } = JSON.parse(await read(`docs/reference/vectors/${name}.json`)) as { vectors: Vector[] }
    assert.ok(vectors.length > 0, name)
    return vectors
  }
  const only = <T>(value: T | undefined): T => value ?? assert.fail('there is no such vector')

  it('are what the code writes', async () => {
    const files = await vectorFiles()
    for (const [path, expected] of files) assert.equal(await read(path), expected, `run: npm run docs (${path})`)
    const names = await readdir(resolve(ROOT, 'docs/reference/vectors'))
    assert.deepEqual(
      names.filter((name) => name.endsWith('.json')).toSorted(),
      [...files.keys()].map((path) => path.slice('docs/reference/vectors/'.length)).toSorted()
    )
  })

  it('of messages are what another protobuf implementation writes from their values', async () => {
    const types = await messageTypes()
    for (const file of ['frames', 'exchanges', 'envelopes', 'pay', 'receipts']) {
      for (const { name, message = '', bytes, value } of await vectorsOf(file)) {
        const type = types.lookupType(message)
        const written = type.encode(type.fromObject(value as unknown as object)).finish()
        assert.equal(hex(written), bytes, `${file}: ${name}`)
      }
    }
  })

  it('of frames are read as their values', async () => {
    const expected = await frames()
    for (const { name = '', bytes = '' } of await vectorsOf('frames')) {
      const frame = only(decodeFrame(bytesOf(bytes)))
      assert.deepEqual(plain(frame), plain(only(expected[name])), name)
    }
  })

  it('of exchanges are read as their values', async () => {
    const expected = await exchanges()
    for (const [i, { name = '', bytes = '' }] of (await vectorsOf('exchanges')).entries()) {
      const { read: readMessage, value } = only(expected[i])
      assert.deepEqual(plain(readMessage(bytesOf(bytes))), plain(value), name)
    }
  })

  it('has each message of the .proto files', async () => {
    const types = await messageTypes()
    const named = new Set<string>()
    const walk = (type: protobuf.Type, value: unknown): void => {
      named.add(type.name)
      for (const [name, member] of Object.entries(value as object)) {
        const inner = type.fields[name]?.resolve().resolvedType
        if (inner instanceof protobuf.Type) for (const each of [member].flat()) walk(inner, each)
      }
    }
    for (const file of ['frames', 'exchanges', 'envelopes', 'pay', 'receipts']) {
      for (const { message = '', value, content } of await vectorsOf(file)) {
        walk(types.lookupType(message), value)
        if (content !== undefined) walk(types.lookupType('souk.ReceiptBody'), content)
      }
    }
    const all: string[] = []
    const list = (namespace: protobuf.NamespaceBase): void => {
      for (const nested of namespace.nestedArray) {
        if (nested instanceof protobuf.Type) all.push(nested.name)
        if (nested instanceof protobuf.Namespace) list(nested)
      }
    }
    list(types)
    assert.ok(all.length > 30, `saw ${all.length}`)
    assert.deepEqual(
      all.filter((name) => !named.has(name)),
      []
    )
  })

  it('of bulk streams are read as their chunks', async () => {
    for (const { name, request_id: id = '', direction, chunks, stream = '' } of await vectorsOf('bulk')) {
      const reader = new ChunkReader()
      const parts: string[] = []
      reader.push(bytesOf(stream), (bytes) => parts.push(hex(bytes)))
      const [tag, ...rest] = parts
      assert.equal(tag, `${id}0${direction}`, name)
      assert.deepEqual(rest, chunks, name)
      assert.equal(reader.isComplete, true, name)
    }
  })

  it('of identities are what libp2p derives', async () => {
    for (const { seed = '', peer_id: id } of await vectorsOf('identities')) {
      const key = await generateKeyPairFromSeed('Ed25519', bytesOf(seed))
      assert.equal(peerIdFromPrivateKey(key).toString(), id)
    }
  })

  it('of envelopes are valid, and have the values', async () => {
    const [manifest, delegation, record, byNode, withdrawal, full, described] = await vectorsOf('envelopes')
    const { id, ...signed } = await verifyManifest(bytesOf(only(manifest?.['envelope'])), { now: NOW })
    const { requestHeaders: _, ...api } = signed.manifest.api as { requestHeaders?: unknown; operations: unknown }
    assert.deepEqual(plain({ ...signed.manifest, api }), plain(await manifestOfVectors()))
    for (const each of [full, described]) await verifyManifest(bytesOf(only(each?.['envelope'])), { now: NOW })
    const { peer } = await verifyDelegation(bytesOf(only(delegation?.['envelope'])))
    for (const each of [record, byNode, withdrawal]) {
      const verified = await verifyRecord(bytesOf(only(each?.['envelope'])), { now: NOW, id })
      assert.equal(hex(verified.record.manifestHash), manifest?.['sha256'])
      assert.equal(verified.signer === peer, each === byNode)
    }
  })

  it('of accounts are what the secret gives', async () => {
    const [account, operator, stored] = await vectorsOf('accounts')
    const nameOf = createPseudonyms(createSecretKey(bytesOf(only(account?.['secret']))))
    const provider = only(account?.['provider'])
    assert.equal(hex(nameOf({ id: 'any', account: only(account?.['account']) }, provider)), account?.['consumer'])
    assert.equal(hex(nameOf({ id: only(operator?.['key_id']) }, provider)), operator?.['consumer'])
    const pepper = createSecretKey(bytesOf(only(stored?.['secret'])))
    assert.equal(keyDigest(pepper, only(stored?.['key'])), stored?.['digest'])
  })

  it('of splitters follow from treasury and payout', async () => {
    for (const { treasury, payout, splitter } of await vectorsOf('splitters'))
      assert.equal(splitterFactory(treasury as Hex).splitterOf(payout as Hex), splitter)
  })

  it('of a channel are what viem computes from the specified types', async () => {
    const [channel, voucher, deposit] = await vectorsOf('channels')
    const channelId = only(channel?.['channel_id'])
    assert.equal(channelSalt(only(channel?.['peer_id']), BigInt(only(channel?.['counter']))), channel?.['salt'])
    const config = channel?.['config'] as unknown as ChannelConfig
    assert.equal(digestBySpec('x402 Batch Settlement', 'ChannelConfig', { ...config }), channelId)
    const { ceiling = '', digest = '', signature = '' } = only(voucher)
    const message = { channelId, maxClaimableAmount: BigInt(ceiling) }
    assert.equal(digestBySpec('x402 Batch Settlement', 'Voucher', message), digest)
    const { amount, valid_after: validAfter, valid_before: validBefore, ...rest } = only(deposit)
    const { nonce, collector: to, token } = rest
    const transfer = { from: config.payer, to, value: amount, validAfter, validBefore, nonce }
    const domain = token as unknown as TokenParameters
    assert.equal(digestBySpec(domain.name, 'ReceiveWithAuthorization', transfer, domain), rest['digest'])
    for (const { digest: signed = '', signature: by = '' } of [{ digest, signature }, only(deposit)])
      assert.equal(signerOf(bytesOf(signed), bytesOf(by)), config.payer)
  })

  it('of payment messages are read as their values', async () => {
    const { requests, replies } = await payMessages()
    for (const { name = '', message, bytes = '' } of await vectorsOf('pay')) {
      if (message === 'souk.PayRequest') assert.deepEqual(decodePayRequest(bytesOf(bytes)), requests[name])
      else if (message === 'souk.PayReply') assert.deepEqual(decodePayReply(bytesOf(bytes)), replies[name])
      else assert.equal(decodeAuthorization(bytesOf(bytes)).channelId, DOMAIN.channelId(await configOfVectors()))
    }
  })

  it('of receipts are signed, and have the values', async () => {
    const bodies = await receiptBodies()
    const check = new ReceiptCheck(receiptDigests(CHAIN))
    for (const [i, { bytes = '', signer, root = '', digest }] of (await vectorsOf('receipts')).entries()) {
      const receipt = only(readReceipt(bytesOf(bytes)))
      assert.equal(check.isSigned(receipt, signer as Hex), true)
      assert.deepEqual(plain(receipt.body), plain(only(bodies[i])))
      assert.equal(digestBySpec('Souk', 'Receipts', { root: toHex(bytesOf(root)) }), `0x${digest}`)
    }
  })
})

/** The EIP-712 digest by the type string on the page, computed by viem. */
const PAGE = await read('docs/reference/protocol-payments.md')
function digestBySpec(
  name: string,
  primaryType: string,
  message: Record<string, unknown>,
  { version, address } = { version: '1', address: CHAIN.settlement.address }
): Hex {
  const [, members = ''] = new RegExp(`^${primaryType}\\(([^)]*)\\)$`, 'm').exec(PAGE) ?? []
  const fields = members.split(',').map((member) => member.split(' '))
  const types = { [primaryType]: fields.map(([type = '', field = '']) => ({ name: field, type })) }
  const domain = { name, version, chainId: CHAIN.chainId, verifyingContract: address }
  return hashTypedData({ domain, types, primaryType, message })
}

/** Bytes as hex, numbers as texts, absent and empty members left out. */
function plain(value: unknown): unknown {
  const json = JSON.stringify(value, (_, member: unknown) => {
    if (member instanceof Uint8Array) return hex(member)
    if (member === '') return undefined
    return typeof member === 'bigint' ? String(member) : member
  })
  return JSON.parse(json) as unknown
}
