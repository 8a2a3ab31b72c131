import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { createUpstream } from '../../../protocols/upstream/upstream.ts'
import { RedirectedAway, failureOf } from '../../../protocols/upstream/failure.ts'
import { FOREVER } from '../../helpers/adapter-bench.ts'
import { freePort } from '../../helpers/free-port.ts'
import { answering, scriptedUpstream } from '../../helpers/scripted-upstream.ts'
import { SELF_SIGNED } from '../../helpers/self-signed.ts'

const CODES = [
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ETIMEDOUT',
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_OVERFLOW',
  'UND_ERR_RES_CONTENT_LENGTH_MISMATCH',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'ECONNRESET'
]

describe('failureOf', () => {
  it('writes the name of the API as its place in the sentence needs', () => {
    for (const code of CODES) {
      for (const name of ['The API', "The API's token server", 'The webhook']) {
        const { message } = failureOf(Object.assign(new Error(code), { code }), name)
        assert.match(message, /^[A-Z]/)
        assert.match(message, new RegExp(name, 'i'))
        assert.doesNotMatch(message, /. The /)
      }
      assert.match(
        failureOf(Object.assign(new Error(code), { code }), 'api.example.com:80').message,
        /api\.example\.com:80/
      )
    }
  })

  it('says what helps against the code of a certificate', () => {
    for (const [code, advice] of [
      ['CERT_HAS_EXPIRED', /is not valid now, or the clock of the provider's machine is wrong\.$/],
      ['CERT_NOT_YET_VALID', /the clock/],
      ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', /does not send its intermediate certificates, or .* `ca_file`/],
      ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', /intermediate certificates/],
      ['DEPTH_ZERO_SELF_SIGNED_CERT', /\. To trust its certificate, the provider names the authority as `ca_file`/],
      ['CERT_REVOKED', /\(CERT_REVOKED\)\.$/]
    ] as const)
      assert.match(failureOf(Object.assign(new Error(code), { code }), 'The API').message, advice)
  })

  it('says that the connection to the API was lost', async () => {
    const server = await scriptedUpstream((response) => response.destroy())
    const upstream = createUpstream({ endpoint: server.url, shownAs: 'The API' })
    const asked = upstream.request({ method: 'GET', headers: [], signal: FOREVER })
    try {
      const message = 'The connection to the API was lost. It may have received the request.'
      await assert.rejects(asked, { message, members: { reason: 'connection_lost' } })
    } finally {
      await upstream.close()
      await server.close()
    }
  })

  const unreadable: ReadonlyArray<readonly [head: string, says: RegExp]> = [
    ['HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n', /"100 Continue" without being asked/],
    ['HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: h2c\r\n\r\n', /switched to another protocol/],
    ['HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 2\r\n\r\nok', /or headers that are not valid HTTP/]
  ]
  for (const [head, says] of unreadable) {
    it(`says what is wrong with ${JSON.stringify(head.slice(9, 60))}`, async () => {
      const server = await scriptedUpstream((response) => void response.socket?.end(head))
      const upstream = createUpstream({ endpoint: server.url, shownAs: 'The API' })
      const asked = upstream.request({ method: 'GET', headers: [], signal: FOREVER })
      try {
        await assert.rejects(asked, { code: 'upstream_invalid_response', message: says })
      } finally {
        await upstream.close()
        await server.close()
      }
    })
  }

  it('names the whole address of a redirect to another scheme', async () => {
    const server = await scriptedUpstream(answering(302, { location: 'file:///etc/docs' }, ''))
    const upstream = createUpstream({ endpoint: server.url, shownAs: 'The API' })
    try {
      await assert.rejects(upstream.request({ method: 'GET', headers: [], signal: FOREVER }), {
        code: 'upstream_invalid_response',
        cause: new RedirectedAway('file:///etc/docs')
      })
    } finally {
      await upstream.close()
      await server.close()
    }
  })

  it('blames no API for a process that can open no more files', () => {
    for (const code of ['EMFILE', 'ENFILE']) {
      const { code: named, notAccepted, message } = failureOf(Object.assign(new Error(code), { code }), 'The API')
      assert.deepEqual([named, notAccepted], ['overloaded', true])
      assert.match(message, /^This node cannot open another connection to the API/)
    }
  })

  it('does not say that a request was received before there was a connection', async () => {
    const upstream = createUpstream({ endpoint: `http://127.0.0.1:${await freePort()}`, shownAs: 'The API' })
    const asked = upstream.request({ method: 'GET', headers: [], signal: FOREVER })
    try {
      await assert.rejects(asked, { code: 'upstream_unreachable', members: undefined })
    } finally {
      await upstream.close()
    }
  })

  it('names the failed handshake with an API that requires a client certificate', async () => {
    const wanting = { ...SELF_SIGNED, requestCert: true, maxVersion: 'TLSv1.2' } as const
    const server = createServer(wanting).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const endpoint = `https://127.0.0.1:${(server.address() as AddressInfo).port}`
    const upstream = createUpstream({ endpoint, shownAs: 'The API', auth: { tls: { ca: SELF_SIGNED.cert } } })
    try {
      await assert.rejects(upstream.request({ method: 'GET', headers: [], signal: FOREVER }), {
        message: /^TLS with the API failed \(ERR_SSL_SSL\/TLS_ALERT_HANDSHAKE_FAILURE\)/,
        members: { reason: 'tls' }
      })
    } finally {
      await upstream.close()
      server.close()
    }
  })

  it('says how a provider trusts a self-signed certificate', async () => {
    const server = createServer(SELF_SIGNED).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const endpoint = `https://127.0.0.1:${(server.address() as AddressInfo).port}`
    const upstream = createUpstream({ endpoint, shownAs: 'The API' })
    try {
      await assert.rejects(upstream.request({ method: 'GET', headers: [], signal: FOREVER }), {
        code: 'upstream_unreachable',
        message: /^TLS with the API failed \(DEPTH_ZERO_SELF_SIGNED_CERT\)\. To trust .*`ca_file`/
      })
    } finally {
      await upstream.close()
      server.close()
    }
  })
})
