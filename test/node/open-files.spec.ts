import assert from 'node:assert/strict'
import { connect, type Socket } from 'node:net'
import { limits } from '../../lib/index.ts'
import { connectionShares } from '../../node/open-files.ts'
import { eventually } from '../helpers/eventually.ts'
import { type SoukHome, soukHome } from '../helpers/souk-home.ts'

/** A node without connections opens about 95. Half of these are for the ingress, so that a quarter must suffice for those. */
const FILES = 400

describe('a node that may open few files', () => {
  let home: SoukHome
  const strangers: Socket[] = []

  before(async () => {
    home = await soukHome({ openFiles: FILES })
  })
  after(async () => {
    for (const stranger of strangers) stranger.destroy()
    await home.close()
  })

  it('serves consumers while strangers open more connections than that', async () => {
    const ingress = new URL((await home.asProcess.up('node')).ingress)
    let open = 0
    for (let n = 0; n < 2 * FILES; n++) {
      const stranger = connect(Number(ingress.port), ingress.hostname, () => open++)
      stranger.on('error', () => {})
      strangers.push(stranger)
    }
    await eventually('all connections', 5_000, () => (open === 2 * FILES ? true : undefined))
    for (let n = 0; n < 3; n++) {
      // A connection that is kept open is idle, so the node may close it as well.
      const { status } = await fetch(new URL('/livez', ingress), { headers: { connection: 'close' } })
      assert.equal(status, 200)
    }
  })
})

describe('the connections of a node', () => {
  it('have the documented limits, or half and a quarter of the open files', () => {
    const all = { http: limits.HTTP_CONNECTIONS_MAX, peers: limits.CONNECTIONS_MAX }
    assert.deepEqual(connectionShares(Infinity), all)
    assert.deepEqual(connectionShares(2 * limits.HTTP_CONNECTIONS_MAX), all)
    assert.deepEqual(connectionShares(1_024), { http: 512, peers: 256 })
  })
})
