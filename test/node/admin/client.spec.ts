import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { createAdminClient } from '../../../node/admin/client.ts'
import { failureOf } from '../../../node/cli/terminal/failure.ts'
import { readAll } from '../../../node/cli/options/read-all.ts'
import { deadUrl, type ScriptedUpstream, scriptedUpstream } from '../../helpers/scripted-upstream.ts'

/** What the command line says of a node depends on how the connection to it failed. */
describe('admin client, when no good response comes', () => {
  let server: ScriptedUpstream

  before(async () => {
    server = await scriptedUpstream((response) => response.end('{}'))
  })
  after(() => server.close())

  const status = (url: string) => createAdminClient({ url, token: 'x', profile: 'shop' }).request('GET /status')
  async function failure(asked: Promise<unknown>) {
    return asked.then(
      () => assert.fail('it was answered'),
      (error: unknown) => failureOf(error)
    )
  }

  it('says that no node is running only where nothing listens', async () => {
    const { code, exitCode, what, hint } = await failure(status(await deadUrl()))
    assert.deepEqual([code, exitCode, hint], ['node_not_running', 69, 'souk up --profile shop'])
    assert.match(what, /No node is running on the profile "shop"/)
  })

  it('says that a connection broke', async () => {
    server.behave((response) => response.destroy())
    const { code, what, why, hint } = await failure(status(server.url))
    assert.equal(code, 'node_silent')
    assert.match(what, /connection to the node .* broke/)
    assert.doesNotMatch(what, /No node is running/)
    assert.match(hint ?? '', /souk status/)
    assert.equal(why, undefined, 'the words of fetch')
  })

  it('says that a response broke off in its middle', async () => {
    server.behave((response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' })
      response.write('{"version":', () => response.destroy())
    })
    assert.equal((await failure(status(server.url))).code, 'node_silent')
  })

  it('says that a call broke off in its middle', async () => {
    server.behave((response) => {
      response.writeHead(200, { 'content-type': 'application/x-ndjson' })
      response.write('{"type":"head","status":200,"headers":[]}\n', () => response.destroy())
    })
    const client = createAdminClient({ url: server.url, token: 'x', profile: 'shop' })
    const { body } = await client.call({ api: 'a', body: {} })
    assert.equal((await failure(readAll(body))).code, 'node_silent')
  })

  it('says that another program has the port', async () => {
    server.behave((response) => response.writeHead(404, { 'content-type': 'text/html' }).end('<h1>Not here</h1>'))
    const { code, what, hint } = await failure(status(server.url))
    assert.deepEqual([code, hint], ['node_silent', 'souk up --profile shop'])
    assert.match(what, /Another program answers/)
  })

  it('says so of a program that speaks no HTTP at all', async () => {
    const mute: Server = createServer((socket) => void socket.end('220 mail.example ESMTP\r\n'))
    mute.listen(0, '127.0.0.1')
    await once(mute, 'listening')
    try {
      const { port } = mute.address() as AddressInfo
      assert.equal((await failure(status(`http://127.0.0.1:${port}`))).code, 'node_silent')
    } finally {
      mute.close()
    }
  })
})
