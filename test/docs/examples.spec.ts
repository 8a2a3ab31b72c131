import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import type { Address } from '../../lib/interface/index.ts'
import { keylessBench } from '../helpers/keyless-bench.ts'
import { type DocstringExample, docstringExamples, outputsOf } from './docstring-examples.ts'
import { ROOT } from './markdown.ts'

describe('the examples', () => {
  const run = promisify(execFile)
  const example = (name: string, ...args: string[]) => ['--conditions=development', `docs/examples/${name}.ts`, ...args]

  it('serve an API from a libp2p node and call it from code', async () => {
    const serving = spawn(process.execPath, example('serve'), { cwd: ROOT, stdio: ['ignore', 'pipe', 'inherit'] })
    try {
      const [line] = (await once(createInterface({ input: serving.stdout }), 'line')) as [string]
      const { join } = JSON.parse(line) as { join: string[] }
      const { stdout } = await run(process.execPath, example('call', ...join), { cwd: ROOT })
      const { status, answer } = JSON.parse(stdout) as { status: number; answer: unknown }
      assert.deepEqual({ status, answer }, { status: 200, answer: { loud: 'HELLO' } })
    } finally {
      serving.kill('SIGKILL')
      await once(serving, 'exit')
    }
  })

  it('sell and call an API in ten lines', async () => {
    const { stdout } = await run(process.execPath, example('app'), { cwd: ROOT })
    assert.deepEqual(JSON.parse(stdout), { loud: 'HELLO' })
  })

  it('pay by x402, from a new account with USDC and no ETH', async () => {
    const bench = await keylessBench()
    try {
      const env = { ...process.env, PAYER_KEY: `0x${'7'.repeat(64)}` }
      const { stdout: account } = await run(process.execPath, example('pay'), { cwd: ROOT, env })
      await bench.mint(account.trim() as Address, 1_000_000n)
      const owner = await bench.startOwner()
      await owner.souk.serve({ name: 'hello', price: '0.05', payout: bench.provider }, owner.api)
      const ingress = await bench.startIngress(await bench.startConsumer(owner))
      const { stdout } = await run(process.execPath, example('pay', `${ingress}/api/demo/api/hello`), {
        cwd: ROOT,
        env
      })
      assert.deepEqual(JSON.parse(stdout), { status: 200, charged: '0.05', answer: { run: 1 } })
      assert.equal(await bench.usdc(account.trim()), 950_000n)
      const { stdout: paid } = await run(process.execPath, example('client-pay', ingress), { cwd: ROOT, env })
      assert.deepEqual(JSON.parse(paid), { charged: '0.05', body: { run: 2 } })
      assert.equal(await bench.usdc(account.trim()), 900_000n)
    } finally {
      await bench.close()
    }
  })

  it('choose the transports of a node', async () => {
    const { stdout } = await run(process.execPath, example('transports'), { cwd: ROOT })
    assert.match(stdout, /^\/ip4\/127\.0\.0\.1\/tcp\/\d+\/p2p\/12D3\w+\n$/)
  })

  it('test with a network of their own', async () => {
    await run(process.execPath, example('testnet'), { cwd: ROOT })
  })
})

/** The main exports of each entry point. Each has an example that imports it from there. */
const MAIN_EXPORTS: Readonly<Record<string, readonly string[]>> = {
  souk: ['createNode', 'createSqliteStore', 'handler', 'keySigner', 'parseUsdc', 'souk', 'SoukError'],
  'souk/client': ['createClient', 'SoukError'],
  'souk/interface': ['Adapter', 'LISTING_MOVES', 'Souk'],
  'souk/node': ['locateProfile', 'NETWORKS', 'runNode'],
  'souk/pay': ['createChain', 'createChannelScheme', 'splitterFactory'],
  'souk/protocols': ['createUpstream', 'graphqlFactory', 'protocolFactories', 'restFactory'],
  'souk/testing': ['createTestnet']
}

describe('the examples of docstrings', () => {
  let examples: readonly DocstringExample[]

  before(async () => {
    examples = await docstringExamples()
  })

  for (const [entry, names] of Object.entries(MAIN_EXPORTS)) {
    it(`show the main exports of ${entry}`, () => {
      for (const name of names) {
        const imports = examples.filter((example) => example.name === name).map(({ code }) => code)
        assert.match(imports.join('\n'), new RegExp(`^import .*\\b${name}\\b.* from '${entry}'$`, 'm'), name)
      }
    })
  }

  it('print what their comments promise', async () => {
    const outputs = await outputsOf(examples)
    for (const [i, { name, path, promised }] of examples.entries()) {
      assert.ok(promised.length > 0, `the example of ${name} (${path}) promises nothing`)
      assert.deepEqual(outputs[i], promised, `the example of ${name} (${path})`)
    }
  })
})
