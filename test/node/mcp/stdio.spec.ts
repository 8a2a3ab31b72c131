import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { startAccount } from '../../../node/demo/account.ts'
import { startUpstream, type Upstream } from '../../helpers/echo-api.ts'
import { freePort } from '../../helpers/free-port.ts'
import { type HomeNode, type SoukHome, soukHome } from '../../helpers/souk-home.ts'
import { MAIN } from '../../helpers/souk-process.ts'
import { CLIENTS } from './clients.ts'

interface Answer {
  readonly jsonrpc: string
  readonly id: unknown
  readonly error?: { readonly code: number }
}

describe('agents on stdio', () => {
  let home: SoukHome
  let echo: Upstream
  let bank: Awaited<ReturnType<typeof startAccount>>
  let node: HomeNode
  let keyFile: string

  const env = () => ({ PATH: process.env['PATH'] ?? '', SOUK_HOME: home.directory })
  const command = (...args: string[]) => ({ command: process.execPath, args: [MAIN, 'mcp', ...args], env: env() })
  const cli = async (line: string) => {
    const { code, stdout, stderr } = await home.run(line)
    assert.equal(code, 0, stderr)
    return stdout
  }

  before(async () => {
    home = await soukHome()
    ;[echo, bank] = await Promise.all([startUpstream(), startAccount()])
    node = await home.up('default')
    await cli(`api register --name echo --protocol REST --endpoint ${echo.url} --price 0.001`)
    await cli(`api register --name bank --protocol SOAP --endpoint ${bank.url} --price 0.02`)
    keyFile = join(home.directory, 'key')
    await writeFile(keyFile, await cli('key issue --max-price 0.01 --api echo --api bank'), { mode: 0o600 })
  })
  after(async () => {
    await home?.close()
    await Promise.all([echo?.close(), bank?.close()])
  })

  for (const [revision, connect] of CLIENTS) {
    it(`have the APIs of a node as tools, by ${revision}`, async () => {
      const agent = await connect(command('--api', 'bank', '--api', 'echo'))
      try {
        const tools = await agent.tools()
        const names = tools.map(({ name }) => name)
        assert.ok(names.includes('bank_getBalance') && names.includes('echo_call'), names.join())
        const balance = await agent.call('bank_getBalance', { accountId: 'ACC-1001' })
        assert.equal(balance.isError, undefined, JSON.stringify(balance.content))
        assert.equal(typeof balance.structuredContent, 'object')
        assert.equal(balance.meta['status'], 200)
        const fault = await agent.call('bank_getBalance', { accountId: 'nobody' })
        assert.equal(fault.isError, true)
        assert.match(String(fault.content[0]?.['text']), /"charged":false/)
        assert.deepEqual((await agent.call('echo_call', { a: 1 })).structuredContent, { echo: { a: 1 } })
        assert.equal((await agent.call('no tool like this')).isError, true)
      } finally {
        await agent.close()
      }
    })

    it(`have those of any ingress by a key, within its limits, by ${revision}`, async () => {
      const agent = await connect(command('--ingress', node.ingress, '--key-file', keyFile))
      try {
        const names = (await agent.tools()).map(({ name }) => name)
        assert.ok(names.includes('bank_getBalance'), 'the key’s APIs are tools')
        assert.deepEqual((await agent.call('echo_call', { b: 2 })).structuredContent, { echo: { b: 2 } })
        const dear = await agent.call('bank_getBalance', { accountId: 'ACC-1001' })
        assert.match(String(dear.content[0]?.['text']), /price_exceeds_limit/)
        const left = (await agent.call('souk_balance')).structuredContent as Record<string, unknown>
        assert.equal(left['max_price'], '0.01')
      } finally {
        await agent.close()
      }
    })
  }

  it('have a daily cap, which is not for keys', async () => {
    const [[, connect] = []] = CLIENTS
    assert.ok(connect !== undefined)
    const agent = await connect(command('--daily-cap', '0.0025'))
    try {
      const left = (await agent.call('souk_balance')).structuredContent as Record<string, unknown>
      assert.deepEqual([left['daily_cap'], left['left_today']], ['0.0025', '0.0025'])
      const fee = await agent.call('souk_subscribe', { api: 'echo', plan: 'pro', max_price: '0' })
      assert.match(String(fee.content[0]?.['text']), /may not change subscriptions/)
    } finally {
      await agent.close()
    }
    const keyed = await home.run('mcp --daily-cap 1 --key-file', [keyFile])
    assert.deepEqual([keyed.code, keyed.stdout], [64, ''])
  })

  it('get only protocol messages for any input, and the server ends when they close', async () => {
    const child = spawn(process.execPath, [MAIN, 'mcp'], { env: env() })
    let stdout = ''
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => (stdout += chunk))
    const hello = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'raw', version: '1' } }
    child.stdin.write('{nonsense\n\n[]\n"x"\n')
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params: hello })}\n`)
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name: 5 } })}\n`)
    const ping = (id: number) => ({ jsonrpc: '2.0', id, method: 'ping' })
    child.stdin.write(
      `${JSON.stringify([ping(3), { jsonrpc: '2.0', method: 'notifications/initialized' }, ping(4)])}\n`
    )
    while (!/"id":2/.test(stdout) || !/"id":4/.test(stdout)) await once(child.stdout, 'data')
    child.stdin.end()
    const [code] = (await once(child, 'close')) as [number]
    assert.equal(code, 0)
    const answers = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Answer | Answer[])
    for (const each of answers.flat()) assert.equal(each.jsonrpc, '2.0')
    const nameless = answers.flat().filter(({ id }) => id === null)
    assert.deepEqual(
      nameless.map(({ error }) => error?.code),
      [-32_700, -32_600, -32_600]
    )
    const batch = answers.find((each) => Array.isArray(each)) ?? []
    assert.deepEqual(
      [batch].flat().map(({ id }) => id),
      [3, 4]
    )
  })

  it('get a response to a large message, and the server ends at one that is too large to read', async () => {
    const child = spawn(process.execPath, [MAIN, 'mcp'], { env: env() })
    const said = { stdout: '', stderr: '' }
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => (said.stdout += chunk))
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => (said.stderr += chunk))
    const send = (id: number, method: string, params: object) =>
      child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`)
    send(1, 'initialize', {
      protocolVersion: '2025-11-25',
      capabilities: {},
      clientInfo: { name: 'raw', version: '1' }
    })
    send(2, 'tools/call', { name: 'souk_search', arguments: { query: 'x'.repeat(3_000_000) } })
    while (!said.stdout.includes('"id":2')) await once(child.stdout, 'data')
    assert.match(said.stdout, /give at most 200 characters/)
    child.stdin.on('error', () => {}).write('x'.repeat(20_000_000))
    const [code] = (await once(child, 'close')) as [number]
    assert.notEqual(code, 0)
    assert.match(said.stderr, /The agent sent a message of more than 16777216 bytes/)
  })

  it('get start errors on stderr', async () => {
    const absent = await home.run('mcp --profile nobody')
    assert.deepEqual([absent.code, absent.stdout], [69, ''])
    const keyless = await home.run('mcp --ingress http://127.0.0.1:1')
    assert.deepEqual([keyless.code, keyless.stdout], [64, ''])
    const open = join(home.directory, 'open')
    await writeFile(open, 'souk_test_x')
    await chmod(open, 0o644)
    const shared = await home.run('mcp --key-file', [open])
    assert.deepEqual([shared.code, shared.stdout], [64, ''])
    assert.match(shared.stderr, /chmod 600/)
  })

  it('get an error if the server does not respond', async () => {
    const [[, connect] = []] = CLIENTS
    assert.ok(connect !== undefined)
    const nowhere = `http://127.0.0.1:${await freePort()}`
    const agent = await connect(command('--ingress', nowhere, '--key-file', keyFile))
    try {
      await assert.rejects(agent.tools(), new RegExp(`No ingress responds at ${nowhere}`))
      const result = await agent.call('souk_balance')
      assert.match(String(result.content[0]?.['text']), /No ingress responds/)
      assert.doesNotMatch(String(result.content[0]?.['text']), /charged/)
    } finally {
      await agent.close()
    }
  })
})
