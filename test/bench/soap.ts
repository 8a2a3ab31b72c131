import { XMLParser } from 'fast-xml-parser'
import { utf8 } from '../../lib/base/bytes.ts'
import { SOAP_STEPS_MAX } from '../../lib/base/limits/soap.ts'
import { Meter } from '../../protocols/pattern/meter.ts'
import { openService, planService } from '../../protocols/soap/service.ts'
import { translateReply, translateRequest } from '../../protocols/soap/translation.ts'
import { parseWsdlFiles } from '../../protocols/soap/wsdl/wsdl-files.ts'
import { parseXml } from '../../protocols/soap/xml/parse.ts'
import type { Origin } from './loopback.ts'
import { Player } from './player.ts'
import { measureLoads } from './soap-load.ts'
import { ORDER_WSDL, type SoapPeers, connectPeers, orderOf, withAttributes } from './soap-peers.ts'
import { median, quantile } from './statistics.ts'
import type { Ratio, Suite } from './suite.ts'

type Library = 'souk' | 'node-soap' | 'strong-soap' | 'fast-xml-parser'
type Work = () => unknown

const UPSTREAM = new URL('./roles/soap-upstream.ts', import.meta.url)
/** Orders of about this many bytes as XML. */
const ITEMS = { '1k': 4, '1m': 5_000 }
type Size = keyof typeof ITEMS
const ROUNDS = 7
const SLICE_MS = 150
const SMALL_TURNS = 8
const SMALL_TURN_MS = 750

/**
 * Building requests, reading responses, and whole calls to a service in another process, in CPU time of this process including
 * threads; and the latency of small calls during a large one.
 */
export const soap: Suite = {
  name: 'soap',
  async run({ say }) {
    const upstream = await Player.start<Origin>(UPSTREAM, { wsdl: ORDER_WSDL })
    try {
      const peers = await connectPeers(upstream.info.origin)
      const costs = new Map<string, Record<Library, number>>()
      for (const size of Object.keys(ITEMS) as Size[]) {
        for (const [what, works] of Object.entries(worksOf(peers, size))) {
          say(`${what} ${size}`)
          costs.set(`${what}_${size}`, await compare(works))
        }
      }
      say('a large WSDL')
      const loads = await measureLoads(UPSTREAM)
      say('small calls beside a large one')
      const small = await smallCalls(peers)
      await peers.close()
      return {
        ratios: [...ratiosOf(costs), ...loads.ratios, small.ratio],
        table: [
          ['CPU µs', ...LIBRARIES],
          ...[...costs].map(([name, by]) => [name, ...LIBRARIES.map((library) => shown(by[library]))])
        ],
        notes: [
          `WSDL of ${loads.megabytes.toFixed(1)} MB: ${loads.soukMs.toFixed(0)} ms to read it, describe it and open it, node-soap ${loads.nodeSoapMs.toFixed(0)} ms; again from its snapshot ${loads.reopenMs.toFixed(1)} ms.`,
          `${ROUNDS} rounds, medians; the service runs in a process of its own.`,
          `Small calls: p99 ${small.idleMs.toFixed(2)} ms idle, ${small.busyMs.toFixed(2)} ms while a megabyte is under way (${small.larges} of those).`
        ],
        details: { costs: Object.fromEntries(costs), loads, small }
      }
    } finally {
      await upstream.stop()
    }
  }
}

const LIBRARIES: readonly Library[] = ['souk', 'node-soap', 'strong-soap', 'fast-xml-parser']
const shown = (value: number) => (Number.isNaN(value) ? '-' : value.toFixed(1))

const parsed = (json: string) => JSON.parse(json) as object

