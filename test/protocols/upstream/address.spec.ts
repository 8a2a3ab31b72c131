import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { networkInterfaces } from 'node:os'
import * as fc from 'fast-check'
import type { UpstreamGuard } from '../../../lib/interface/adapter.ts'
import { canonicalAddress, isNeverUpstream } from '../../../protocols/upstream/address.ts'
import { targetOf } from '../../../protocols/upstream/target.ts'
import { createUpstream } from '../../../protocols/upstream/upstream.ts'
import { FOREVER, rejectsWith } from '../../helpers/adapter-bench.ts'
import { type ScriptedUpstream, answering, scriptedUpstream } from '../../helpers/scripted-upstream.ts'
import { fuzzRuns } from '../../helpers/fuzz-runs.ts'

describe('addresses of upstreams', () => {
  for (const [text, canonical] of [
    ['127.0.0.1', '127.0.0.1'],
    ['[::ffff:7f00:1]', '127.0.0.1'],
    ['::ffff:127.0.0.1', '127.0.0.1'],
    ['::127.0.0.1', '127.0.0.1'],
    ['64:ff9b::a9fe:a9fe', '169.254.169.254'],
    ['::1', '::1'],
    ['::', '::'],
    ['fe80::1%eth0', 'fe80::1'],
    ['FD00:EC2:0:0:0:0:0:254', 'fd00:ec2::254'],
    ['localhost', undefined],
    ['127.1', undefined]
  ] as const) {
    it(`reads ${text} as ${canonical ?? 'none'}`, () => assert.equal(canonicalAddress(text), canonical))
  }

  for (const address of [
    '169.254.169.254',
    '169.254.170.2',
    '::ffff:169.254.169.254',
    '64:ff9b::a9fe:a9fe',
    '100.100.100.200',
    '168.63.129.16',
    '192.0.0.192',
    'fd00:ec2::254',
    'fd20:ce::254',
    'fe80::1',
    'ff02::1',
    '224.0.0.1',
    '255.255.255.255',
    'nonsense'
  ]) {
    it(`never connect to ${address}`, () => assert(isNeverUpstream(address)))
  }

  for (const address of ['127.0.0.1', '10.0.0.7', '192.168.1.1', '::1', 'fd12::7', '203.0.113.1', '8.8.8.8']) {
    it(`can connect to ${address}`, () => assert(!isNeverUpstream(address)))
  }
})

