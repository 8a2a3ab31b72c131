import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { type HomeNode, type SoukHome, soukHome, tellWhenFailed } from '../../../helpers/souk-home.ts'

/** Fields of `GET /status` that a node of commit cc683f6 does not have. */
const NEWER = ['restart_needed', 'reachability', 'chain', 'store']

describe('commands at a node that was started before an upgrade', () => {
  let home: SoukHome
  let node: HomeNode
  let older: Server

  /** Passes on requests to the node, and leaves out what an older one does not know. */
  async function passOn(
    admin: string,
    { url = '', headers }: IncomingMessage,
    response: ServerResponse
  ): Promise<void> {
    const { authorization = '' } = headers
    const answer = await fetch(`${admin}${url.replace('/disputes', '/unknown')}`, { headers: { authorization } })
    const body = (await answer.json()) as Record<string, unknown>
    if (url.endsWith('/status')) for (const name of NEWER) delete body[name]
    response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? '' })
    response.end(JSON.stringify(body))
  }

  before(async () => {
    home = await soukHome()
    node = await home.up('default', '--no-ingress')
    const file = join(home.directory, 'default', 'running.json')
    const running = JSON.parse(await readFile(file, 'utf8')) as { admin: string }
    older = createServer((request, response) => void passOn(running.admin, request, response)).listen(0, '127.0.0.1')
    await once(older, 'listening')
    const { port } = older.address() as AddressInfo
    await writeFile(file, JSON.stringify({ ...running, admin: `http://127.0.0.1:${port}` }))
  })
  tellWhenFailed(() => home)
  after(async () => {
    older?.close()
    await home?.close()
  })

  for (const command of ['status', 'disputes']) {
    it(`say that the node must be restarted (souk ${command})`, async () => {
      const { code, stderr } = await home.run(command)
      assert.notEqual(code, 0)
      assert.match(stderr, /^souk: The node must be restarted\.\n {2}the node runs an older version of Souk than this/)
      assert.match(stderr, /Try: to stop the node, and start it again with souk up/)
      assert.ok(node.isRunning())
    })
  }
})
