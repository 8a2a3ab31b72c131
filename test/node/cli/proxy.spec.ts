import assert from 'node:assert/strict'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { scriptedUpstream, type ScriptedUpstream } from '../../helpers/scripted-upstream.ts'
import { type NodeProcess, type SoukHome, soukHome, tellWhenFailed } from '../../helpers/souk-home.ts'

const CHANGED = ['NODE_USE_ENV_PROXY', 'HTTP_PROXY', 'http_proxy', 'NO_PROXY', 'no_proxy']

describe('souk with an HTTP proxy in the environment', () => {
  const environment = { ...process.env }
  let asked = 0
  const proxy = createServer((socket) => {
    asked++
    socket.on('error', () => {}).end('HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n')
  })
  let home: SoukHome
  let api: ScriptedUpstream
  let node: NodeProcess

  before(async () => {
    home = await soukHome()
    api = await scriptedUpstream((response) => response.end('{"hello":"world"}'))
    await once(proxy.listen(0, '127.0.0.1'), 'listening')
    const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
    // Node.js reads the first one only when a process starts.
    for (const name of CHANGED) delete process.env[name]
    Object.assign(process.env, { NODE_USE_ENV_PROXY: '1', HTTP_PROXY: url, http_proxy: url })
    node = await home.asProcess.up('default')
  })
  tellWhenFailed(() => home)
  after(async () => {
    // Another object in its place would no longer set the variables of this process, which later files need.
    for (const name of CHANGED) delete process.env[name]
    Object.assign(process.env, environment)
    await home?.close()
    await api?.close()
    proxy.close()
  })

  const run = async (command: string, env = {}) => {
    const { code, stdout, stderr } = await home.asProcess.run(command, [], { env })
    assert.equal(code, 0, stderr)
    return stdout
  }

  it('sends the admin token to no proxy, whatever the user excludes', async () => {
    const excluded = [{}, { NO_PROXY: 'example.com' }, { no_proxy: '', NO_PROXY: 'example.com' }, { NO_PROXY: '*' }]
    await Promise.all(excluded.map(async (env) => assert.match(await run('status', env), new RegExp(node.peer))))
    assert.equal(asked, 0)
  })

  it('calls APIs and its own ingress directly', async () => {
    await run(`api register --name hello --protocol rest --endpoint ${api.url} --price 0`)
    assert.match(await run('call hello'), /world/)
    await run('doctor')
    assert.equal(asked, 0)
  })

  it('uses the proxy for other hosts', async () => {
    const key = join(home.directory, 'key')
    await writeFile(key, 'souk_test_x', { mode: 0o600 })
    const stdin = '{"jsonrpc":"2.0","id":1,"method":"tools/list"}\n'
    await home.asProcess.run('mcp --ingress http://ingress.example --key-file', [key], { stdin })
    assert.ok(asked > 0)
  })
})