describe('the guard of upstreams', () => {
  let server: ScriptedUpstream
  let asked: string[]
  const guard: UpstreamGuard = {
    refuses(host, address, port) {
      asked.push(`${host} ${address} ${String(port === Number(new URL(server.url).port))}`)
      return true
    }
  }

  beforeEach(async () => {
    asked = []
    server = await scriptedUpstream(answering(200, {}, 'ok'))
  })
  afterEach(() => server.close())

  for (const host of [
    '127.0.0.1',
    'localhost',
    'localhost.',
    '2130706433',
    '0x7f.1',
    '[::ffff:7f00:1]',
    '0177.0.0.1'
  ]) {
    it(`checks the actual address of ${host}`, async () => {
      const upstream = createUpstream({ endpoint: `http://${host}:${new URL(server.url).port}/`, guard })
      await rejectsWith(upstream.request({ method: 'GET', headers: [], signal: FOREVER }), 'upstream_unreachable')
      await upstream.close()
      assert.equal(server.accepted, 0)
      // Not every resolver accepts the name with the dot.
      if (host === 'localhost.' && asked.length === 0) return
      assert(
        asked.some((line) => / (?:127\.0\.0\.1|::1) true$/.test(line)),
        asked.join()
      )
    })
  }

  for (const endpoint of [
    'http://169.254.169.254/latest/meta-data/',
    'http://[::ffff:a9fe:a9fe]/',
    'http://2852039166/',
    'http://[fd00:ec2::254]/',
    'http://0xa9.0xfe.0xa9.0xfe/'
  ]) {
    it(`is not needed for ${endpoint}`, async () => {
      const upstream = createUpstream({ endpoint })
      const request = upstream.request({ method: 'GET', headers: [], signal: FOREVER })
      await assert.rejects(request, /never connects to/)
      await upstream.close()
    })
  }

  it('allows addresses that it does not refuse', async () => {
    const upstream = createUpstream({
      endpoint: server.url.replace('127.0.0.1', 'localhost'),
      guard: { refuses: () => false }
    })
    const { status } = await upstream.request({ method: 'GET', headers: [], signal: FOREVER })
    assert.equal(status, 200)
    await upstream.close()
  })

  const hasIpv6 = networkInterfaces()['lo']?.some(({ address }) => address === '::1') === true
  for (const host of hasIpv6 ? ['127.0.0.1', '::1'] : ['127.0.0.1']) {
    it(`finds a server of localhost that listens on ${host} only`, async () => {
      const only = createServer((_, response) => response.end('here'))
      await new Promise<void>((resolve) => only.listen(0, host, resolve))
      const upstream = createUpstream({ endpoint: `http://localhost:${(only.address() as AddressInfo).port}/` })
      const response = await upstream.request({ method: 'GET', headers: [], signal: FOREVER })
      assert.equal(Buffer.from(await response.bytes(10)).toString(), 'here')
      await upstream.close()
      await new Promise((resolve) => only.close(resolve))
    })
  }

  it('says that a server of localhost does not run', async () => {
    await server.close()
    const upstream = createUpstream({ endpoint: server.url.replace('127.0.0.1', 'localhost') })
    const request = upstream.request({ method: 'GET', headers: [], signal: FOREVER })
    await assert.rejects(request, /refuses connections/)
    await upstream.close()
  })

  it('keeps redirects below the endpoint’s path on request', async () => {
    const endpoint = `${server.url}/v1`
    const confined = createUpstream({ endpoint, confinesRedirects: true })
    const get = { method: 'GET', path: '/x', headers: [], signal: FOREVER }
    for (const location of ['/admin', '/v1x', '/v1/../admin', '/v1/%2e%2e/admin', '//127.0.0.1:1/v1/']) {
      server.behave(answering(302, { location }, ''))
      await rejectsWith(confined.request(get), 'upstream_invalid_response')
    }
    server.behave((response, { target }) => {
      if (target === '/v1/x') response.writeHead(302, { location: '/v1/y' })
      response.end()
    })
    assert.equal((await confined.request(get)).status, 200)
    await confined.close()
  })
})

describe('a path of a call', () => {
  const endpoint = new URL('https://api.example:8443/base/v1?key=own')
  const parts = fc.oneof(
    fc.constantFrom(
      '..',
      '.',
      '/',
      '//',
      '\\',
      '@',
      '%2e',
      '%2E%2e',
      '%252e',
      '%2f',
      '%5c',
      ':',
      '?',
      '#',
      ';',
      '&',
      '='
    ),
    fc.constantFrom('\r\n', '%0d%0a', '%00', 'http://evil.example', 'evil.example:80', 'x', 'key=', '%', 'é', ' '),
    fc.string({ maxLength: 6 })
  )

  it('is encoded a few times only, because each decoding takes time', () => {
    const encoded = (times: number) => `/a%${'25'.repeat(times - 1)}2fb`
    for (const times of [1, 2, 8]) assert.ok(targetOf(endpoint, encoded(times)))
    for (const times of [9, 4_000]) assert.throws(() => targetOf(endpoint, encoded(times)), { code: 'invalid_request' })
  })

  it('never leaves the endpoint, whatever it contains', () => {
    fc.assert(
      fc.property(fc.array(parts, { maxLength: 8 }), (pieces) => {
        let target: string
        try {
          target = targetOf(endpoint, pieces.join(''))
        } catch {
          return
        }
        // The path as any server may read it: resolved, and decoded any number of times.
        assert(target.startsWith('/base/v1'), target)
        for (let text = target.split('?')[0] ?? '', rounds = 0; rounds < 4; rounds++) {
          const url = new URL(`https://api.example:8443${text.replaceAll('\\', '/')}`)
          assert.equal(url.host, 'api.example:8443')
          assert(url.pathname === '/base/v1' || url.pathname.startsWith('/base/v1/'), `${target} → ${url.href}`)
          try {
            text = decodeURIComponent(text)
          } catch {
            break
          }
        }
        // oxlint-disable-next-line no-control-regex -- control characters are what it looks for
        assert(!/[\x00-\x20#]/.test(target))
        assert.deepEqual(new URL(target, endpoint).searchParams.getAll('key'), ['own'])
      }),
      fuzzRuns(3_000)
    )
  })
})
