import assert from 'node:assert/strict'
import type { IncomingMessage } from 'node:http'
import { clientHost, clientNetwork } from '../../../node/http/host.ts'

const requestFrom = (remoteAddress: string, forwarded?: string) =>
  ({
    headers: forwarded === undefined ? {} : { 'x-forwarded-for': forwarded },
    socket: { remoteAddress }
  }) as unknown as Pick<IncomingMessage, 'headers' | 'socket'>

describe('the host of a client', () => {
  for (const [forwarded, host] of [
    ['192.0.2.7', '192.0.2.7'],
    ['10.9.8.7, 192.0.2.7', '192.0.2.7'],
    ['192.0.2.7:50123', '192.0.2.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
    ['2001:db8::6', '2001:db8:0:0'],
    ['[2001:db8:1:2::6]:443', '2001:db8:1:2'],
    ['[2001:db8:1:2::6]', '2001:db8:1:2'],
    ['::ffff:192.0.2.7', '192.0.2.7']
  ] as const) {
    it(`is ${host} if a proxy says ${forwarded}`, () => {
      assert.equal(clientHost(requestFrom('127.0.0.1', forwarded), true), host)
      assert.equal(clientNetwork(requestFrom('127.0.0.1', forwarded), true), host)
    })
  }

  it('is the address of the connection if the proxy is not trusted, and unknown for local programs', () => {
    assert.equal(clientHost(requestFrom('198.51.100.1', '192.0.2.7'), false), '198.51.100.1')
    assert.equal(clientHost(requestFrom('127.0.0.1', '192.0.2.7'), false), undefined)
    assert.equal(clientHost(requestFrom('127.0.0.1'), true), undefined)
    assert.equal(clientHost(requestFrom('127.0.0.1', ' '), true), undefined)
  })
})
