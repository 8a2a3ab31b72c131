import assert from 'node:assert/strict'
import { glob } from 'node:fs/promises'
import { keccak_256 } from '@noble/hashes/sha3.js'
import { splitterFactory } from '../../lib/pay/chain/splitter.ts'
import { splitterFactoryCode } from '../../lib/pay/contracts/contracts.generated.ts'
import { NETWORKS } from '../../node/networks.ts'
import { read } from './markdown.ts'
import { allLimits } from './pages/limits.ts'

const PAGES = ['protocol', 'protocol-directory', 'protocol-payments', 'protocol-subscriptions']

describe('the specification of the protocol', () => {
  let pages: string[]
  let payments: string

  before(async () => {
    pages = await Promise.all(PAGES.map((name) => read(`docs/reference/${name}.md`)))
    payments = pages[2] ?? ''
  })

  it('names only limits that exist', async () => {
    const known = new Set((await allLimits()).map(({ name }) => name))
    const named = pages.flatMap((page) => [...page.matchAll(/`([A-Z]+(?:_[A-Z]+)+)`/g)].map(([, name = '']) => name))
    assert.ok(named.length > 50, `saw ${named.length}`)
    assert.deepEqual(
      named.filter((name) => !known.has(name)),
      []
    )
  })

  it('has the constants of every network', () => {
    for (const { chain } of Object.values(NETWORKS)) {
      const { chainId, settlement, collector, usdc, treasury = 'none yet' } = chain
      const { address, codeHash } = settlement
      const constants = [`${chainId}`, address, codeHash, collector.address, collector.codeHash, usdc.address, treasury]
      for (const text of [...constants, usdc.name]) assert.ok(payments.includes(text), text)
    }
  })

  it('derives the splitter as the code does', () => {
    const treasury = NETWORKS.dev.chain.treasury ?? assert.fail('dev has no treasury')
    const { address, template } = splitterFactory(treasury)
    const code = Buffer.from(splitterFactoryCode.slice(2), 'hex')
    const hash = Buffer.from(keccak_256(code)).toString('hex')
    for (const text of [address, template, hash, `${code.length.toLocaleString('en')} bytes`])
      assert.ok(payments.includes(text), text)
  })

  it('has one revision, which the vectors name too', async () => {
    const [, revision = ''] = /\| Revision \| (\d+)/.exec(pages[0] ?? '') ?? []
    for (const part of pages.slice(1))
      assert.ok(part.includes(`Part of the [protocol](protocol.md), revision ${revision}.`))
    for await (const path of glob('docs/reference/vectors/*.json')) {
      assert.equal((JSON.parse(await read(path)) as { revision: number }).revision, Number(revision), path)
    }
  })

  it('describes every field of a frame', async () => {
    const proto = await read('docs/reference/souk-call.proto')
    for (const message of ['Hello', 'Request', 'Response', 'Failure']) {
      const [, body = ''] = new RegExp(`^message ${message} \\{\\n([^]*?)^\\}`, 'm').exec(proto) ?? []
      const fields = [...body.matchAll(/^ {2}(?!\/\/).*?(\w+) = \d+;$/gm)].map(([, name = '']) => name)
      assert.ok(fields.length >= 4, message)
      for (const field of fields) assert.ok(pages[0]?.includes(`\`${field}\``), `${message}.${field}`)
    }
  })
})
