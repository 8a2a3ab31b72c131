import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { systemClock } from '../../../../lib/index.ts'
import { BodyReader } from '../../../../node/ingress/calls/body-reader.ts'
import { eventually } from '../harness.ts'

describe('BodyReader', () => {
  it('reports a client that left before its body, which had arrived, was read', async () => {
    const reader = new BodyReader({ clock: systemClock, trustProxy: false })
    const server = createServer().listen(0, '127.0.0.1')
    try {
      await once(server, 'listening')
      const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
      socket.write('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}')
      const [req, res] = (await once(server, 'request')) as [IncomingMessage, ServerResponse]
      await eventually(() => req.complete)
      socket.destroy()
      await eventually(() => req.destroyed)
      const held = reader.hold(req)
      await assert.rejects(reader.read({ req, res }, 100, held), { code: 'call_interrupted' })
      held.free()
      assert.equal(reader.bytes, 0)
    } finally {
      server.close()
    }
  })
})
