import assert from 'node:assert/strict'
import type { ConnectionEncrypter, MessageStream } from '@libp2p/interface'
import { Uint8ArrayList } from 'uint8arraylist'
import { corked } from '../../../lib/link/cork.ts'

/** A connection of libp2p's TCP transport over a socket whose buffer is full. */
function fullConnection() {
  const written: Uint8Array[] = []
  const socket = {
    cork() {},
    uncork() {},
    write(bytes: Uint8Array) {
      written.push(bytes)
      return false
    }
  }
  class TcpConnection {
    readonly socket = socket
    readonly told: string[] = []
    safeDispatchEvent(type: string) {
      this.told.push(type)
      return true
    }
    send = () => true
    sendData(_data: Uint8ArrayList): { sentBytes: number; canSendMore: boolean } {
      assert.fail('not replaced')
    }
  }
  return { connection: new TcpConnection(), written }
}

const plain = { secureOutbound: async (connection: MessageStream) => ({ connection }) } as unknown

describe('corked connections', () => {
  it('write a message whole, although the socket is full after its first part', async () => {
    const { connection, written } = fullConnection()
    const encrypter = corked(() => plain as ConnectionEncrypter<unknown>)({})
    await encrypter.secureOutbound(connection as unknown as MessageStream)
    const message = new Uint8ArrayList(Buffer.from('length'), Buffer.from('text'), Buffer.from('tag'))
    assert.deepEqual(connection.sendData(message), { sentBytes: message.byteLength, canSendMore: false })
    assert.equal(Buffer.concat(written).toString(), 'lengthtexttag')
  })

  it('tell of room in the socket in the next turn of the event loop, so that one connection does not keep it', async () => {
    const { connection } = fullConnection()
    const encrypter = corked(() => plain as ConnectionEncrypter<unknown>)({})
    await encrypter.secureOutbound(connection as unknown as MessageStream)
    connection.safeDispatchEvent('drain')
    connection.safeDispatchEvent('idle')
    await new Promise((done) => process.nextTick(done))
    await Promise.resolve()
    assert.deepEqual(connection.told, ['idle'])
    await new Promise((done) => setImmediate(done))
    assert.deepEqual(connection.told, ['idle', 'drain'])
  })

  it('leave a connection that writes to something else than its socket', async () => {
    const { connection, written } = fullConnection()
    connection.sendData = () => ({ sentBytes: 4, canSendMore: true })
    const encrypter = corked(() => plain as ConnectionEncrypter<unknown>)({})
    await encrypter.secureOutbound(connection as unknown as MessageStream)
    assert.deepEqual(connection.sendData(new Uint8ArrayList(Buffer.from('text'))), { sentBytes: 4, canSendMore: true })
    assert.deepEqual(written, [])
  })
})
