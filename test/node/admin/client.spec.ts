import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect, createAdminClient } from '../../../node/admin/client.ts'
import { failureOf } from '../../../node/cli/terminal/failure.ts'
import { readAll } from '../../../node/cli/options/read-all.ts'
import { writePrivateFile } from '../../../node/profile/private-file.ts'
import { openProfile, profileFile, type ProfileLocation, writeProfileJson } from '../../../node/profile/profile.ts'
import { lockProfile } from '../../../node/profile/profile-lock.ts'
import { deadUrl, type ScriptedUpstream, scriptedUpstream } from '../../helpers/scripted-upstream.ts'

/** The error of the command line depends on how the connection to the node failed. */
describe('admin client without a valid response', () => {
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

  it('reports node_not_running only if nothing listens', async () => {
    const { code, exitCode, what, hint } = await failure(status(await deadUrl()))
    assert.deepEqual([code, exitCode, hint], ['node_not_running', 69, 'souk up --profile shop'])
    assert.match(what, /No node is running on the profile "shop"/)
  })

  it('reports a broken connection', async () => {
    server.behave((response) => response.destroy())
    const { code, what, why, hint } = await failure(status(server.url))
    assert.equal(code, 'node_silent')
    assert.match(what, /connection to the node .* failed/)
    assert.doesNotMatch(what, /No node is running/)
    assert.match(hint ?? '', /souk status/)
    assert.equal(why, undefined, 'the words of fetch')
  })

  it('reports a response that ends early', async () => {
    server.behave((response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' })
      response.write('{"version":', () => response.destroy())
    })
    assert.equal((await failure(status(server.url))).code, 'node_silent')
  })

  it('reports a call that ends early', async () => {
    server.behave((response) => {
      response.writeHead(200, { 'content-type': 'application/x-ndjson' })
      response.write('{"type":"head","status":200,"headers":[]}\n', () => response.destroy())
    })
    const client = createAdminClient({ url: server.url, token: 'x', profile: 'shop' })
    const { body } = await client.call({ api: 'a', body: {} })
    assert.equal((await failure(readAll(body))).code, 'node_silent')
  })

  it('reports that another program has the port', async () => {
    server.behave((response) => response.writeHead(404, { 'content-type': 'text/html' }).end('<h1>Not here</h1>'))
    const { code, what, hint } = await failure(status(server.url))
    assert.deepEqual([code, hint], ['node_silent', 'souk up --profile shop'])
    assert.match(what, /Another program responds/)
  })

  it('reports the same for a program that does not speak HTTP', async () => {
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

  it('sends the token of a profile only while a node holds its lock', async () => {
    const home = await mkdtemp(join(tmpdir(), 'souk-connect-'))
    const profile = { name: 'shop', directory: join(home, 'shop') }
    await openProfile(profile)
    await writeProfileJson(profile, 'running', { admin: server.url })
    await writePrivateFile(profileFile(profile, 'adminToken'), 'secret')
    const { code } = await failure(connect(profile))
    assert.equal(code, 'node_not_running')
    const lock = lockProfile(profileFile(profile, 'lock'), 'shop')
    try {
      await connect(profile)
    } finally {
      lock.release()
    }
    assert.equal((await failure(connect(profile))).code, 'node_not_running')
    await rm(home, { recursive: true })
  })

  it('names other profiles only while a node holds their lock', async () => {
    const home = await mkdtemp(join(tmpdir(), 'souk-connect-'))
    const [shop, other] = ['shop', 'other'].map((name) => ({ name, directory: join(home, name) })) as [
      ProfileLocation,
      ProfileLocation
    ]
    for (const killed of [shop, other]) {
      await openProfile(killed)
      await writeProfileJson(killed, 'settings', {})
      await writeProfileJson(killed, 'running', { admin: server.url })
    }
    assert.equal((await failure(connect(shop))).hint, 'souk up --profile shop')
    const lock = lockProfile(profileFile(other, 'lock'), 'other')
    try {
      assert.equal((await failure(connect(shop))).hint, 'souk up --profile shop, or --profile other')
    } finally {
      lock.release()
      await rm(home, { recursive: true })
    }
  })
})
