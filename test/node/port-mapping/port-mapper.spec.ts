import assert from 'node:assert/strict'
import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { defaultLogger } from '@libp2p/logger'
import { type Clock, limits, systemClock } from '../../../lib/index.ts'
import { PortMapper, type PortMapperInit } from '../../../node/port-mapping/port-mapper.ts'
import { eventually } from '../../helpers/eventually.ts'
import { type ManualClock, manualClock } from '../../helpers/manual-clock.ts'

const LOOPBACK = '127.0.0.1'
const SERVICE = 'urn:schemas-upnp-org:service:WANIPConnection:1'

const description = (control: string) =>
  `<?xml version="1.0"?><root xmlns="urn:schemas-upnp-org:device-1-0"><device><deviceList><device><serviceList>
  <service><serviceType>urn:schemas-upnp-org:service:Layer3Forwarding:1</serviceType><controlURL>/other</controlURL></service>
  <service><serviceType>${SERVICE}</serviceType><SCPDURL>/scpd</SCPDURL><controlURL>${control}</controlURL></service>
  </serviceList></device></deviceList></device></root>`
const fault = (code: number) =>
  `<s:Envelope><s:Body><s:Fault><detail><UPnPError><errorCode>${code}</errorCode></UPnPError></detail></s:Fault></s:Body></s:Envelope>`

/** Devices have a fifth of the time to respond. */
const quick: Clock = { ...systemClock, after: (delayMs, task) => systemClock.after(delayMs / 5, task) }