/** Conversions from and to JSON text. strong-soap builds and reads only as a part of a call. */
function worksOf(peers: SoapPeers, size: Size): Record<string, Partial<Record<Library, Work>>> {
  const service = openService(planService(parseWsdlFiles([{ url: 'http://x.invalid/', text: ORDER_WSDL }])))
  const order = orderOf(ITEMS[size])
  const theirs = withAttributes(order, 'attributes')
  const strong = withAttributes(order, '$attributes')
  const json = JSON.stringify({ operation: 'order', ...order })
  const theirsJson = JSON.stringify(theirs)
  const body = utf8(json)
  const call = { bytes: body, type: undefined }
  const { document } = translateRequest(service, call, new Meter(SOAP_STEPS_MAX))
  const xml = Buffer.from(document)
  const text = xml.toString().replaceAll(/(<\/?\w+:)order\b/g, '$1orderResponse')
  const answer = utf8(text)
  const parser = new XMLParser({ preserveOrder: true, ignoreAttributes: false })
  const reply = { operation: 'order', status: 200, type: 'text/xml; charset=utf-8', bytes: answer }
  return {
    build: {
      souk: () => translateRequest(service, call, new Meter(SOAP_STEPS_MAX)),
      'node-soap': () =>
        utf8(peers.nodeSoap.wsdl.objectToDocumentXML('order', parsed(theirsJson), 't', 'urn:t', 'order'))
    },
    decode: {
      souk: () => translateReply(service, reply, new Meter(SOAP_STEPS_MAX)),
      'node-soap': () => utf8(JSON.stringify(peers.nodeSoap.wsdl.xmlToObject(Buffer.from(answer).toString())))
    },
    // Parses text into a tree. The library does less: it neither validates nor resolves namespaces.
    parse: {
      souk: () => parseXml(text),
      'fast-xml-parser': () => parser.parse(text) as unknown
    },
    roundtrip: {
      souk: () => peers.souk(body),
      'node-soap': () => peers.nodeSoap.orderAsync(theirs),
      'strong-soap': () => peers.strongSoap(strong)
    }
  }
}

/** CPU microseconds of each library, in alternating rounds, so that a slowdown affects all of them. */
async function compare(works: Partial<Record<Library, Work>>): Promise<Record<Library, number>> {
  const samples = new Map<Library, number[]>(LIBRARIES.map((library) => [library, []]))
  for (let round = 0; round <= ROUNDS; round++) {
    for (const [library, own] of samples) {
      const work = works[library]
      if (work === undefined) continue
      const us = await cpuUs(work)
      // The first round warms up the compiler.
      if (round > 0) own.push(us)
    }
  }
  return Object.fromEntries([...samples].map(([library, own]) => [library, median(own)])) as Record<Library, number>
}

async function cpuUs(work: Work): Promise<number> {
  const before = process.cpuUsage()
  const until = performance.now() + SLICE_MS
  let count = 0
  do {
    await work()
    count++
  } while (performance.now() < until)
  const { user, system } = process.cpuUsage(before)
  return (user + system) / count
}

function ratiosOf(costs: ReadonlyMap<string, Record<Library, number>>): Ratio[] {
  const aims: ReadonlyArray<readonly [name: string, aim: number, peer?: Library]> = [
    ['build_1k', 4],
    ['decode_1k', 1.5],
    ['roundtrip_1k', 2],
    ['roundtrip_1m', 2],
    ['build_1m', 4],
    ['decode_1m', 1.5],
    ['parse_1k', 1.5, 'fast-xml-parser'],
    ['parse_1m', 1.5, 'fast-xml-parser']
  ]
  return aims.map(([name, aim, peer = 'node-soap']) => {
    const cost = costs.get(name)
    return {
      name: `soap_${name}`,
      value: (cost?.[peer] ?? Number.NaN) / (cost?.souk ?? Number.NaN),
      better: 'higher',
      aim,
      of: `CPU of ${peer} ÷ ours`
    }
  })
}

/** Latencies of small calls alone, and during a large call, alternating, so that other load affects both. All of them count. */
async function smallCalls(peers: SoapPeers) {
  const small = utf8(JSON.stringify({ operation: 'order', ...orderOf(ITEMS['1k']) }))
  const large = utf8(JSON.stringify({ operation: 'order', ...orderOf(ITEMS['1m'] * 0.8) }))
  const idle: number[] = []
  const busy: number[] = []
  let larges = 0
  const callsInto = async (times: number[]) => {
    const until = performance.now() + SMALL_TURN_MS
    while (performance.now() < until) {
      const startedAt = performance.now()
      await peers.souk(small)
      times.push(performance.now() - startedAt)
    }
  }
  // The first calls of both warm up the compiler.
  for (let i = 0; i < ROUNDS; i++) await peers.souk(large)
  await callsInto([])
  for (let turn = 0; turn < SMALL_TURNS; turn++) {
    await callsInto(idle)
    const flight = { landed: false }
    const flying = (async () => {
      for (; !flight.landed; larges++) await peers.souk(large)
    })()
    await callsInto(busy)
    flight.landed = true
    await flying
  }
  const [idleMs, busyMs] = [idle, busy].map((times) =>
    quantile(
      times.toSorted((a, b) => a - b),
      0.99
    )
  ) as [number, number]
  const ratio: Ratio = {
    name: 'small_p99_during_1m',
    value: busyMs / idleMs,
    better: 'lower',
    aim: 2,
    of: 'p99 of small calls with 1 MB under way ÷ idle'
  }
  return { idleMs, busyMs, larges, ratio }
}