/** Routers on this machine, which forward nothing but say so. `test/e2e/mapped-port.long.spec.ts` has real ones. */
describe('PortMapper', () => {
  let http: Server
  let ssdp: Socket
  let natPmp: Socket
  let location: string
  let answer: (request: IncomingMessage, response: ServerResponse, body: string) => void
  let onNatPmp: (request: Buffer) => Buffer | undefined
  /** The requests: `GET /path`, or the action and its external port. */
  let asked: string[]
  let told: string[]
  let mapper: PortMapper

  const portOf = (server: { address(): unknown }) => (server.address() as AddressInfo).port
  const mapperWith = (more: Partial<PortMapperInit> = {}) =>
    new PortMapper({
      clock: quick,
      tell: (line) => told.push(line),
      log: defaultLogger().forComponent('test'),
      networks: async () => [{ address: LOOPBACK, router: LOOPBACK }],
      ssdp: { address: LOOPBACK, port: portOf(ssdp) },
      natPmpPort: portOf(natPmp),
      ...more
    })
  const nothingMapped = async () => {
    await mapper.start(4402)
    assert.equal(mapper.mapped, undefined)
    assert.deepEqual(told, [])
  }

  beforeEach(async () => {
    asked = []
    told = []
    onNatPmp = () => Buffer.from([0, 130, 0, 3, 0, 0, 0, 1, 0x11, 0x32, 0, 0, 0, 0, 0, 0])
    answer = (request, response) => {
      if (request.method === 'GET') response.end(description('/control'))
      else response.end('<ok/>')
    }
    http = createServer((request, response) => {
      let body = ''
      request.on('data', (chunk: Buffer) => (body += chunk.toString()))
      request.on('end', () => {
        const action = /#(\w+)"/.exec(String(request.headers['soapaction']))?.[1]
        const port = /<NewExternalPort>(\d+)</.exec(body)?.[1] ?? ''
        asked.push(action === undefined ? `GET ${request.url}` : `${action} ${port}`)
        answer(request, response, body)
      })
    }).listen(0, LOOPBACK)
    ssdp = createSocket('udp4').bind(0, LOOPBACK)
    natPmp = createSocket('udp4').bind(0, LOOPBACK)
    await Promise.all([http, ssdp, natPmp].map((server) => once(server, 'listening')))
    location = `http://${LOOPBACK}:${portOf(http)}/description.xml`
    ssdp.on('message', (message, { port, address }) => {
      assert.match(message.toString(), /^M-SEARCH \* HTTP\/1\.1\r\n/)
      ssdp.send(`HTTP/1.1 200 OK\r\nST: x\r\nLocation: ${location}\r\n\r\n`, port, address)
    })
    natPmp.on('message', (request, { port, address }) => {
      const response = onNatPmp(request)
      if (response !== undefined) natPmp.send(response, port, address)
    })
    mapper = mapperWith()
  })
  afterEach(async () => {
    await mapper.stop()
    http.closeAllConnections()
    for (const server of [http, ssdp, natPmp]) server.close()
  })

  it('maps a port by UPnP, and removes it at the end', async () => {
    await mapper.start(4402)
    assert.deepEqual(mapper.mapped, { port: 4402, by: 'UPnP' })
    assert.deepEqual(told, ['The router forwards its TCP port 4402 to this node (UPnP).'])
    await mapper.stop()
    assert.deepEqual(asked, ['GET /description.xml', 'AddPortMapping 4402', 'DeletePortMapping 4402'])
    assert.equal(mapper.mapped, undefined)
  })

  it('takes another port of a router whose port is taken, and a mapping without end where it has no other', async () => {
    const codes = [718, 725]
    let last = ''
    const paths = new Set<string | undefined>()
    answer = (request, response, body) => {
      const base = `<URLBase>http://${LOOPBACK}:${portOf(http)}/base/</URLBase>`
      if (request.method === 'GET') response.end(base + description('c?a=1&amp;b=2'))
      else {
        const code = codes.shift()
        last = body
        paths.add(request.url)
        if (code === undefined) response.end('<ok/>')
        else response.writeHead(500).end(fault(code))
      }
    }
    await mapper.start(4402)
    assert.deepEqual(mapper.mapped, { port: 4403, by: 'UPnP' })
    assert.match(last, /<NewInternalPort>4402<\/NewInternalPort><NewInternalClient>127\.0\.0\.1<\/NewInternalClient>/)
    assert.match(last, /<NewLeaseDuration>0</)
    assert.deepEqual([...paths], ['/base/c?a=1&b=2'])
  })

  it('maps a port by NAT-PMP, though a request was lost, and removes it at the end', async () => {
    const requests: Buffer[] = []
    onNatPmp = (request) => {
      requests.push(request)
      if (requests.length === 1) return undefined
      return Buffer.concat([
        Buffer.from([0, 130, 0, 0, 0, 0, 0, 1]),
        request.subarray(4, 6),
        Buffer.from([0x23, 0x28, 0, 0, 0x0e, 0x10])
      ])
    }
    await mapper.start(4402)
    assert.deepEqual(mapper.mapped, { port: 9_000, by: 'NAT-PMP' })
    await mapper.stop()
    assert.equal(requests.at(-1)?.toString('hex'), '000200001132000000000000')
    assert.deepEqual(asked, [])
  })

  it('takes no port 0, and no short or foreign response of NAT-PMP', async () => {
    const responses = [
      [0, 130],
      [0, 130, 0, 0, 0, 0, 0, 1],
      [1, 130, 0, 0, 0, 0, 0, 1, 0x11, 0x32, 0x23, 0x28, 0, 0, 0x0e, 0x10],
      [0, 130, 0, 0, 0, 0, 0, 1, 0x11, 0x33, 0x23, 0x28, 0, 0, 0x0e, 0x10],
      [0, 130, 0, 0, 0, 0, 0, 1, 0x11, 0x32, 0, 0, 0, 0, 0x0e, 0x10]
    ]
    onNatPmp = () => Buffer.from(responses.shift() ?? [])
    location = 'http://192.0.2.1/'
    await nothingMapped()
  })

  it('renews the mapping, and says when the router has gone', async () => {
    const clock: ManualClock = manualClock()
    await mapper.stop()
    mapper = mapperWith({ clock })
    onNatPmp = (request) =>
      Buffer.concat([Buffer.from([0, 130, 0, 0, 0, 0, 0, 1]), request.subarray(4, 8), Buffer.from([0, 0, 0x0e, 0x10])])
    let seen = 0
    natPmp.on('message', () => seen++)
    await mapper.start(4402)
    assert.ok(mapper.mapped)
    await clock.advance(limits.PORT_MAPPING_CHECK_MS)
    await eventually('the renewal', 5_000, () => (seen === 2 ? true : undefined))
    onNatPmp = () => undefined
    location = 'http://192.0.2.1/'
    await eventually('the end', 15_000, async () => {
      await clock.advance(limits.PORT_MAPPING_CHECK_MS)
      return mapper.mapped === undefined ? true : undefined
    })
    assert.deepEqual(told.at(-1), 'No router forwards a port to this node any more.')
  })

  for (const [what, hostile] of Object.entries<() => void>({
    'a huge description': () => {
      answer = (_, response) => response.end('x'.repeat(limits.ROUTER_DOCUMENT_BYTES_MAX + 1))
    },
    'a redirect to another place': () => {
      answer = (_, response) => response.writeHead(302, { location: '/elsewhere' }).end()
    },
    'a description that names another host': () => {
      answer = (_, response) => response.end(description('http://localhost:1/control'))
    },
    'entities that expand': () => {
      const bomb = `<!DOCTYPE x [<!ENTITY a "/control"><!ENTITY b "&a;&a;">]>${description('&b;')}`
      answer = (request, response) => response.writeHead(request.method === 'GET' ? 200 : 500).end(bomb)
    },
    'a description without end': () => {
      answer = (_, response) => void response.write('<root>')
    },
    'a refusal': () => {
      answer = (request, response) =>
        request.method === 'GET' ? response.end(description('/control')) : response.writeHead(500).end(fault(606))
    }
  })) {
    it(`is not harmed by ${what}`, async () => {
      hostile()
      await nothingMapped()
      assert.ok(asked.length > 0 && !asked.includes('GET /elsewhere') && asked.length <= 2, asked.join())
    })
  }

  it('asks the next device where the first one is no router', async () => {
    answer = (request, response) => {
      if (request.url === '/printer.xml') response.end('<root/>')
      else if (request.method === 'GET') response.end(description('/control'))
      else response.end('<ok/>')
    }
    const printer = `http://${LOOPBACK}:${portOf(http)}/printer.xml`
    ssdp.prependListener('message', (_, { port, address }) => {
      ssdp.send(`HTTP/1.1 200 OK\r\nLOCATION: ${printer}\r\n\r\n`, port, address)
    })
    await mapper.start(4402)
    assert.deepEqual(asked, ['GET /printer.xml', 'GET /description.xml', 'AddPortMapping 4402'])
  })

  it('asks no device that names another host', async () => {
    location = `http://localhost:${portOf(http)}/description.xml`
    await nothingMapped()
    assert.deepEqual(asked, [])
  })
})
